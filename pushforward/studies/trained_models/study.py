"""Parameters of the study of trained models, and the examinations it rests on."""

from dataclasses import dataclass
from functools import lru_cache

import jax
import numpy as np

from pushforward._seeds import key_for
from pushforward.probe import (
    SAMPLE,
    Examination,
    Model,
    Recording,
    Rms,
    counting_text,
    examine,
    load_model,
    model_folder,
    run,
    tiny_post_norm,
    tiny_pre_norm,
    train_tiny,
)
from pushforward.studies import AbstractParameters

NAME = "trained_models"
TITLE = "Trained Transformers: what they do to their tokens, against the theory"
PAPER = "geshkovski2023perspective"
NO_RUNS = "No runs: trained networks are examined layer by layer as they are."
SPECTRA = "geshkovski2023clusters"
NORMS = "karagodin2025normalization"
MODELS = ("minilm", "smollm2")


@dataclass(frozen=True)
class Parameters(AbstractParameters):
    """How much of the page is read and how much is fitted."""

    paragraphs: int = 1
    most_fitted: int = 2
    probes: int = 2
    felt: tuple[str, ...] = ("smollm2",)
    tiny_depth: int = 24
    tiny_steps: int = 250
    tiny_width: int = 32
    tiny_draws: int = 1
    seed: int = 0

    @classmethod
    def full(cls) -> "Parameters":
        """The whole page, every layer."""
        return cls(
            paragraphs=4,
            most_fitted=30,
            probes=8,
            felt=MODELS,
            tiny_steps=400,
            tiny_draws=8,
        )

    @property
    def text(self) -> str:
        """The beginning of the sample page."""
        return "\n\n".join(SAMPLE.split("\n\n")[: self.paragraphs])


@lru_cache(maxsize=2)
def model(name: str) -> Model:
    """A model of the catalogue; `InputError` says how to get one that is not here."""
    model_folder(name)
    return load_model(name)


@lru_cache(maxsize=4)
def examination(name: str, parameters: Parameters) -> Examination:
    """The examination of one model on the text of the study."""
    return examine(
        model(name),
        parameters.text,
        most_fitted=parameters.most_fitted,
        probes=parameters.probes if name in parameters.felt else 0,
        seed=parameters.seed,
    )


def _mean_cosines(recording: Recording) -> np.ndarray:
    """The mean cosine of each layer, on the host: many small arrays."""
    x = Rms().points(recording.hidden, None)
    n = x.shape[1]
    return ((x.sum(axis=1) ** 2).sum(axis=1) - n) / (n * (n - 1))


@lru_cache(maxsize=2)
def tiny_collapse(parameters: Parameters) -> dict[str, np.ndarray]:
    """Mean cosine by layer of random deep models, before and after norm."""
    curves: dict[str, list[np.ndarray]] = {"post": [], "pre": []}
    for draw in range(parameters.tiny_draws):
        text = counting_text(key_for(parameters.seed, f"tiny text {draw}"))
        key = key_for(parameters.seed, f"tiny {draw}")
        for name, make in (("post", tiny_post_norm), ("pre", tiny_pre_norm)):
            made = make(parameters.tiny_depth, key=key)
            curves[name].append(_mean_cosines(run(Model(made, None), text)))
    return {name: np.stack(values) for name, values in curves.items()}


@lru_cache(maxsize=2)
def tiny_training(parameters: Parameters) -> dict[str, np.ndarray]:
    """Accuracy, chance and mean cosine by layer before and after training."""
    key = key_for(parameters.seed, "tiny training")
    start = tiny_post_norm(1, parameters.tiny_width, key=jax.random.fold_in(key, 0))
    found = train_tiny(start, parameters.tiny_steps, key=jax.random.fold_in(key, 1))
    text = counting_text(jax.random.fold_in(key, 2))
    cosines = [
        _mean_cosines(run(one, text)) for one in (Model(start, None), found.model)
    ]
    return {
        "accuracy": np.array(found.accuracy),
        "chance": np.array(found.chance),
        "cosines": np.stack(cosines),
    }
