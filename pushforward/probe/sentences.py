"""The words of the page about trained models: what the numbers say, for newcomers."""

import html
from collections import Counter
from collections.abc import Sequence

import numpy as np

from pushforward.flows import Trajectory
from pushforward.probe import SHARES, Examination, gathered, lifetimes

RADIUS = 0.6  # of the clusters that are listed by name


def introduction(found: Sequence[Examination]) -> str:
    """What the reader is about to see."""
    names = " and ".join(html.escape(one.recording.name) for one in found)
    normalization = found[0].normalization
    counts = " and ".join(str(len(one.recording.tokens)) for one in found)
    return (
        "<p>A Transformer turns a text into a cloud of points, one per token (a word "
        "or a piece of one), and moves it layer after layer. A mathematical theory "
        "treats depth as time and tokens as particles on a sphere that attract each "
        "other through <i>attention</i>; it predicts that they gather in clusters and, "
        "in the end, in one point. This page shows what "
        f"<b>{names}</b> did to a text of {counts} tokens, and how much of it the "
        "theory explains. Nothing on it is idealized: where the theory fails, the page "
        "says so.</p>"
        "<p>In attention each token takes a weighted average of the tokens it sees, "
        "with weights that grow like exp(β × how well they match). β is the inverse "
        "temperature: at 0 all count alike, when it is large the best match alone. "
        "The theory's layer moves a token by a matrix V times that average; in its "
        "theorems V is a multiple of the identity, step · I. Directions are compared "
        "by their cosine: 1 for equal, 0 for unrelated, −1 for opposite. The "
        f"normalization is <b>{normalization.label}</b>: {normalization.meaning}. "
        "What is called <i>centered</i> first loses the mean token of its layer, the "
        "vector that all tokens share.</p>"
    )


def rows(one: Examination) -> dict[str, str]:
    """The numbers of the first table, by what they are; what is not known is left out.

    The terminal prints them too.
    """
    recording, table = one.recording, one.table
    n, d = recording.hidden.shape[1:]
    found = {
        "layers, tokens, dimension": f"{recording.depth}, {n}, {d}",
        "mean cosine": _ends(table.mean_cosine, ".2f"),
        "95 % of centered cosines are below": _ends(
            one.centered.quantiles[:, 2], ".2f"
        ),
        f"clusters at radius {RADIUS}": _ends(_clusters(one), ".0f"),
        "effective rank": _ends(table.effective_rank, ".0f"),
    }
    if one.heads is not None and one.seen_beta is not None:
        kind = "causal" if recording.causal else "full"
        found["attention"] = f"{kind}, {one.heads.entropy.shape[1]} heads"
        found["β seen on this text, median"] = f"{np.median(one.seen_beta):.1f}"
    if one.spectra is not None:
        effective = f"{np.median(one.effective_beta):.0f}"
        found["effective β of a head, median"] = effective
    if one.motion is not None:
        shares = " / ".join(percent(np.median(part)) for part in one.motion.parts)
        found["motion brought by attention / perceptron / norms"] = shares
    if one.own is not None:
        explained = percent(np.median(one.own))
        found["motion explained by the model's own attention"] = explained
    for name in ("plain", "attention", "linear") if one.fitted else ():
        explained = percent(np.median(one.shares(name)))
        found[f"motion explained by {SHARES[name]}"] = explained
    return found


def numbers(found: Sequence[Examination]) -> str:
    """The table at the top: one column per model."""
    columns = [rows(one) for one in found]
    labels = dict.fromkeys(label for column in columns for label in column)
    head = "".join(f"<th>{html.escape(one.recording.name)}</th>" for one in found)
    body = "".join(
        f"<tr><td>{label}</td>"
        + "".join(f"<td>{column.get(label, '-')}</td>" for column in columns)
        + "</tr>"
        for label in labels
    )
    return (
        "<h3>In one minute</h3><div class='wide'><table><tr><th></th>"
        f"{head}</tr>{body}</table></div>"
        "<p>An arrow leads from the embeddings to the last layer. A <i>cluster</i> is "
        f"a chain of tokens, each at most an angle of {RADIUS} radians from the next. "
        "The <i>effective rank</i> is how many directions the tokens really use. The "
        "<i>effective</i> β is read off the weights of a head, the one <i>seen</i> off "
        "its attention. Shares of motion are medians over layers: what brought it is "
        "an exact split, what explains it is measured on tokens that no fit "
        "saw.</p>"
    )


def cosines(one: Examination) -> str:
    """Whether cosines grow."""
    table, centered = one.table, one.centered
    first, last = table.mean_cosine[0], table.mean_cosine[-1]
    top = int(np.argmax(table.mean_cosine))
    moved = "rises" if last > first + 0.02 else "does not rise"
    before, after = centered.quantiles[0, 2], centered.quantiles[-1, 2]
    share = table.anisotropy[-1]
    highest = f", {table.mean_cosine[top]:.2f} at its highest, after layer {top}"
    return (
        f"<p>The mean cosine of two tokens {moved}: {first:.2f} at the embeddings"
        f"{highest if 0 < top < one.recording.depth else ''}, {last:.2f} "
        f"after the last layer, where one direction holds {percent(share)} of the "
        "cloud. With the mean token removed, the closest twentieth of all pairs has "
        f"cosines above {before:.2f} at the embeddings and above {after:.2f} at the "
        "end: beyond the direction that all share, tokens "
        + ("gather." if after > before + 0.05 else "do not gather.")
        + " The histograms show all pairs; the vertical line is their mean.</p>"
    )


def observables(one: Examination) -> str:
    """What the six curves are."""
    return (
        "<p>By layer (0 are the embeddings), as recorded and <i>centered</i>, with the "
        "mean token of the layer removed. <b>Share of the first direction</b>: how "
        "much of the cloud lies along one line. <b>Hemisphere margin</b>: the smallest "
        "cosine of a token with the best common direction; positive means that all "
        "tokens lie in one half of the sphere, where the theory proves collapse. "
        "<b>Energy</b>: the mean of exp(β (cosine − 1)) over pairs at β = "
        f"{one.table.beta:.3g}{', the median of the fitted ones' if one.fitted else ''}"
        "; the theory's flow increases it up to 1.</p>"
    )


def clusters(one: Examination, trajectory: Trajectory) -> str:
    """How many, for how long, and which tokens."""
    counts = _clusters(one)
    said = (
        f"<p>At radius {RADIUS} the {len(one.recording.tokens)} tokens form "
        f"{counts[0]} clusters at the embeddings and {counts[-1]} after the last layer."
    )
    if not one.normalization.on_sphere:
        return f"{said}</p>"
    life = lifetimes(trajectory, RADIUS)
    last = gathered(one.recording, trajectory, len(trajectory) - 1, RADIUS)
    listed = "".join(f"<li>{_bag(group)}</li>" for group in last[:5])
    return (
        f"{said} Groups of two or more keep the same tokens for "
        f"{life.mean:.1f} layers on average, the longest for {life.longest:.0f}. "
        + (f"The largest at the end:</p><ol>{listed}</ol>" if listed else "</p>")
    )


def heads(one: Examination) -> str:
    """Temperatures and sinks; regimes where weights are known."""
    assert one.heads is not None and one.seen_beta is not None
    table, seen = one.heads, one.seen_beta
    sharp = int((table.entropy < 0.3).sum())
    return (
        "<p>Each row of attention shares one unit among tokens.</p><ul>"
        f"<li>{sharp} of {table.entropy.size} heads are sharp (entropy below 0.3 of "
        f"uniform); {percent(table.first.mean())} of all attention goes to the first "
        "token.</li>"
        "<li>The slope of log-attention against cosines on this text, the inverse "
        f"temperature β that tokens see, has median {np.median(seen):.1f}, and in "
        f"{int((seen < 0).sum()) or 'no'} heads it is negative, where tokens prefer "
        "what is unlike them.</li>"
        f"{_critical(one)}{_weighed(one)}</ul>"
    )


def _critical(one: Examination) -> str:
    """Which heads choose, by the critical scaling."""
    critical, seen = one.critical_beta, np.asarray(one.seen_beta)
    above = int((seen > critical[:, None]).sum())
    return (
        "<li>A head of the theory averages all tokens while its β is below log n / "
        "(1 − mean cosine), here between "
        f"{critical.min():.1f} and {critical.max():.1f} by layer, and chooses among "
        f"them above: {above} of {seen.size} heads are above"
        f"{', those with a dot' if above else ''}.</li>"
    )


def _weighed(one: Examination) -> str:
    """What the matrices of the heads say."""
    if one.spectra is None:
        return ""
    kinds = one.regimes
    sorted_ = ", ".join(f"{count} <i>{name}</i>" for name, count in kinds.most_common())
    return (
        "<li>Read off the weights of a head as |B|<sub>F</sub>/√d with "
        "B = Q<sup>T</sup>K on unit tokens, the <i>effective</i> β has median "
        f"{np.median(one.effective_beta):.0f}. But in the theory B is β times the "
        "identity, which no trained head is.</li>"
        f"<li>The theory's table of limits sorts the {sum(kinds.values())} heads by "
        f"the spectra of their matrices: {sorted_}. <i>Hyperplanes</i> is a theorem "
        "about one head repeated forever, <i>subspaces</i> a conjecture, "
        "<i>outside</i> no statement.</li>"
    )


def spectra() -> str:
    """What the picture of eigenvalues shows."""
    return (
        "<p>The matrices of the heads in some layers, a shade for each head. Above, "
        "eigenvalues of V: to the right of zero they attract, to the left they repel, "
        "off the axis they turn. Below, those of the symmetric part of B, in order: "
        "along positive ones tokens attend to their like, along negative ones to what "
        "is unlike them.</p>"
    )


def motion(one: Examination) -> str:
    """What explains the motion of tokens."""
    plain, attention, linear = (
        np.median(one.shares(k)) for k in ("plain", "attention", "linear")
    )
    gain = np.median(one.shares("both") - one.shares("linear"))
    verdict = (
        "seeing other tokens through one inverse temperature adds next to nothing"
        if gain < 0.02
        else f"seeing other tokens adds {percent(gain)}"
    )
    own = (
        " <i>The model's own attention</i> is what it added with its trained weights, "
        "nothing fitted; without perceptron and norms it can be below a fit, which "
        "stands in for them too."
    )
    return (
        "<p>Each layer moves every token. We fit the theory's layer to three quarters "
        "of the tokens and ask how much of the motion of the others it explains (1 is "
        "all, 0 is no better than standing still). The layer of the theorems, with two "
        f"numbers, β and the step, explains {percent(plain)} (median over layers). "
        f"With any matrix V it explains {percent(attention)}, but a linear map in "
        f"which no token sees another explains {percent(linear)}: {verdict}.</p>"
        "<p><i>Averages shuffled</i> gives each token the average that another token "
        "saw: what a fit gains without context. It can still be high, since averages "
        f"of different tokens are much alike.{'' if one.own is None else own}</p>"
    )


def sensitivity(one: Examination) -> str:
    """Lost in the middle."""
    assert one.sensitivity is not None
    share = one.sensitivity.share
    thirds = [float(np.median(part)) for part in np.array_split(share, 3)]
    middle = thirds[1] < 0.9 * min(thirds[0], thirds[2])
    return (
        "<p>By gradients: how much the last token, after the last layer, changes when "
        "the embedding at a position changes by a given share. One is average. Medians "
        f"over the first, middle and last third: {thirds[0]:.2f}, {thirds[1]:.2f}, "
        f"{thirds[2]:.2f}: the middle is {'' if middle else 'not '}felt least.</p>"
    )


def similarity() -> str:
    """What the three maps compare."""
    return (
        "<p>Do two layers hold the same information up to rotation (CKA, Procrustes) "
        "or for linear prediction (GULP)? Dark is alike. Layer 0 are the "
        "embeddings.</p>"
    )


def between(a: Examination, b: Examination, maps, rows, columns) -> str:
    """Where two models agree most."""
    values = next(iter(maps.values()))
    i, j = np.unravel_index(np.argmax(values), values.shape)
    return (
        "<p>The models cut the text into different tokens, so they are compared on its "
        "words (the mean of the tokens of each). By CKA the closest are layer "
        f"{rows[i]} of {html.escape(a.recording.name)} and layer {columns[j]} of "
        f"{html.escape(b.recording.name)}, at {values[i, j]:.2f}.</p>"
    )


def _clusters(one: Examination) -> np.ndarray:
    return one.table.clusters[:, one.table.radii.index(RADIUS)]


def _ends(values: np.ndarray, form: str) -> str:
    return f"{values[0]:{form}} → {values[-1]:{form}}".replace("-", "−")


def percent(value: float) -> str:
    """A share, with a real minus sign and none before zero."""
    return f"{value:.0%}".replace("-0%", "0%").replace("-", "−")


def _bag(group: list[str]) -> str:
    """Tokens of a cluster, equal ones counted."""
    counted = Counter(token.strip() or "␣" for token in group).most_common(12)
    shown = " ".join(
        f"<span class='token'>{html.escape(t)}{f' ×{c}' if c > 1 else ''}</span>"
        for t, c in counted
    )
    rest = len(set(token.strip() for token in group)) - len(counted)
    more = f" and {rest} more" if rest > 0 else ""
    return f"{len(group)} tokens: {shown}{more}"
