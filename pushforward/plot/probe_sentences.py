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
        "motion explained by the model's own attention": lambda one: (
            "-" if one.own is None else f"{np.median(one.own):.0%}"
        ),
        "… by the theory's layer, V = step · I": lambda one: _share(one, "plain"),
        "… by the theory's layer, any V": lambda one: _share(one, "attention"),
        "… by a linear map that sees no other token": lambda one: _share(one, "linear"),
    }
    head = "".join(f"<th>{html.escape(one.recording.name)}</th>" for one in found)
    body = "".join(
        f"<tr><td>{label}</td>{''.join(f'<td>{cell(one)}</td>' for one in found)}</tr>"
        for label, cell in rows.items()
    )
    return (
        f"<h3>In one minute</h3><table><tr><th></th>{head}</tr>{body}</table>"
        "<p>Shares of motion are medians over layers.</p>"
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
    """Temperatures, sinks and regimes."""
    assert one.heads is not None and one.seen_beta is not None
    table = one.heads
    effective, seen = one.effective_beta, one.seen_beta
    kinds = one.regimes
    total = sum(kinds.values())
    rows = ", ".join(f"{count} in <i>{name}</i>" for name, count in kinds.most_common())
    sharp = int((table.entropy < 0.3).sum())
    return (
        "<p>Each row of attention shares one unit among tokens.</p><ul>"
        f"<li>{sharp} of {table.entropy.size} heads are sharp (entropy below 0.3 of "
        f"uniform); {table.first.mean():.0%} of all attention goes to the first "
        "token.</li>"
        "<li>The inverse temperature β of a head, read off its weights as "
        "|B|<sub>F</sub>/√d with B = Q<sup>T</sup>K on unit tokens, has median "
        f"{np.median(effective):.0f}. But in the theory B is β times the identity, "
        "which no trained head is. The slope of attention against cosines on this "
        f"text, the β that tokens see, has median {np.median(seen):.1f}, and in "
        f"{int((seen < 0).sum())} heads it is negative: tokens there prefer what is "
        "unlike them.</li>"
        f"<li>The theory's table of limits sorts the {total} heads by the spectra of "
        f"their matrices: {rows}. <i>Hyperplanes</i> is a theorem about one head "
        "repeated forever, <i>subspaces</i> a conjecture, <i>outside</i> no "
        "statement.</li></ul>"
    )


def motion(one: Examination) -> str:
    """What explains the motion of tokens."""
    plain, attention = (np.median(one.fit.shares(k)) for k in ("plain", "attention"))
    linear = np.median(one.fit.shares("linear"))
    gain = np.median(one.fit.shares("both") - one.fit.shares("linear"))
    own = (
        ""
        if one.own is None
        else (
            f" The model's own attention, without its perceptron, explains "
            f"{np.median(one.own):.0%}."
        )
    )
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
        f"explains {linear:.0%}: {verdict}.{own} Shuffling what tokens saw shows what "
        "a fit gains without context.</p>"
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
    """Words that the page uses."""
    words = {
        "attention": "each token takes a weighted average of others; weights grow with "
        "exp(β × how well they match).",
        "β, inverse temperature": "0: all tokens count alike; large: only the best "
        "match counts.",
        "effective rank": "how many directions the cloud really uses.",
        "hemisphere margin": "the smallest cosine with the best common direction; "
        "positive means that all tokens lie in one half of the sphere, where the "
        "theory proves collapse.",
        "energy": "the mean of exp(β (cosine - 1)) over pairs; the theory's flow "
        "increases it up to 1.",
        "share of the first direction": "how much of the cloud lies along one line.",
    }
    return (
        "<h3>Words</h3><dl>"
        + "".join(
            f"<dt>{word}</dt><dd>{meaning}</dd>" for word, meaning in words.items()
        )
        + "</dl>"
    )


def _sizes(one: Examination) -> str:
    heads = "-" if one.heads is None else str(one.heads.entropy.shape[1])
    return f"{one.recording.depth}, {heads}, {one.recording.hidden.shape[2]}"


def _clusters(one: Examination) -> np.ndarray:
    return one.table.clusters[:, one.table.radii.index(RADIUS)]


def _ends(values: np.ndarray, form: str) -> str:
    return f"{form.format(values[0])} → {form.format(values[-1])}"


def _share(one: Examination, name: str) -> str:
    return f"{np.median(one.fit.shares(name)):.0%}"


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
