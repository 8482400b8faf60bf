"""Every figure of the study: regret of denoisers, and risk against depth."""

import numpy as np
from matplotlib.figure import Figure

from pushforward.plot.style import INK, PALETTE, SOFT, new_figure, styled
from pushforward.studies.empirical_bayes import runs
from pushforward.studies.empirical_bayes.study import A, Parameters
from pushforward.theory import empirical_bayes as theory

PRIORS = ("two points", "uniform")
DEPTHS = np.array([0.0, 0.2, 0.4, 0.5, 0.55, 0.6, 0.7])
BETAS = (2.0, 4.0, 16.0)
TICKS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2)


def compute_regret(p: Parameters) -> dict[str, np.ndarray]:
    """Regret of every method under both priors."""
    return {
        prior: np.array(
            [
                runs.regret(name, prior, p.tokens, p.draws, p.seed)
                for name in runs.METHODS
            ]
        )
        for prior in PRIORS
    }


@styled
def draw_regret(data: dict[str, np.ndarray]) -> Figure:
    """One panel per prior; the better, the further left."""
    figure = new_figure(7.4, 2.7)
    names = list(runs.METHODS)
    for ax, prior in zip(figure.subplots(1, 2, sharey=True), PRIORS, strict=True):
        mean, error = data[prior].T
        for k in range(len(names)):
            style = {"fmt": "o", "ms": 5, "color": PALETTE[k], "capsize": 3}
            ax.errorbar(mean[k], k, xerr=2 * error[k], **style)
        ax.set_xscale("log")
        ax.set_xticks(TICKS, [f"{x:g}" for x in TICKS])
        ax.set_yticks(range(len(names)), [x.replace("beta", "β") for x in names])
        ax.set_ylim(len(names) - 0.5, -0.5)
        ax.minorticks_off()
        ax.set_xlabel("regret over Bayes")
        ax.set_title({"two points": "θ = ±2", "uniform": "θ uniform on [−3, 3]"}[prior])
        ax.grid(axis="x")
    figure.suptitle("With the depth tuned to the prior, attention ties with the NPMLE")
    return figure


def compute_depth(p: Parameters) -> dict[str, np.ndarray]:
    """Risk of two stages against depth, many tokens; one step against beta."""
    betas = np.geomspace(0.2, 30, 60)
    data = {
        "betas": betas,
        "one step": np.array([theory.one_step_risk(float(b), A) for b in betas]),
        "tweedie": np.array([theory.tweedie_risk(float(b), A) for b in betas]),
        "bayes": np.array(theory.bayes_risk(A)),
    }
    for beta in BETAS:
        risks = [runs.mean_field_risk(beta, float(t), 600) for t in DEPTHS]
        data[f"depth {beta:g}"] = np.array(risks)
    return data


@styled
def draw_depth(data: dict[str, np.ndarray]) -> Figure:
    """Left: one layer. Right: depth as refinement of the prior."""
    figure = new_figure(7.4, 3.0)
    left, right = figure.subplots(1, 2, sharey=True)
    left.semilogx(data["betas"], data["one step"], color=PALETTE[0], label="one step")
    left.plot(
        data["betas"], data["tweedie"], color=PALETTE[1], label="residual (Tweedie)"
    )
    left.set_xlabel("β")
    left.set_ylabel("risk")
    left.set_title("One layer, n = ∞, θ = ±2")
    for k, beta in enumerate(BETAS):
        risk = data[f"depth {beta:g}"]
        right.plot(DEPTHS, risk, "o-", ms=4, color=PALETTE[k], label=f"β = {beta:g}")
    right.set_xlabel("depth T of stage one")
    right.set_title("Two stages")
    for ax in (left, right):
        ax.axhline(data["bayes"], color=SOFT, ls=(0, (3, 2)), lw=1.0)
        ax.legend()
    left.text(0.2, float(data["bayes"]) - 0.045, "Bayes", color=INK, size=8)
    left.set_ylim(0.2, 1.0)
    return figure


FIGURES = {
    "regret": (compute_regret, draw_regret),
    "depth": (compute_depth, draw_depth),
}
