"""The words of the page about trained models: what the numbers say, for newcomers."""

import html
from collections import Counter
from collections.abc import Sequence

import numpy as np

from pushforward.flows import Trajectory
from pushforward.probe import Examination, gathered, lifetimes

RADIUS = 0.6  # of the clusters that are listed by name


def introduction(found: Sequence[Examination]) -> str:
    """What the reader is about to see."""
    names = " and ".join(html.escape(one.recording.name) for one in found)
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
        "<p>Directions are compared by their cosine: 1 for equal, 0 for unrelated, -1 "
        "for opposite. Tokens are put on the sphere by the normalization "
        f"<b>{found[0].normalization.label}</b>; curves called <i>centered</i> first "
        "remove the mean token of the layer, the vector that all tokens share.</p>"
    )


def numbers(found: Sequence[Examination]) -> str:
    """The table at the top: one column per model."""
    rows = {
        "layers, heads, dimension": _sizes,
        "attention": lambda one: {True: "causal", False: "full", None: "unknown"}[
            one.recording.causal
        ],
        "mean cosine, embeddings → last layer": lambda one: _ends(
            one.table.mean_cosine, "{:.2f}"
        ),
        "95 % of centered cosines lie below": lambda one: _ends(
            one.centered.quantiles[:, 2], "{:.2f}"
        ),
        f"clusters at radius {RADIUS}": lambda one: _ends(_clusters(one), "{:.0f}"),
        "effective rank": lambda one: _ends(one.table.effective_rank, "{:.0f}"),
        "effective β of a head, median": lambda one: (
            "-" if one.spectra is None else f"{np.median(one.effective_beta):.0f}"
        ),
        "motion brought by attention / perceptron / norms": _parts,
        "motion predicted by the theory's layer, V = step · I": lambda one: _share(
            one, "plain"
        ),
        "… by the theory's layer, any V": lambda one: _share(one, "attention"),
        "… by a linear map that sees no other token": lambda one: _share(one, "linear"),
    }
    head = "".join(f"<th>{html.escape(one.recording.name)}</th>" for one in found)
    body = "".join(
        f"<tr><td>{label}</td>{''.join(f'<td>{cell(one)}</td>' for one in found)}</tr>"
        for label, cell in rows.items()
    )
    return (
        "<h3>In one minute</h3><div class='wide'><table><tr><th></th>"
        f"{head}</tr>{body}</table></div>"
        "<p>Shares of motion are medians over layers. What brought it is an exact "
        "split; what predicts it is measured on tokens that a fit did not see.</p>"
    )


def cosines(one: Examination) -> str:
    """Whether cosines grow."""
    table, centered = one.table, one.centered
    first, last = table.mean_cosine[0], table.mean_cosine[-1]
    top = int(np.argmax(table.mean_cosine))
    moved = "rises" if last > first + 0.02 else "does not rise"
    before, after = centered.quantiles[0, 2], centered.quantiles[-1, 2]
    share = table.anisotropy[-1]
    return (
        f"<p>The mean cosine of two tokens {moved}: {first:.2f} at the embeddings, "
        f"{table.mean_cosine[top]:.2f} at its highest (after layer {top}), {last:.2f} "
        f"after the last layer, where one direction holds {share:.0%} of the cloud. "
        "With the mean token removed, the closest twentieth of all pairs has cosines "
        f"above {before:.2f} at the embeddings and above {after:.2f} at the end: "
        "beyond the direction that all share, tokens "
        + ("gather." if after > before + 0.05 else "do not gather.")
        + " The histograms show all pairs; the vertical line is their mean.</p>"
    )


def observables(one: Examination) -> str:
    """What the six curves are."""
    return (
        "<p>By layer (0 are the embeddings), as recorded and <i>centered</i>, with the "
        "mean token of the layer removed. <b>Effective rank</b>: how many directions "
        "the cloud really uses. <b>Share of the first direction</b>: how much of it "
        "lies along one line. <b>Hemisphere margin</b>: the smallest cosine of a token "
        "with the best common direction; positive means that all tokens lie in one "
        "half of the sphere, where the theory proves collapse. <b>Energy</b>: the mean "
        f"of exp(β (cosine − 1)) over pairs at β = {one.table.beta:.2g}, the median of "
        "the fitted ones; the theory's flow increases it up to 1.</p>"
    )


def clusters(one: Examination, trajectory: Trajectory) -> str:
    """How many, for how long, and which tokens."""
    counts = _clusters(one)
    n = len(one.recording.tokens)
    if not one.normalization.on_sphere:
        return (
            "<p>Clusters are chains of tokens whose directions are at most a radius "
            "apart, in radians.</p>"
        )
    life = lifetimes(trajectory, RADIUS)
    last = gathered(one.recording, trajectory, len(trajectory) - 1, RADIUS)
    listed = "".join(f"<li>{_bag(group)}</li>" for group in last[:5])
    return (
        "<p>A cluster is a chain of tokens, each at most a radius (an angle, in "
        f"radians) from the next. At radius {RADIUS} the {n} tokens form "
        f"{counts[0]:.0f} clusters at the embeddings and {counts[-1]:.0f} after the "
        f"last layer. Groups of two or more keep the same tokens for "
        f"{life.mean:.1f} layers on average, the longest for {life.longest:.0f}. The "
        f"largest after the last layer:</p><ol>{listed}</ol>"
    )


def heads(one: Examination) -> str:
    """Temperatures and sinks; regimes where weights are known."""
    assert one.heads is not None and one.seen_beta is not None
    table, seen = one.heads, one.seen_beta
    sharp = int((table.entropy < 0.3).sum())
    return (
        "<p>Each row of attention shares one unit among tokens.</p><ul>"
        f"<li>{sharp} of {table.entropy.size} heads are sharp (entropy below 0.3 of "
        f"uniform); {table.first.mean():.0%} of all attention goes to the first "
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
        f"them above: {above} of {seen.size} heads are above, those with a dot.</li>"
    )


def _weighed(one: Examination) -> str:
    """What the matrices of the heads say."""
    if one.spectra is None:
        return ""
    kinds = one.regimes
    rows = ", ".join(f"{count} in <i>{name}</i>" for name, count in kinds.most_common())
    return (
        "<li>Read off the weights of a head as |B|<sub>F</sub>/√d with "
        "B = Q<sup>T</sup>K on unit tokens, the <i>effective</i> β has median "
        f"{np.median(one.effective_beta):.0f}. But in the theory B is β times the "
        "identity, which no trained head is.</li>"
        f"<li>The theory's table of limits sorts the {sum(kinds.values())} heads by "
        f"the spectra of their matrices: {rows}. <i>Hyperplanes</i> is a theorem about "
        "one head repeated forever, <i>subspaces</i> a conjecture, <i>outside</i> no "
        "statement.</li>"
    )


def motion(one: Examination) -> str:
    """What explains the motion of tokens."""
    plain, attention = (np.median(one.shares(k)) for k in ("plain", "attention"))
    linear = np.median(one.shares("linear"))
    gain = np.median(one.shares("both") - one.shares("linear"))
    verdict = (
        "seeing other tokens through one inverse temperature adds next to nothing"
        if gain < 0.02
        else f"seeing other tokens adds {gain:.0%}"
    )
    return (
        "<p>Each layer moves every token. We fit the theory's layer to three quarters "
        "of the tokens and ask how much of the motion of the others it predicts (1 is "
        "all, 0 is no better than standing still). The layer of the theorems, V = step "
        f"· I, explains {plain:.0%} (median over layers). With any matrix V it "
        f"explains {attention:.0%}, but a linear map in which no token sees another "
        f"explains {linear:.0%}: {verdict}.</p><dl>"
        "<dt>plain</dt><dd>attention with one β and V = step · I: two numbers.</dd>"
        "<dt>attention</dt><dd>attention with one β and any matrix V.</dd>"
        "<dt>linear</dt><dd>any matrix times the token itself; sees no other.</dd>"
        "<dt>both</dt><dd>linear and attention together.</dd>"
        "<dt>shuffled</dt><dd>as attention, but each token is given the average that "
        "another token saw: what a fit gains without context. It can still be high, "
        "since averages of different tokens are much alike.</dd>"
        "<dt>the model's own attention</dt><dd>what the layer's attention added, with "
        "its trained weights and nothing fitted; perceptron and norms are left out, so "
        "that it can be below a fit, which stands in for them too.</dd></dl>"
    )


def sensitivity(one: Examination) -> str:
    """Lost in the middle."""
    assert one.sensitivity is not None
    share = one.sensitivity.share
    thirds = [float(np.median(part)) for part in np.array_split(share, 3)]
    middle = thirds[1] < min(thirds[0], thirds[2])
    return (
        "<p>By gradients: how much the last token, after the last layer, changes when "
        "the embedding at a position changes by a given share. One is average. Medians "
        f"over the first, middle and last third: {thirds[0]:.2f}, {thirds[1]:.2f}, "
        f"{thirds[2]:.2f}: "
        + ("the middle is felt least." if middle else "the middle is not felt least.")
        + "</p>"
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


def glossary() -> str:
    """Words that the page uses throughout; others are told where they stand."""
    words = {
        "attention": "each token takes a weighted average of others; weights grow with "
        "exp(β × how well they match).",
        "β, inverse temperature": "0: all tokens count alike; large: only the best "
        "match counts.",
    }
    return (
        "<h3>Words</h3><dl>"
        + "".join(
            f"<dt>{word}</dt><dd>{meaning}</dd>" for word, meaning in words.items()
        )
        + "</dl>"
    )


def _parts(one: Examination) -> str:
    if one.motion is None:
        return "-"
    parts = (one.motion.attention, one.motion.perceptron, one.motion.norms)
    return " / ".join(f"{np.median(part):.0%}" for part in parts)


def _sizes(one: Examination) -> str:
    heads = "-" if one.heads is None else str(one.heads.entropy.shape[1])
    return f"{one.recording.depth}, {heads}, {one.recording.hidden.shape[2]}"


def _clusters(one: Examination) -> np.ndarray:
    return one.table.clusters[:, one.table.radii.index(RADIUS)]


def _ends(values: np.ndarray, form: str) -> str:
    return f"{form.format(values[0])} → {form.format(values[-1])}"


def _share(one: Examination, name: str) -> str:
    return f"{np.median(one.shares(name)):.0%}" if one.fitted else "-"


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
