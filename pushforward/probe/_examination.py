"""Everything there is to see of one model on one text, in one object."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float

from pushforward._seeds import key_for
from pushforward.probe._fit import SHARES, Fit, fit, own_attention
from pushforward.probe._heads import (
    HeadSpectra,
    HeadTable,
    head_spectra,
    head_table,
    seen_beta,
)
from pushforward.probe._layers import LayerTable, layer_table
from pushforward.probe._loading import Model
from pushforward.probe._normalization import AbstractNormalization, Centered, Rms
from pushforward.probe._recording import Recording, run
from pushforward.probe._sensitivity import Sensitivity, sensitivity

Progress = Callable[[str], object]


@dataclasses.dataclass(frozen=True)
class Examination:
    """A recording and what was measured on it.

    `table` holds the observables under the chosen normalization and `centered` those
    after the mean token is removed. What only weights tell is None for hidden states
    from a file.
    """

    recording: Recording
    normalization: AbstractNormalization
    table: LayerTable
    centered: LayerTable
    fit: Fit
    heads: HeadTable | None = None
    seen_beta: Float[np.ndarray, "l h"] | None = None
    spectra: tuple[tuple[HeadSpectra, ...], ...] | None = None
    own: Float[np.ndarray, "l"] | None = None
    sensitivity: Sensitivity | None = None

    @property
    def effective_beta(self) -> Float[np.ndarray, "l h"]:
        """|B|_F / sqrt(d) of every head."""
        return np.array([[h.beta for h in layer] for layer in self.spectra or ()])

    @property
    def regimes(self) -> Counter:
        """How many heads fall in each row of the table of limits."""
        return Counter(h.regime for layer in self.spectra or () for h in layer)

    def summary(self) -> dict[str, Any]:
        """The numbers, as plain values for JSON."""
        found: dict[str, Any] = {
            "model": self.recording.name,
            "tokens": len(self.recording.tokens),
            "layers": self.recording.depth,
            "d": int(self.recording.hidden.shape[2]),
            "causal": self.recording.causal,
            "table": self.table.as_dict(),
            "centered": self.centered.as_dict(),
            "fit": {
                "layers": list(self.fit.indices),
                "beta": self.fit.betas.tolist(),
                **{name: self.fit.shares(name).tolist() for name in SHARES},
            },
        }
        if self.heads is not None and self.own is not None:
            heads = dataclasses.asdict(self.heads)
            found["heads"] = {name: value.tolist() for name, value in heads.items()}
            found["heads"]["effective_beta"] = self.effective_beta.tolist()
            found["heads"]["seen_beta"] = np.asarray(self.seen_beta).tolist()
            found["regimes"] = dict(self.regimes)
            found["own_attention"] = self.own.tolist()
        if self.sensitivity is not None:
            found["sensitivity"] = self.sensitivity.share.tolist()
        return found


def examine(
    model: Model | Recording,
    text: Any = None,
    *,
    normalization: AbstractNormalization = Rms(),
    depth: int | None = None,
    most_fitted: int = 8,
    probes: int = 4,
    seed: int = 0,
    tell: Progress = lambda line: None,
) -> Examination:
    """Run a model on a text and measure what it did to its tokens.

    At most `most_fitted` layers, evenly spread, are fitted by the theory. `probes` are
    backward passes for the sensitivity; zero leaves it out. A `Recording` of hidden
    states stands for a model and its text. `tell` is called with one line per stage.
    """
    if isinstance(model, Recording):
        recording = model
    else:
        tell(f"{model.name}: running the model")
        recording = run(model, text, depth=depth)
    trajectory = recording.trajectory(normalization)
    tell(f"{recording.name}: fitting the theory, layer by layer")
    on_sphere = normalization if normalization.on_sphere else Rms()
    fitted = fit(
        recording.trajectory(on_sphere),
        key=key_for(seed, "fit"),
        causal=bool(recording.causal),
        layers=evenly(recording.depth, most_fitted),
    )
    tell(f"{recording.name}: observables of {recording.depth + 1} frames")
    beta = float(np.median(fitted.betas))
    found = Examination(
        recording=recording,
        normalization=normalization,
        table=layer_table(trajectory, beta=beta),
        centered=layer_table(recording.trajectory(Centered()), beta=beta),
        fit=fitted,
    )
    if isinstance(model, Recording):
        return found
    return _with_weights(found, model, depth, probes, seed, tell)


def _with_weights(
    found: Examination, model: Model, depth, probes: int, seed: int, tell: Progress
) -> Examination:
    """What only the weights tell: heads, spectra, attention's own share, gradients."""
    recording = found.recording
    tell(f"{recording.name}: heads and their spectra")
    layers = range(min(recording.depth, model.transformer.depth))
    spectra = tuple(tuple(head_spectra(model, recording, k)) for k in layers)
    curve = None
    if probes:
        tell(f"{recording.name}: gradients of the last token")
        key = key_for(seed, "sensitivity")
        ids = recording.tokens.ids
        curve = sensitivity(model, ids, key=key, probes=probes, depth=depth)
    return dataclasses.replace(
        found,
        heads=head_table(recording),
        seen_beta=seen_beta(recording),
        spectra=spectra,
        own=own_attention(recording),
        sensitivity=curve,
    )


def evenly(count: int, most: int) -> tuple[int, ...]:
    """At most so many of 0 ... count - 1, first and last among them, evenly spread."""
    chosen = np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))
    return tuple(int(k) for k in chosen)
