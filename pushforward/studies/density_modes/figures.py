"""Every figure of the study: how many modes, and where they are."""

import numpy as np
from matplotlib.figure import Figure

from pushforward.plot.style import INK, PALETTE, SOFT, new_figure, styled
from pushforward.studies.density_modes.claims import counts, modes, window
from pushforward.studies.density_modes.study import Parameters
from pushforward.theory import density_modes as theory

N = 1000
MANY, BETA = 10_000, 300.0  # a belt that leaves the center out, and has many modes
END = 5.2
BETAS = (3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0)


def compute_number(p: Parameters) -> dict[str, np.ndarray]:
    """Modes of 1000 points against beta, in the window and on the line."""
    draws, fine = p.draws // 8, np.geomspace(3, 5000, 60)
    line = [counts(N, b, draws, p.seed) for b in BETAS]
    inside = [counts(N, b, draws, p.seed, window(N, b))[0] for b in BETAS]
    return {
        "betas": np.array(BETAS),
        "line": np.array(line).T,
        "inside": np.array(inside),
        "fine": fine,
        "kac": np.array([theory.in_window(b, N) for b in fine]),
        "leading": np.array([theory.leading(b, N) for b in fine]),
    }


@styled
def draw_number(data: dict[str, np.ndarray]) -> Figure:
    """Lines are formulas, points are counted."""
    figure = new_figure(5.2, 3.4)
    ax = figure.subplots()
    ax.loglog(data["fine"], data["kac"], color=PALETTE[0], label="Kac-Rice, window")
    dashed = {"color": SOFT, "ls": (0, (3, 2)), "lw": 1.1}
    ax.plot(data["fine"], data["leading"], **dashed, label="leading order, all")
    style = {"mfc": "white", "ms": 5, "ls": ""}
    ax.plot(
        data["betas"],
        data["inside"],
        "o",
        mec=PALETTE[0],
        **style,
        label="counted, window",
    )
    mean, error = data["line"]
    ax.errorbar(
        data["betas"],
        mean,
        2 * error,
        fmt="s",
        ms=4,
        color=PALETTE[1],
        label="counted, all",
    )
    ax.set_ylim(0.5, 200)
    ax.set_xlabel("β (one over the variance of the kernel)")
    ax.set_ylabel("mean number of modes")
    ax.set_title(f"{N} normal points")
    ax.legend()
    return figure


def compute_place(p: Parameters) -> dict[str, np.ndarray]:
    """Where the modes are, and one estimate."""
    found = modes(MANY, BETA, p.draws // 4, p.seed)
    x = np.random.default_rng(p.seed).normal(size=MANY)  # the first draw
    t = np.linspace(-END, END, 1500)
    kernel = np.exp(-BETA * (t[:, None] - x) ** 2 / 2) * np.sqrt(BETA / (2 * np.pi))
    belt = 2 * np.log(MANY) - np.array([3, 1]) * np.log(BETA)
    return {
        "modes": np.concatenate(found),
        "first": found[0],
        "draws": np.array(len(found)),
        "t": t,
        "estimate": kernel.mean(axis=1),
        "belt": np.sqrt(np.clip(belt, 0, None)),
        "kac": theory.per_length(t, BETA, MANY),
        "window": np.array(window(MANY, BETA)),
    }


@styled
def draw_place(data: dict[str, np.ndarray]) -> Figure:
    """One estimate with its modes; below, where modes are on average."""
    figure = new_figure(6.4, 4.3)
    top, low = figure.subplots(2, 1, sharex=True)
    top.plot(data["t"], data["estimate"], color=PALETTE[0])
    height = np.interp(data["first"], data["t"], data["estimate"])
    top.plot(data["first"], height, "o", ms=4, color=PALETTE[1])
    top.set_yscale("log")
    top.set_ylim(1e-6, 1)
    top.set_ylabel("estimate")
    top.set_title(f"{MANY:,} normal points, β = {BETA:g}: {len(data['first'])} modes")
    bins = np.linspace(-END, END, 53)
    weight = np.full(len(data["modes"]), 1 / (data["draws"] * (bins[1] - bins[0])))
    low.hist(data["modes"], bins, weights=weight, color=PALETTE[5], lw=0)
    inner, outer = data["belt"]
    for sign in (-1, 1):
        low.axvspan(
            *sorted((sign * inner, sign * outer)), color=PALETTE[4], alpha=0.15, lw=0
        )
    valid = np.abs(data["t"]) <= data["window"]
    low.plot(data["t"][valid], data["kac"][valid], color=INK, lw=1.1)
    low.axhline(np.sqrt(1.5 * BETA) / (2 * np.pi), color=INK, lw=0.9, ls=(0, (3, 2)))
    low.set_ylabel("modes per length")
    low.set_xlabel("t")
    low.set_title(
        f"Mean of {int(data['draws'])} draws; line: Kac-Rice; dashed: white noise\n"
        "shaded: the belt, which is sharp for larger n"
    )
    return figure


FIGURES = {
    "number": (compute_number, draw_number),
    "place": (compute_place, draw_place),
}
