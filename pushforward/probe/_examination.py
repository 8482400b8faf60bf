"""Everything there is to see of one model on one text, in one object."""

from __future__ import annotations

import contextlib
import dataclasses
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from pushforward._checks import whole
from pushforward._seeds import key_for
from pushforward._threads import one_thread
from pushforward.errors import InputError
from pushforward.flows import Trajectory
from pushforward.probe._recording import Recording, load_any, run
from pushforward.probe.measured._collapse import collapse, token_classes
from pushforward.probe.measured._fit import FEWEST, SHARES, Fit, fit, own_attention
from pushforward.probe.measured._heads import (
    HeadSpectra,
    HeadTable,
    critical_beta,
    head_spectra,
    head_table,
    seen_beta,
)
from pushforward.probe.measured._layers import (
    LayerTable,
    Sensitivity,
    layer_table,
    sensitivity,
)
from pushforward.probe.measured._moves import MotionSummary, motion_summary
from pushforward.probe.measured._normalization import (
    AbstractNormalization,
    Centered,
    Rms,
)
from pushforward.probe.measured._verdicts import Verdict, verdicts
from pushforward.probe.models._loading import Model
from pushforward.probe.models._torch import is_torch
from pushforward.spaces import Sphere

Progress = Callable[[str], object]


@dataclasses.dataclass(frozen=True, repr=False)
class Examination:
    """A recording and what was measured on it.

    `table` holds the observables under the chosen normalization and `centered` those
    after the mean token is removed. What is not known is None: what only weights tell
    for hidden states from a file, the fit for a text that is too short for it.
    """

    recording: Recording
    normalization: AbstractNormalization
    table: LayerTable
    centered: LayerTable
    fit: Fit | None = None
    heads: HeadTable | None = None
    seen_beta: Float[np.ndarray, "l h"] | None = None
    spectra: tuple[tuple[HeadSpectra, ...], ...] | None = None
    own: Float[np.ndarray, "l"] | None = None
    sensitivity: Sensitivity | None = None
    motion: MotionSummary | None = None
    verdicts: tuple[Verdict, ...] = ()

    def __repr__(self) -> str:
        parts = ("fit", "heads", "spectra", "own", "sensitivity", "motion")
        known = [name for name in parts if getattr(self, name) is not None]
        return f"Examination({self.recording!r}: {', '.join(['table', *known])})"

    def trajectory(self) -> Trajectory:
        """The recording, with who pulled each token where that is known.

        `observed["pull_source"]` and `observed["pull_share"]` at a layer belong to the
        motion that leaves it; the explorer draws them as arrows.
        """
        found = self.recording.trajectory(self.normalization)
        if self.motion is None:
            return found
        still = len(found) - len(self.motion.pulls)
        pad = ((0, still), (0, 0), (0, 0))  # nothing leaves the last layer
        pulls = {
            "pull_source": np.pad(self.motion.sources.astype(float), pad),
            "pull_share": np.pad(self.motion.pulls.astype(float), pad),
        }
        observed: Any = {**found.observed, **pulls}
        return dataclasses.replace(found, observed=observed)

    @property
    def averages(self) -> Bool[np.ndarray, "l h"] | None:
        """Which heads are on the averaging side: beta seen below the critical one."""
        if self.seen_beta is None:
            return None
        return self.seen_beta < self.critical_beta[:, None]

    @property
    def effective_beta(self) -> Float[np.ndarray, "l h"]:
        """|B|_F / sqrt(d) of every head."""
        return np.array([[h.beta for h in layer] for layer in self.spectra or ()])

    @property
    def critical_beta(self) -> Float[np.ndarray, "l"]:
        """log n / (1 - rho) of every layer: heads below it average, others choose."""
        return critical_beta(self.recording)

    @property
    def fitted(self) -> tuple[int, ...]:
        """The layers that were fitted, counted from 0."""
        return () if self.fit is None else self.fit.indices

    def shares(self, name: str) -> Float[np.ndarray, "l"]:
        """One of SHARES for every fitted layer; empty where nothing was fitted."""
        return np.zeros(0) if self.fit is None else self.fit.shares(name)

    @property
    def regimes(self) -> Counter:
        """How many heads fall in each row of the table of limits."""
        return Counter(h.regime for layer in self.spectra or () for h in layer)

    def summary(self) -> dict[str, Any]:
        """The numbers, as plain values for JSON."""
        classes = token_classes(self.recording)
        found: dict[str, Any] = {
            "model": self.recording.name,
            "tokens": len(self.recording.tokens),
            "layers": self.recording.depth,
            "d": self.recording.hidden.shape[2],
            "causal": self.recording.causal,
            "table": self.table,
            "centered": self.centered,
            "own_attention": self.own,
            "theory": self.verdicts,
            "collapse": collapse(self.recording, classes).by_class(),
            "sensitivity": self.sensitivity and self.sensitivity.share,
        }
        if self.fit is not None:
            shares = {name: self.fit.shares(name) for name in SHARES}
            fitted = {"layers": self.fit.indices, "beta": self.fit.betas}
            found["fit"] = {**fitted, **shares}
        if self.heads is not None:
            found["heads"] = {
                **vars(self.heads),
                "seen_beta": self.seen_beta,
                "critical_beta": self.critical_beta,
                "averages": self.averages,
            }
        if self.spectra is not None:
            heads = found.setdefault("heads", {})
            heads["effective_beta"] = self.effective_beta
            found["regimes"] = self.regimes
        if self.motion is not None:
            names = ("attention", "perceptron", "norms", "moves")
            found["motion"] = {name: getattr(self.motion, name) for name in names}
        return _plain({k: value for k, value in found.items() if value is not None})


def _plain(value: Any) -> Any:
    """Numbers, words, lists and dictionaries, whatever they were kept in."""
    if dataclasses.is_dataclass(value):
        return _plain(vars(value))
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


@one_thread()
def examine(
    model: Any,
    text: Any = None,
    *,
    normalization: AbstractNormalization = Rms(),
    depth: int | None = None,
    most_fitted: int = 8,
    probes: int = 4,
    seed: int = 0,
    tokenizer: Any = None,
    tell: Progress = lambda line: None,
) -> Examination:
    """Run a model on a text and measure what it did to its tokens.

    At most `most_fitted` layers, evenly spread, are fitted by the theory. `probes` are
    backward passes for the sensitivity; zero leaves it out. A `Recording` of hidden
    states stands for a model and its text. `tell` is called with one line per stage.
    """
    seed = whole("seed", seed, 0)
    most_fitted = whole("most_fitted", most_fitted, 1, "It is a number of layers.")
    weights: Model | None = None
    if isinstance(model, Recording):
        recording = model
    else:
        model = model if is_torch(model) else load_any(model)
        tell(f"{getattr(model, 'name', 'model')}: running the model")
        recording = run(model, text, depth=depth, tokenizer=tokenizer)
        with contextlib.suppress(InputError):  # an object may run without that
            weights = load_any(model)
    say = lambda line: tell(f"{recording.name}: {line}")  # noqa: E731
    trajectory = recording.trajectory(normalization)
    fitted = _fitted(recording, trajectory, most_fitted, seed, say)
    say(f"observables of {recording.depth + 1} frames")
    beta = 1.0 if fitted is None else float(np.median(fitted.betas))
    centered = layer_table(recording.trajectory(Centered()), beta=beta)
    known: dict[str, Any] = {"fit": fitted}
    if recording.attention is not None:
        say("heads")
        known["heads"] = head_table(recording)
        known["seen_beta"] = seen_beta(recording)
    elif weights is not None:
        say("attention of so long a text is not kept, nor what heads do seen")
    if recording.update is not None:
        known["own"] = own_attention(recording)
    if weights is not None:
        known |= _with_weights(recording, weights, probes, seed, say)
    table = layer_table(trajectory, beta=beta)
    found = Examination(recording, normalization, table, centered, **known)
    scheme = None if weights is None else weights.transformer.about.scheme
    return dataclasses.replace(found, verdicts=verdicts(found, scheme))


def _fitted(
    recording: Recording, trajectory: Trajectory, most: int, seed: int, say: Progress
) -> Fit | None:
    """The theory's layers, with a line of progress for each; None for a short text."""
    n = recording.hidden.shape[1]
    if n < FEWEST:
        say(f"{n} tokens, too few to fit (at least {FEWEST})")
        return None
    on_sphere = isinstance(trajectory.final.space, Sphere)
    return fit(
        trajectory if on_sphere else recording.trajectory(),
        key=key_for(seed, "fit"),
        causal=bool(recording.causal),
        layers=evenly(recording.depth, most),
        progress=lambda k, all_: say(f"fitting the theory, layer {k} of {all_}"),
    )


def _with_weights(
    recording: Recording, model: Model, probes: int, seed: int, say: Progress
) -> dict[str, Any]:
    """What only the weights tell: spectra of heads, gradients, who moved whom."""

    def felt() -> Sensitivity | None:
        if not probes or recording.tokens.image:
            return None
        key = key_for(seed, "sensitivity")
        return sensitivity(model, recording, key=key, probes=probes)

    # The gradients compile while the rest computes: half of a sentence's time.
    with ThreadPoolExecutor(1) as beside:
        say("gradients of the last token, and spectra of the heads")
        curve = beside.submit(felt)
        layers = range(min(recording.depth, model.transformer.depth))
        spectra = tuple(tuple(head_spectra(model, recording, k)) for k in layers)
        say("who moved which token")
        motion = motion_summary(model, recording)
        return {"spectra": spectra, "motion": motion, "sensitivity": curve.result()}


def evenly(count: int, most: int) -> tuple[int, ...]:
    """At most so many of 0 ... count - 1, first and last among them, evenly spread."""
    chosen = np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))
    return tuple(int(k) for k in chosen)
