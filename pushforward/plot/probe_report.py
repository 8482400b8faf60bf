"""One page about trained models: what they do to the tokens of a text."""

import html
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import pushforward
from pushforward._files import write_text
from pushforward._threads import one_thread
from pushforward.plot.page import as_address
from pushforward.plot.probing import (
    cluster_counts,
    head_maps,
    kinetic_curve,
    layer_curves,
    motion_shares,
    sensitivity_curve,
    spectra,
    token_maps,
)
from pushforward.plot.representations import similarity_maps
from pushforward.plot.runs._pairs import cosine_histograms
from pushforward.probe import Examination, evenly
from pushforward.probe import reasons as because
from pushforward.probe import sentences as say
from pushforward.statistics.representations.similarities import layer_similarity

MOST_LAYERS = 9  # rows of a similarity map


@one_thread()
def write_probe_report(found: Sequence[Examination], path: str | Path) -> None:
    """A self-contained HTML page on one or several models and one text.

    Nothing is fetched from anywhere; the file is written whole or not at all.
    """
    parts = [say.introduction(found), SLIDE, say.numbers(found)]
    for one in found:
        parts += _model(one, numbered=len(found) > 1)
    if len(found) == 2 and all(one.recording.tokens.spans for one in found):
        parts += _between(*found)
    parts.append(_made(found))
    page = PAGE.replace("BODY", "\n".join(parts))
    write_text(path, [page])


def _model(one: Examination, numbered: bool) -> list[str]:
    name = html.escape(one.recording.name)
    trajectory = one.recording.trajectory(one.normalization)
    depth = one.recording.depth
    top = int(np.argmax(one.table.mean_cosine))
    shown = tuple(sorted({*evenly(depth + 1, 5), top}))
    parts = [f"<h2>{name}</h2>"] if numbered else []
    parts += [
        f"<h3>Do tokens gather?</h3>{say.cosines(one)}",
        _image("Pairwise cosines", cosine_histograms(trajectory, layers=shown)),
        "<p>The tokens themselves, with the mean token removed, in the two directions "
        "in which they spread most. Color is the place in the text, from first (light) "
        "to last (dark); the same tokens are named in every panel.</p>",
        _image("Tokens by layer", token_maps(one.recording, shown)),
        say.observables(one),
        _image("Observables by layer", layer_curves(one.table, one.centered)),
        f"<h3>Clusters</h3>{say.clusters(one, trajectory)}",
        _image("Clusters by layer and radius", cluster_counts(one.table)),
    ]
    parts += _reasons(one)
    chosen = evenly(depth + 1, MOST_LAYERS)
    layers = [np.asarray(trajectory.points[k]) for k in chosen]
    maps = layer_similarity(layers, layers)
    parts += [
        f"<h3>Layers against layers</h3>{say.similarity()}",
        _image("Similarity of layers", similarity_maps(maps, chosen, chosen)),
    ]
    return parts


def _reasons(one: Examination) -> list[str]:
    """Heads, who moved which token, and the theory against the model."""
    parts: list[str] = []
    if one.heads is not None:
        parts += [
            f"<h3>What the heads do</h3>{say.heads(one)}",
            _image("Heads", head_maps(one)),
        ]
    if one.spectra is not None:
        picture = spectra(one.spectra, evenly(len(one.spectra), 4))
        parts += [say.spectra(), _image("Spectra", picture)]
    if one.motion is not None:
        parts.append(f"<h3>Why tokens moved</h3>{because.moves(one)}")
    parts.append(f"<h3>What the theory says</h3>{because.theory(one)}")
    if one.fitted:
        parts += [
            f"<h3>The theory against the model</h3>{say.motion(one)}",
            _image("Motion explained", motion_shares(one)),
        ]
    if one.sensitivity is not None:
        theory = kinetic_curve if one.recording.causal else None
        parts += [
            f"<h3>What the last token feels</h3>{say.sensitivity(one)}",
            _image("Sensitivity", sensitivity_curve(one.sensitivity, theory)),
        ]
    return parts


def _between(a: Examination, b: Examination) -> list[str]:
    """Two models on the words that both have seen."""
    names_a, words_a = a.recording.words(a.normalization)
    names_b, words_b = b.recording.words(b.normalization)
    if names_a != names_b or len(names_a) < 4:
        return []
    rows, columns = evenly(len(words_a), MOST_LAYERS), evenly(len(words_b), MOST_LAYERS)
    maps = layer_similarity(
        [words_a[k] for k in rows],
        [words_b[k] for k in columns],
    )
    titles = (f"layer of {a.recording.name}", f"layer of {b.recording.name}")
    return [
        f"<h2>Between the models</h2>{say.between(a, b, maps, rows, columns)}",
        _image("Between models", similarity_maps(maps, rows, columns, names=titles)),
    ]


def _made(found: Sequence[Examination]) -> str:
    text = found[0].recording.tokens.text
    shown = f"<details><summary>The text</summary><p>{html.escape(text)}</p></details>"
    return (
        f"{shown if text else ''}<p class='made'>Made by pushforward "
        f"{pushforward.__version__}; the same command gives the same page.</p>"
    )


def _image(title: str, figure: Figure) -> str:
    width = int(np.ceil(figure.get_figwidth() * 84))
    return (
        f'<figure><img alt="{title}" style="width:{width}px" '
        f'src="{as_address(figure)}"></figure>'
    )


SLIDE = "<p class='slide'><small>Wide pictures slide sideways.</small></p>"
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>What a trained model does to its tokens</title>
<style>
body { font: 16px/1.55 system-ui, sans-serif; max-width: 54rem; margin: 2rem auto;
       padding: 0 1rem; color: #1f2530; }
h1 { font-size: 1.6rem; line-height: 1.25; }
h2 { font-size: 1.35rem; margin-top: 3rem; padding-top: .6rem;
     border-top: 2px solid #1f2530; }
h3 { font-size: 1.1rem; margin: 2rem 0 .3rem; }
p { margin: .5rem 0; } figure { margin: 1rem 0; text-align: center; }
img { max-width: 100%; height: auto; }
table { border-collapse: collapse; margin: 1rem 0; width: 100%; }
td, th { text-align: right; padding: .3rem .6rem; border-bottom: 1px solid #d9dde3;
         font-variant-numeric: tabular-nums; vertical-align: top; }
td:first-child, th:first-child { text-align: left; padding-left: 0; }
code, .token { font-family: ui-monospace, monospace; font-size: .88em; }
.token { background: #eef2f7; border-radius: 3px; padding: 0 .3em; margin: 0 .1em;
         white-space: pre; }
dt { font-weight: 600; margin-top: .5rem; } dd { margin: 0 0 .2rem 1rem; }
.wide, figure { overflow-x: auto; } .words td,
.words th { text-align: left; }
.words td:nth-child(2) { white-space: nowrap; }
sup, sub { line-height: 0; } small { color: #6b7686; } .slide { display: none; }
@media (max-width: 40rem) { body { margin: 1rem auto; } figure img { max-width: none; }
  .slide, .words tr, .words td { display: block; } .words th { display: none; }
  .words td { border: 0; padding: .1rem 0; }
  .words tr { border-bottom: 1px solid #d9dde3; padding: .4rem 0; }
  .words td:nth-child(2)::before { content: "found "; }
  .words td:nth-child(3)::before { content: "chance "; }
  td, th { padding: .25rem .35rem; font-size: .9rem; } }
.made, details { color: #6b7686; font-size: .9rem; margin-top: 2rem; }
</style></head><body>
<h1>What a trained model does to its tokens</h1>
BODY
</body></html>
"""
