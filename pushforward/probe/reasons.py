"""The words of the page on why tokens moved, and what the theory says of a model."""

import html
import re

import numpy as np

from pushforward.probe import Examination, Move, Verdict
from pushforward.probe.sentences import percent


def moves(one: Examination) -> str:
    """Who moved the tokens, and the most telling moves in words."""
    assert one.motion is not None
    shares = [np.median(part) for part in one.motion.parts]
    said = ", ".join(
        f"{part} {percent(share)}" for part, share in zip(PARTS, shares, strict=True)
    )
    told = "".join(f"<li>{_told(move, one)}</li>" for move in one.motion.moves)
    return (
        "<p>In every layer the motion of a token is exactly the sum of what each head "
        "of attention brought from each token, what the perceptron added, and what "
        "norms did after adding. A <i>share</i> is the part of that sum along the "
        "motion itself, so that the shares of a token sum to 100 %; a negative one "
        f"held the token back. Medians over tokens and layers: {said}.</p>"
        "<p>The moves that one other token explains best (angle turned times share of "
        "the strongest pull). A token's <i>cluster</i> are the tokens within chains of "
        "0.6 radians of it; a pull is along it when it points toward the rest, "
        "against it when away, and across it when neither.</p>"
        f"<ol>{told}</ol>"
    )


PARTS = ("attention", "perceptron", "norms")


def _told(move: Move, one: Examination) -> str:
    token, source = (_shown(one, i) for i in (move.token, move.source))
    if move.along is None:
        place = "the turned token stood alone"
    else:
        sense = "along" if move.along > 0 else "against"
        sense = sense if abs(move.along) > 0.05 else "across"
        cosine = f"{move.along:.2f}".replace("-", "−")
        place = f"{sense} its cluster (cosine {cosine})"
    rest = "" if abs(move.norms) < 0.005 else f", norms {percent(move.norms)}"
    return (
        f"Layer {move.layer + 1} turned {token} by {move.angle:.0f}°: attention "
        f"{percent(move.attention)}, perceptron {percent(move.perceptron)}{rest}. Head "
        f"{move.head + 1} alone brought {percent(move.pull)} from {source}; {place}."
    )


def _shown(one: Examination, i: int) -> str:
    string = one.recording.tokens.strings[i].strip() or "␣"
    return f"<span class='token'>{html.escape(string)}</span> (token {i})"


def theory(one: Examination) -> str:
    """The table of statements, numbers and baselines; then what does not apply."""
    apply = [verdict for verdict in one.verdicts if verdict.applies]
    why: dict[str, list[str]] = {}
    for verdict in one.verdicts:
        if not verdict.applies:
            why.setdefault(verdict.reason, []).append(_typeset(verdict.question))
    table = (
        "<p>Each statement holds in an idealized model (one head repeated, no "
        "perceptron, or tokens at equal angles). The number is what this model shows "
        "on this text, ± one standard error, beside what chance gives: shuffled tokens "
        "or positions, a random rotation of the same matrix, random heads of the same "
        "size, uniform attention, independent pushes, or the token next to it.</p>"
        "<div class='wide'><table class='words'><tr>"
        "<th>asked</th><th>found</th><th>chance</th><th>so</th></tr>"
        f"{''.join(map(_row, apply))}</table></div>"
    )
    left = "".join(
        f"<li><i>{_typeset(reason)}</i>: {'; '.join(questions)}.</li>"
        for reason, questions in why.items()
    )
    return (table if apply else "") + (
        f"<p>What does not apply here, and why:</p><ul>{left}</ul>" if left else ""
    )


def _row(verdict: Verdict) -> str:
    found, chance = _number(verdict.found, verdict), _number(verdict.baseline, verdict)
    return (
        f"<tr><td>{_typeset(verdict.question)}<br><small>theory: "
        f"{_typeset(verdict.theory)}</small></td>"
        f"<td>{found} ± {_number(verdict.error, verdict)}</td><td>{chance}</td>"
        f"<td>{_typeset(verdict.word)}</td></tr>"
    )


def _typeset(text: str) -> str:
    """x^p and x^{p + 1} with the exponent raised."""
    raised = r"\^(?:\{([^}]*)\}|([−\w]+))"
    return re.sub(raised, r"<sup>\1\2</sup>", html.escape(text))


def _number(value: float | None, verdict: Verdict) -> str:
    if value is None:
        return "-"
    if verdict.unit == "%":
        return percent(value)
    return f"{value:.2f}".replace("-", "−")
