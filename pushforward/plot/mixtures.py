"""Pictures and a report page of a fitted mixture."""

import html
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pushforward.plot.page import image, listing, paragraph, section, table, write_page
from pushforward.plot.style import new_figure
from pushforward.statistics.mixtures import BinomialCounts, MixtureFit, PoissonCounts

BLUE, ORANGE, GRAY = "#2563a8", "#e08a1e", "#9aa3af"
MOST = 40  # rows of a table on the page
CLOUD = 4000  # data drawn in a plane
EDGE = 0.05
BARS = 80  # distinct counts drawn as they are
SHOWN = 3  # coordinates in the table of the data


def plot_mixture(fit: MixtureFit, names: tuple[str, ...]) -> Figure:
    """The data, the components and, on a line, the proof D <= 1 everywhere."""
    if fit.atoms.shape[1] == 1:
        return _line(fit, names[0])
    figure = new_figure(6.4, 5.4)
    ax = figure.subplots()
    x = fit.data[np.isfinite(fit.data[:, :2]).all(axis=1), :2]
    x = x[:: max(1, len(x) // CLOUD)]
    ax.scatter(x[:, 0], x[:, 1], s=5, c=GRAY, linewidths=0, alpha=0.6, label="data")
    size = 30 + 500 * fit.weights
    a, b = fit.atoms[:, 0], fit.atoms[:, 1]
    label = "components (area: weight)"
    ax.scatter(a, b, s=size, c=BLUE, alpha=0.75, edgecolor="white", label=label)
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    _tidy(ax)
    figure.legend(loc="outside upper center", ncols=2, frameon=False, fontsize=9)
    return figure


def _line(fit: MixtureFit, name: str) -> Figure:
    counts = isinstance(fit.likelihood, PoissonCounts | BinomialCounts)
    figure = new_figure(6.8, 4.6)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
    where = fit.noise.color(fit.sample.places)[:, 0]
    places = np.unique(where)
    if (
        counts and len(places) <= BARS
    ):  # bins of a histogram would hold one count or two
        share = [fit.sample.weights[where == x].sum() for x in places]
        wide = 0.8 * np.diff(places).min(initial=1.0)
        above.bar(places, share, width=wide, color="#d5dae1")
    else:
        above.hist(where, bins=40, weights=fit.sample.weights, color="#d5dae1")
    above.set_ylabel("share of data")
    mass = above.twinx()
    mass.vlines(fit.atoms[:, 0], 0, fit.weights, color=BLUE, lw=2.2)
    mass.plot(fit.atoms[:, 0], fit.weights, "o", color=BLUE, ms=4.5)
    mass.set_ylim(0, 1.12 * fit.weights.max())
    mass.set_ylabel("weight of component", color=BLUE)
    mass.spines["top"].set_visible(False)
    low, high = min(where.min(), fit.atoms.min()), max(where.max(), fit.atoms.max())
    pad = 0.0 if counts else EDGE * (high - low)
    grid = np.linspace(low - pad, high + pad, 1500)
    below.plot(grid, fit.optimality(grid[:, None]), color=ORANGE, lw=1.5)
    below.plot(fit.atoms[:, 0], np.ones(len(fit.atoms)), "o", color=BLUE, ms=4)
    below.axhline(1, color=GRAY, lw=0.8)
    below.set_ylim(0, 1.1)
    below.set_ylabel("D, at most 1")
    below.set_xlabel(f"location of {name}")
    for ax in (above, below):
        _tidy(ax)
    return figure


def write_mixture_report(
    fit: MixtureFit, path: str | Path, *, names: tuple[str, ...], read: tuple[str, ...]
) -> None:
    """One self-contained page: what was assumed, what was found, and the proof.

    `names` are those of the coordinates, `read` how the file was read.
    """
    found = fit.posteriors()
    low, high = found.interval(0.9)
    components = [
        [w, *(float(a) for a in atom)]
        for w, atom in zip(fit.weights.tolist(), fit.atoms, strict=True)
    ]
    parts_of = np.stack([fit.data, found.mean, low, high], axis=2)[:, :SHOWN]
    first = [
        [i + 1, *parts_of[i].ravel().tolist()] for i in range(min(len(fit.data), MOST))
    ]
    head = [word for name in names[:SHOWN] for word in (name, "mean", "from", "to")]
    parts = [
        paragraph(
            f"{len(fit.data)} rows of {', '.join(names)}; {len(fit.atoms)} components."
        ),
        paragraph(f"Assumed: {fit.assumption}."),
        *(f"<p class='doubt'>Doubt: {html.escape(d)}.</p>" for d in fit.doubts),
        paragraph(
            f"Log-likelihood {fit.log_likelihood:.9g}. No mixture has a larger one by "
            f"more than {fit.gap:.1e} per datum, {fit.proof}."
        ),
        section("Picture", image("The fitted mixture", plot_mixture(fit, names))),
        section("Components", table(["weight", *names], components[:MOST])),
        section(
            "Each datum, denoised",
            paragraph(
                "Posterior mean and 90 % interval of the location, with the mixing law "
                f"taken as known; the first {len(first)} of {len(fit.data)} rows."
            ),
            table(["row", *head], first),
        ),
    ]
    if read:
        parts.append(section("How the file was read", listing(read)))
    write_page(path, "A mixture without a number of components", parts)


def _tidy(ax: Axes) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=8)
