"""Progression of diabetes given two measurements: a conditional sampler."""

import jax
import numpy as np
from matplotlib.figure import Figure
from scipy.stats import norm

from pushforward.plot.style import DEPTHS, INK, PALETTE, SOFT, new_figure, styled
from pushforward.studies.normalizing_flows._runs import conditional_flow, patients
from pushforward.studies.normalizing_flows.study import Parameters

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)


def compute_patients(p: Parameters) -> dict[str, np.ndarray]:
    """Conditional quantiles along body mass, densities, and held-out ranks."""
    learn, test = patients()
    flow = conditional_flow(p.seed)
    # quantiles are images of Gaussian quantiles: the map is increasing
    ends = np.quantile(learn[:, 0], [0.02, 0.98])
    mass = np.linspace(ends[0], ends[1], 120)
    middle = np.median(learn[:, 1])
    start = np.array([[m, middle, norm.ppf(q)] for q in LEVELS for m in mass])
    quantiles = np.asarray(flow.forward(start))[:, 2].reshape(len(LEVELS), -1)
    grid = np.linspace(0, 380, 400)
    cases = np.quantile(learn[:, :2], [0.1, 0.5, 0.9], axis=0)
    rows = np.array([[*case, y] for case in cases for y in grid])
    densities = np.exp(np.asarray(flow.log_density(rows))).reshape(3, -1)
    drawn = np.asarray(flow.sample(jax.random.key(p.seed), len(test), test[:, :2]))
    ranks = norm.cdf(np.asarray(flow.inverse(test))[:, 2])
    return {
        "learn": learn,
        "test": test,
        "drawn": drawn,
        "mass": mass,
        "quantiles": quantiles,
        "grid": grid,
        "cases": cases,
        "densities": densities,
        "ranks": np.sort(ranks),
    }


@styled
def draw_patients(data: dict[str, np.ndarray]) -> Figure:
    """Bands, densities of three patients, and calibration on held-out patients."""
    figure = new_figure(10.2, 3.2)
    bands, lines, ranks = figure.subplots(1, 3, width_ratios=[1.35, 1, 0.9])
    low, inner_low, middle, inner_high, high = data["quantiles"]
    mass = data["mass"]
    bands.fill_between(mass, low, high, color=DEPTHS(0.18), lw=0, label="90 %")
    bands.fill_between(
        mass, inner_low, inner_high, color=DEPTHS(0.42), lw=0, label="50 %"
    )
    bands.plot(mass, middle, color=PALETTE[0], label="median")
    bands.plot(
        *data["test"][:, [0, 2]].T, ".", ms=4, color=INK, label="held-out patients"
    )
    bands.set_xlabel("body mass index")
    bands.set_ylabel("progression after one year")
    bands.set_title("given median triglycerides")
    bands.legend(loc="upper left", ncols=2)
    bands.set_ylim(0, 440)
    for k, (case, density) in enumerate(
        zip(data["cases"], data["densities"], strict=True)
    ):
        label = f"bmi {case[0]:.1f}, s5 {case[1]:.2f}"
        lines.plot(data["grid"], density, color=PALETTE[k], lw=1.1, label=label)
    lines.set_xlabel("progression")
    lines.set_ylabel("conditional density")
    lines.set_ylim(0, None)
    lines.legend()
    n = len(data["ranks"])
    share = (np.arange(n) + 0.5) / n
    ranks.plot([0, 1], [0, 1], color=SOFT, lw=0.8, ls=(0, (3, 3)))
    ranks.plot(data["ranks"], share, color=PALETTE[0], drawstyle="steps-mid")
    ranks.set_aspect("equal")
    ranks.set_xlabel("rank under the flow")
    ranks.set_ylabel("share of held-out patients")
    ranks.set_title("calibration")
    return figure


FIGURES = {"patients": (compute_patients, draw_patients)}
