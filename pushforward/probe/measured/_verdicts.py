"""What the theory says about one model: a number, a baseline, an uncertainty, a word.

Where a hypothesis of the theory is not met, the word is "does not apply".
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from pushforward.measures import Particles
from pushforward.observables import Centers
from pushforward.probe.measured._collapse import (
    growth_exponent,
    mean_of_cosines,
    received_attention,
)
from pushforward.probe.measured._heads import critical_beta, seen_beta
from pushforward.probe.measured._heads import what_attention_reads as what_is_read
from pushforward.probe.measured._moves import RADIUS
from pushforward.probe.measured._random_heads import MOST as RANDOM_TOKENS
from pushforward.probe.measured._random_heads import random_heads
from pushforward.spaces import Sphere
from pushforward.theory import random_keys
from pushforward.theory.ordered.kinetic import retrieval

if TYPE_CHECKING:
    from pushforward.probe._examination import Examination

NEAR = 0.1  # 1 - cosine up to which the law of near keys is trusted
_NOT = "does not apply: "
FAR = 3.0  # standard errors that count as a difference


@dataclasses.dataclass(frozen=True)
class Verdict:
    """One statement of the theory against one model.

    `found` +- `error` is the measured number, `baseline` what chance gives in its
    place; `word` is what follows. All three are None where it does not apply.
    """

    question: str
    theory: str
    word: str
    found: float | None = None
    error: float | None = None
    baseline: float | None = None
    unit: str = ""

    @property
    def applies(self) -> bool:
        """Whether the hypotheses are met and the numbers are known."""
        return self.found is not None

    @property
    def reason(self) -> str:
        """Why it does not apply."""
        return self.word.removeprefix(_NOT)


def verdicts(one: Examination, scheme: str | None = None) -> tuple[Verdict, ...]:
    """Every statement that is tested, for one examination.

    `scheme` says where the norms sit, as `About.scheme` does.
    """
    return (
        _scaling(one),
        _attracting(one),
        _leading(one),
        _growth(one, scheme),
        _speed(one, scheme),
        _random(one, scheme),
        _sink(one),
        _centers(one),
        _middle(one),
        _few_keys(one),
    )


def _missing(question: str, theory: str, why: str) -> Verdict:
    return Verdict(question, theory, f"{_NOT}{why}")


def _scaling(one: Examination) -> Verdict:
    """Which heads have beta below log n / (1 - rho), where one layer averages."""
    question = "heads on the averaging side of the critical scaling"
    theory = "below β = log n / (1 − mean cosine) one layer averages all tokens"
    recording = one.recording
    if recording.attention is None or one.seen_beta is None:
        return _missing(question, theory, "attention is not known")
    critical = critical_beta(recording)[:, None]
    below = lambda beta: float(np.mean(beta < critical))  # noqa: E731
    found = below(one.seen_beta)
    halves = [below(seen_beta(recording, slice(k, None, 2))) for k in range(2)]
    order = np.random.default_rng(0).permutation(recording.hidden.shape[1])
    shuffled = below(seen_beta(recording, order=order))
    word = (
        f"median β seen is {np.median(one.seen_beta):.1f}, the critical one "
        f"{np.median(critical):.1f}: in the theory's terms most heads "
        + ("average" if found > 0.5 else "choose")
    )
    error = abs(halves[0] - halves[1]) / 2
    return Verdict(question, theory, word, found, error, shuffled, "%")


def _few_keys(one: Examination) -> Verdict:
    """Which heads see few keys: beta above n^{2/(d-1)}, for random keys in R^d."""
    question = "heads whose attention goes to few keys"
    theory = "uniform keys: above β = n^{2/(d−1)} few share it, in random parts"
    recording = one.recording
    if one.seen_beta is None:
        return _missing(question, theory, "attention is not known")
    n, d = recording.hidden.shape[1:]
    # 1 - cosine to the nearest of n random keys
    nearest = (n * random_keys.cap_constant(d)) ** (-2 / (d - 1))
    if nearest > NEAR:
        why = f"in d = {d} the nearest of {n} random keys is at a cosine of about "
        return _missing(question, theory, f"{why}{1 - min(nearest, 1.0):.2f}, not 1")
    critical = random_keys.critical_beta(n, d)
    found = float((one.seen_beta > critical).mean())
    error = float(np.sqrt(found * (1 - found) / one.seen_beta.size))
    word = f"median β seen is {np.median(one.seen_beta):.1f}, the critical one "
    return Verdict(question, theory, f"{word}{critical:.1f}", found, error, None, "%")


def _attracting(one: Examination) -> Verdict:
    """tr(O V) in deviations of that of a random rotation of it."""
    question = "heads whose V attracts, less those whose V repels"
    theory = (
        "V = I gathers tokens, V = −I spreads them; a rotation at random does neither"
    )
    if one.spectra is None:
        return _missing(question, theory, "weights are not known")
    pulls = np.array([head.pull for layer in one.spectra for head in layer])
    found = float(np.mean(pulls > FAR) - np.mean(pulls < -FAR))
    error = float(np.sqrt(np.mean(np.abs(pulls) > FAR) / len(pulls)))
    word = (
        f"{int((pulls > FAR).sum())} of {len(pulls)} heads attract and "
        f"{int((pulls < -FAR).sum())} repel beyond {FAR:.0f} standard deviations"
    )
    return Verdict(question, theory, word, found, error, 0.0, "%")


def _leading(one: Examination) -> Verdict:
    question = "heads whose leading eigenvalue of V has positive real part"
    theory = "then tokens of one head repeated align with its eigenvector"
    if one.spectra is None:
        return _missing(question, theory, "weights are not known")
    leading = np.array([head.V[0].real > 0 for layer in one.spectra for head in layer])
    found, error = float(leading.mean()), float(0.5 / np.sqrt(len(leading)))
    word = "more than chance" if found > 0.5 else "less than chance"
    word = word if abs(found - 0.5) > FAR * error else "no more than chance"
    return Verdict(question, theory, word, found, error, 0.5, "%")


def _second_half(one: Examination, scheme: str | None, after: str):
    """The second half of the layers of a model with norms before; or why not."""
    count = len(one.table.norm)
    layers = np.arange(count)[max(2, count // 2) :]
    if scheme is None:
        return layers, "where the norms sit is not known"
    if scheme == "post-norm":
        return layers, after
    return layers, "fewer than four layers in the second half" * (len(layers) < 4)


def _growth(one: Examination, scheme: str | None) -> Verdict:
    """The exponent p of |x| ~ layer^p over the second half of the layers."""
    question = "how the length of tokens grows with depth, |x| ~ layer^p"
    theory = "norms before a sublayer: p = 1 once tokens agree; independent pushes: 1/2"
    layers, why = _second_half(one, scheme, "norms after each sublayer set the length")
    if why:
        return _missing(question, theory, why)
    slope, error = growth_exponent(layers, one.table.norm[layers])
    nearer = "the theory's 1" if abs(slope - 1) < abs(slope - 0.5) else "chance"
    word = f"nearer to {nearer}" if 0 < slope < 2 else "neither: faster than both"
    if slope <= 0:
        word = "neither: lengths do not grow"
    return Verdict(question, theory, word, float(slope), error, 0.5)


def _speed(one: Examination, scheme: str | None) -> Verdict:
    """The exponent p of 1 - mean cosine ~ layer^-p over the second half."""
    question = "how fast tokens agree with depth, 1 − mean cosine ~ layer^−p"
    theory = "norms before a sublayer: p = 2 once tokens agree"
    after = "norms after each sublayer give exp(−2t), and a layer has no known t"
    layers, why = _second_half(one, scheme, after)
    if why:
        return _missing(question, theory, why)
    gap = np.maximum(1 - one.table.mean_cosine, 1e-12)
    slope, error = growth_exponent(layers, gap[layers])
    if slope > -FAR * error:
        return _missing(question, theory, "tokens come no closer in the second half")
    word = "as fast as the theory says" if abs(slope + 2) < FAR * error else "slower"
    word = "faster" if slope < -2 - FAR * error else word
    return Verdict(question, theory, word, -slope, error, 0.0)


def _random(one: Examination, scheme: str | None) -> Verdict:
    """Whether the heads gather tokens more than random ones of their size."""
    question = "mean cosine after the last layer, against heads drawn at random"
    theory = "random heads gather tokens as one equation for the Gram matrix says"
    if one.spectra is None or scheme is None:
        return _missing(question, theory, "weights are not known")
    if scheme not in ("pre-norm", "post-norm"):
        return _missing(question, theory, "norms inside sublayers hide their size")
    drawn = random_heads(one.recording, one.spectra, after=scheme == "post-norm")
    x = one.recording.hidden[-1][:RANDOM_TOKENS].astype(float)
    halves = [mean_of_cosines(x[k::2]) for k in range(2)]
    found, error = float(mean_of_cosines(x)), float(abs(halves[0] - halves[1]) / 2)
    chance = float(drawn.found.mean())
    spread = float(np.ptp(drawn.found) + np.ptp(drawn.predicted)) / 2
    word = (
        f"random attention alone would end at {chance:.2f}, where the theory says "
        f"{drawn.predicted.mean():.2f} ± {spread:.2f}; the trained model gathers "
        + ("more" if found > chance else "less")
    )
    return Verdict(question, theory, word, found, error, chance)


def _centers(one: Examination) -> Verdict:
    """Attention that centers get, over what the token beside them gets."""
    question = "attention paid to centers, over that paid to the token beside them"
    theory = (
        "causal: a token far from all before it is a center, and later ones gather "
        "around it"
    )
    recording = one.recording
    if recording.attention is None:
        return _missing(question, theory, "attention is not known")
    if not recording.causal:
        return _missing(question, theory, "every token sees every other")
    n = recording.attention.shape[-1]
    read = what_is_read(recording)
    chosen = np.unique(np.linspace(0, recording.depth - 1, 8).round().astype(int))
    logs: list[float] = []
    for k in chosen:
        kept = Centers(RADIUS)(Particles(Sphere(read.shape[2]), read[k])).kept
        center = np.isin(np.arange(n), kept)
        got = received_attention(recording.attention[k])
        inside = np.arange(1, n - 2)  # the first token is a sink, the last unseen
        others = inside[~center[inside]]
        for i in inside[center[inside]] if len(others) else ():
            beside = others[np.argmin(np.abs(others - i))]
            logs.append(float(np.log(got[i] / got[beside])))
    if len(logs) < 8:
        why = "nearly all tokens are centers, or nearly none"
        return _missing(question, theory, why)
    mean, error = np.mean(logs), np.std(logs, ddof=1) / np.sqrt(len(logs))
    found = float(np.exp(mean))
    word = "no more than their neighbors"
    if abs(mean) > FAR * error:
        word = "centers lead" if mean > 0 else "centers get less than their neighbors"
    return Verdict(question, theory, word, found, float(found * error), 1.0)


def _sink(one: Examination) -> Verdict:
    question = "attention that goes to the first token"
    theory = "causal: the first token never moves and the others gather around it"
    recording = one.recording
    if recording.attention is None or one.heads is None:
        return _missing(question, theory, "attention is not known")
    if not recording.causal:
        return _missing(question, theory, "every token sees every other")
    first = one.heads.first
    n = recording.attention.shape[-1]
    uniform = float(np.mean(1 / np.arange(2, n + 1)))
    error = float(first.std(ddof=1) / np.sqrt(first.size)) if first.size > 1 else 0.0
    far = first.mean() - uniform > FAR * error
    word = "a leader, and attention sink" if far else "no more than its share"
    return Verdict(question, theory, word, float(first.mean()), error, uniform, "%")


def _middle(one: Examination) -> Verdict:
    """Correlation of log sensitivity with that of the kinetic theory."""
    question = (
        "correlation of what the last token feels with the kinetic theory's curve"
    )
    theory = "causal: early and late positions are felt more than the middle"
    if one.sensitivity is None:
        return _missing(question, theory, "gradients were not computed")
    if not one.recording.causal:
        return _missing(question, theory, "every token sees every other")
    inside = np.clip(one.sensitivity.positions, 0.01, 0.99)
    curve = np.log(np.asarray(retrieval(inside, 1.2, 1.0, 1.0)))
    values = np.log(np.maximum(one.sensitivity.share, 1e-300))
    n = len(values)
    if n < 8:
        return _missing(question, theory, "fewer than eight tokens")
    found = float(np.corrcoef(curve, values)[0, 1])
    error = float(1 / np.sqrt(n - 1))  # of a shuffle of positions
    word = "not more than by chance"
    if found > FAR * error:
        word = f"more than by chance, and {found**2:.0%} of how much they are felt"
    return Verdict(question, theory, word, found, error, 0.0)
