"""Statements about trained models, measured on the two that are offline.

The theory is about one attention field on the sphere; a trained model is more than
that. Claims say what was found, also where the theory does not describe it. A model
that is not in the cache leaves its claims open: nothing is fetched here.
"""

from collections.abc import Callable

import numpy as np

from pushforward.errors import InputError
from pushforward.probe import Examination, fields
from pushforward.studies import Claim, at_least, at_most, open_claim
from pushforward.studies.trained_models.study import (
    MODELS,
    NAME,
    NORMS,
    PAPER,
    SPECTRA,
    Parameters,
    examination,
    model,
    tiny_collapse,
    tiny_training,
)

Measure = Callable[[str, Examination], Claim]


def _for(name: str, label: str, text: str, reference: str, measure: Measure):
    """A claim function for one model, open when the model is not there."""

    def claim(parameters: Parameters) -> Claim:
        try:
            found = examination(name, parameters)
        except InputError as error:
            return open_claim(NAME, text, reference, "experiment", str(error))
        return measure(text, found)

    claim.__name__ = f"{name}_{label}"
    claim.__doc__ = text
    return claim


def _weights_are_fields(name: str):
    text = f"{name}: trained weights as fields reproduce its attention updates"

    def measure(text: str, one: Examination) -> Claim:
        recording = one.recording
        assert recording.inputs is not None and recording.update is not None
        worst = 0.0
        for k in (0, recording.depth // 2, recording.depth - 1):
            layer = fields(model(name), k)
            push = np.asarray(layer.push(layer.attention, recording.inputs[k]))
            scale = np.abs(recording.update[k]).max()
            worst = max(worst, float(np.abs(push - recording.update[k]).max() / scale))
        note = "largest relative error in float32, three layers"
        return at_most(NAME, text, PAPER, "identity", worst, 1e-5, note)

    return _for(name, "weights_are_fields", text, PAPER, measure)


def _cosines_rise(name: str):
    text = f"{name}: cosines of tokens move toward one through the layers (figure 1)"

    def measure(text: str, one: Examination) -> Claim:
        cosines = one.table.mean_cosine
        note = f"mean cosine {cosines[0]:.3f} at first, {cosines[-1]:.3f} at the end"
        rise = float(cosines[-1] - cosines[0])
        return at_least(NAME, text, PAPER, "experiment", rise, 0.05, note)

    return _for(name, "cosines_rise", text, PAPER, measure)


def _no_collapse(name: str):
    text = f"{name}: but a trained model does not collapse: mean cosine below 0.9"

    def measure(text: str, one: Examination) -> Claim:
        found = float(one.table.mean_cosine.max())
        note = f"clusters at 0.6 rad: {one.table.clusters[:, 2].tolist()}"
        return at_most(NAME, text, PAPER, "experiment", found, 0.9, note)

    return _for(name, "no_collapse", text, PAPER, measure)


def _beta(name: str):
    text = f"{name}: effective beta of heads, |B|_F / sqrt(d), exceeds the beta seen"

    def measure(text: str, one: Examination) -> Claim:
        effective = float(np.median(one.effective_beta))
        seen = float(np.median(np.abs(np.asarray(one.seen_beta))))
        note = f"medians {effective:.1f} against |{seen:.2f}| seen on the text"
        return at_least(NAME, text, SPECTRA, "experiment", effective / seen, 2.0, note)

    return _for(name, "effective_beta", text, SPECTRA, measure)


def _good_triples(name: str):
    text = f"{name}: few heads meet the hypotheses of the hyperplane theorem"

    def measure(text: str, one: Examination) -> Claim:
        share = one.regimes["hyperplanes"] / one.regimes.total()
        note = f"heads by regime: {dict(one.regimes)}"
        return at_most(NAME, text, SPECTRA, "experiment", share, 0.5, note)

    return _for(name, "regimes", text, SPECTRA, measure)


def _plain(name: str):
    text = f"{name}: attention with V = step I explains little of a layer's motion"

    def measure(text: str, one: Examination) -> Claim:
        share = float(np.median(one.shares("plain")))
        own = float(np.median(one.own)) if one.own is not None else np.nan
        note = f"median share held out; the model's own attention: {own:.3f}"
        return at_most(NAME, text, PAPER, "experiment", share, 0.2, note)

    return _for(name, "plain_theory", text, PAPER, measure)


def _beyond_linear(name: str):
    text = f"{name}: one fitted attention field adds next to nothing to a linear map"

    def measure(text: str, one: Examination) -> Claim:
        linear, both = one.shares("linear"), one.shares("both")
        shuffled = one.shares("shuffled")
        note = (
            f"linear {np.round(linear, 3).tolist()}, with attention "
            f"{np.round(both, 3).tolist()}, shuffled {np.round(shuffled, 3).tolist()}"
        )
        gain = float(np.median(both - linear))
        return at_most(NAME, text, PAPER, "experiment", gain, 0.05, note)

    return _for(name, "beyond_linear", text, PAPER, measure)


def first_token_is_felt(parameters: Parameters) -> Claim:
    """The start of a prompt is felt more than its middle by the last token."""
    text = "smollm2: the last token feels the first tenth more than the middle"
    try:
        found = examination("smollm2", parameters).sensitivity
    except InputError as error:
        return open_claim(NAME, text, PAPER, "experiment", str(error))
    assert found is not None
    tenths = [float(np.median(part)) for part in np.array_split(found.share, 10)]
    middle = float(np.median(tenths[3:7]))
    note = f"medians by tenths {np.round(tenths, 2).tolist()}, by gradients"
    ratio = tenths[0] / middle
    return at_least(NAME, text, PAPER, "experiment", ratio, 1.0, note)


def post_norm_collapses(parameters: Parameters) -> Claim:
    """A deep random model with norms after sublayers collapses."""
    text = "random weights, norm after each sublayer: tokens collapse with depth"
    last = float(tiny_collapse(parameters)["post"][:, -1].min())
    note = f"least mean cosine after {parameters.tiny_depth} layers"
    return at_least(NAME, text, NORMS, "experiment", last, 0.99, note)


def pre_norm_delays(parameters: Parameters) -> Claim:
    """Norms before sublayers slow the collapse."""
    text = "random weights, norm before each sublayer: collapse is delayed"
    last = float(tiny_collapse(parameters)["pre"][:, -1].max())
    note = f"largest mean cosine after {parameters.tiny_depth} layers"
    return at_most(NAME, text, NORMS, "experiment", last, 0.95, note)


def tiny_model_learns(parameters: Parameters) -> Claim:
    """A tiny model learns to count its tokens in seconds."""
    text = "a tiny Transformer learns to count tokens, far above the best constant"
    try:
        found = tiny_training(parameters)
    except InputError as error:
        return open_claim(NAME, text, NORMS, "experiment", str(error))
    before, after = np.round(found["cosines"], 3).tolist()
    note = f"chance {float(found['chance']):.3f}; mean cosine {before} -> {after}"
    gain = float(found["accuracy"] - found["chance"])
    return at_least(NAME, text, NORMS, "experiment", gain, 0.2, note)


def albert_histograms(parameters: Parameters) -> Claim:
    """Figure 1 itself: ALBERT-XLarge at 24 and 48 layers."""
    text = "histograms of ALBERT-XLarge-v2 at depth 24 and, continued, at 48 (figure 1)"
    why = (
        "its weights are on the hub only, which is not fetched from here; with a local "
        "folder: `pushforward probe FOLDER --depth 48`"
    )
    return open_claim(NAME, text, PAPER, "experiment", why)


_PER_MODEL = (
    _weights_are_fields,
    _cosines_rise,
    _no_collapse,
    _beta,
    _good_triples,
    _plain,
    _beyond_linear,
)
CLAIMS = (
    *(make(name) for name in MODELS for make in _PER_MODEL),
    first_token_is_felt,
    post_norm_collapses,
    pre_norm_delays,
    tiny_model_learns,
    albert_histograms,
)
