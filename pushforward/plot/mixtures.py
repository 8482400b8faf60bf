"""Pictures and a report page of a fitted mixture."""

import html
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from pushforward.plot.page import (
    gallery,
    image,
    listing,
    numbers,
    paragraph,
    section,
    table,
    write_page,
)
from pushforward.plot.style import HAIR, PALETTE, SOFT, new_figure, styled
from pushforward.statistics.mixtures import (
    BinomialCounts,
    GaussianErrors,
    MixtureFit,
    PoissonCounts,
)

BLUE, ORANGE = PALETTE[0], PALETTE[1]
MOST = 40  # rows of a table on the page
ROWS = 15  # data in the table of the data
CLOUD = 4000  # data drawn in a plane
BARS = 80  # distinct counts drawn as they are
SHOWN = 3  # coordinates in the table of the data
ERRORS = 60  # of which the fitted density is a mean, where errors differ
STAYING = 600  # data whose way to their posterior mean is drawn


@styled
def plot_mixture(fit: MixtureFit, names: tuple[str, ...]) -> Figure:
    """The data and the fitted mixture; on a line also the proof, D <= 1 everywhere."""
    return _plane(fit, names) if fit.atoms.shape[1] > 1 else _line(fit, names[0])


def _plane(fit: MixtureFit, names: tuple[str, ...]) -> Figure:
    figure = new_figure(5.2, 5.0)
    ax = figure.subplots()
    here = np.flatnonzero(np.isfinite(fit.data[:, :2]).all(axis=1))
    here = here[:: max(1, len(here) // CLOUD)]
    x = fit.data[here, :2]
    if len(here) <= STAYING:
        ways = np.stack([x, fit.posterior_means[here, :2]])
        ax.plot(ways[..., 0], ways[..., 1], color=HAIR, lw=0.5, zorder=1)
    ax.scatter(*x.T, s=5, c=SOFT, linewidths=0, alpha=0.6, label="data", zorder=2)
    a, b = fit.atoms[:, 0], fit.atoms[:, 1]
    label, size = "components (area: weight)", 30 + 500 * fit.weights
    looks = {"c": BLUE, "alpha": 0.75, "edgecolor": "white", "zorder": 3}
    ax.scatter(a, b, s=size, label=label, **looks)
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    figure.legend(loc="outside upper center", ncols=2)
    return figure


def _line(fit: MixtureFit, name: str) -> Figure:
    counts = isinstance(fit.likelihood, PoissonCounts | BinomialCounts)
    figure = new_figure(5.2, 4.8)
    above, middle, below = figure.subplots(3, 1, sharex=True, height_ratios=[3, 2, 2])
    where = fit.noise.color(fit.sample.places)[:, 0]
    places = np.unique(where)
    low, high = min(where.min(), fit.atoms.min()), max(where.max(), fit.atoms.max())
    pad = 0.0 if counts else 0.05 * (high - low)
    grid = np.linspace(low - pad, high + pad, 800)
    if counts and len(places) <= BARS:  # a bin would hold one count or two
        share = [fit.sample.weights[where == x].sum() for x in places]
        above.bar(places, share, 0.8 * np.diff(places).min(initial=1.0), color=HAIR)
        above.set_ylabel("share of data")
    else:
        bins = {"bins": 40, "density": True, "color": HAIR}
        above.hist(where, weights=fit.sample.weights, **bins)
        above.set_ylabel("density of data")
    if not counts:
        above.plot(grid, _density(fit, grid), color=BLUE, label="fitted")
        above.legend()
    middle.vlines(fit.atoms[:, 0], 0, fit.weights, color=BLUE, lw=2.0)
    middle.plot(fit.atoms[:, 0], fit.weights, "o", color=BLUE, ms=4)
    middle.set_ylim(0, 1.12 * fit.weights.max())
    middle.set_ylabel("weight")
    below.plot(grid, fit.optimality(grid[:, None]), color=ORANGE)
    below.plot(fit.atoms[:, 0], np.ones(len(fit.atoms)), "o", color=BLUE, ms=3.5)
    below.axhline(1, color=SOFT, lw=0.6)
    below.set_ylim(0, 1.15)
    below.set_ylabel("D")
    below.set_xlabel(name)
    return figure


def _density(fit: MixtureFit, grid: np.ndarray) -> np.ndarray:
    """Of a new datum; where errors differ, of one with the error of any of the data."""
    if not isinstance(fit.likelihood, GaussianErrors):
        return fit.density(grid[:, None])
    errors = np.asarray(fit.likelihood.errors, dtype=float)
    errors = np.sqrt(errors) if errors.ndim == 3 else errors  # variances
    drawn = np.sort(errors[np.isfinite(errors)])
    drawn = drawn[:: max(1, len(drawn) // ERRORS)]
    each = [GaussianErrors(np.full(len(grid), e)) for e in drawn]
    return np.mean([fit.density(grid[:, None], one) for one in each], axis=0)


@styled
def plot_shrinkage(fit: MixtureFit, name: str) -> Figure:
    """Posterior mean and 90 % interval of each location, over where its datum is."""
    figure = new_figure(4.2, 4.2)
    ax = figure.subplots()
    found = fit.posteriors()
    low, high = (edge[:, 0] for edge in found.interval(0.9))
    x = fit.data[:, 0]
    if isinstance(fit.likelihood, PoissonCounts):
        x = x / np.asarray(fit.likelihood.exposure, dtype=float)
    elif isinstance(fit.likelihood, BinomialCounts):
        x = x / np.asarray(fit.likelihood.trials, dtype=float)
    here = np.argsort(x, kind="stable")[:: max(1, len(x) // CLOUD)]
    here = here[np.isfinite(x[here])]
    ax.vlines(x[here], low[here], high[here], color=HAIR, lw=0.8)
    ax.plot(x[here], found.mean[here, 0], "o", color=BLUE, ms=2.5, mew=0)
    ends = [x[here].min(), x[here].max()]
    ax.plot(ends, ends, color=SOFT, lw=0.6, ls="--")
    ax.set_xlabel(f"{name}, observed")
    ax.set_ylabel("denoised")
    return figure


def write_mixture_report(
    fit: MixtureFit,
    path: str | Path,
    *,
    names: tuple[str, ...],
    read: tuple[str, ...],
    rows: tuple[str, ...] = (),
) -> None:
    """One self-contained page: what was assumed, what was found, and the proof.

    `names` are those of the coordinates, `read` how the file was read, `rows` the names
    of the data.
    """
    parts = [
        numbers(
            [
                (str(len(fit.atoms)), "components"),
                (str(len(fit.data)), f"rows of {', '.join(names)}"),
                (f"{fit.log_likelihood:.7g}", "log-likelihood"),
            ]
        ),
        paragraph(f"Assumed: {fit.assumption}."),
        *(f"<p class='doubt'>Doubt: {html.escape(d)}.</p>" for d in fit.doubts),
        paragraph(
            f"No mixture has a log-likelihood larger by more than {fit.gap:.1e} per "
            f"datum, {fit.proof}."
        ),
        _pictures(fit, names),
        _components(fit, names),
        _denoised(fit, names, rows),
    ]
    if read:
        parts.append(section("How the file was read", listing(read)))
    write_page(path, "A mixture without a number of components", parts)


def _pictures(fit: MixtureFit, names: tuple[str, ...]) -> str:
    whole = plot_mixture(fit, names)
    if fit.atoms.shape[1] > 1:
        words = "Data, the components, and the way of each datum to its posterior mean."
        return gallery(image("The fitted mixture", whole, words))
    words = (
        "Data, components and the proof: a new component would raise the likelihood "
        "only where D is above 1, which is nowhere."
    )
    other = plot_shrinkage(fit, names[0])
    under = "Each datum and its denoised value, with a 90 % interval."
    return gallery(
        image("The fitted mixture", whole, words), image("Denoised", other, under)
    )


def _components(fit: MixtureFit, names: tuple[str, ...]) -> str:
    rows = [
        [f"{w:.4g}", *(float(a) for a in atom)]
        for w, atom in zip(fit.weights, fit.atoms, strict=True)
    ]
    rest = "" if len(rows) <= MOST else paragraph(f"The first {MOST} of {len(rows)}.")
    return section("Components", rest, table(["weight", *names], rows[:MOST]))


def _denoised(fit: MixtureFit, names: tuple[str, ...], rows: tuple[str, ...]) -> str:
    found = fit.posteriors()
    low, high = found.interval(0.9)
    several = np.stack([fit.data, found.mean, low, high], axis=2)[:, :SHOWN]
    labels = rows or tuple(str(k + 1) for k in range(len(fit.data)))
    first = [[labels[i], *several[i].ravel().tolist()] for i in range(len(fit.data))]
    head = [word for name in names[:SHOWN] for word in (name, "mean", "from", "to")]
    words = paragraph(
        "Posterior mean and 90 % interval of the location, with the mixing law taken "
        f"as known; {min(ROWS, len(first))} of {len(first)} rows."
    )
    return section("Each datum, denoised", words, table(["row", *head], first[:ROWS]))
