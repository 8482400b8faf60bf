"""Every claim; here: random neurons, Knothe-Rosenblatt maps, pieces in closed form."""

import jax
import numpy as np
from scipy.integrate import solve_ivp
from scipy.stats import kstest

import pushforward as pf
from pushforward.control import normalizing
from pushforward.control.normalizing.grids import centers
from pushforward.studies import Claim
from pushforward.studies.normalizing_flows import _approximation
from pushforward.studies.normalizing_flows._runs import (
    DIMENSIONS,
    SWITCHES,
    conditional_flow,
    maurey_errors,
    patients,
    swirled,
    turn_error,
)
from pushforward.studies.normalizing_flows.study import (
    Parameters,
    at_least,
    at_most,
    open_claim,
    paper,
    within,
)

ONE_PIECE = paper("one-piece flow map")


def _single_neurons(p: Parameters):
    """Ten random single pieces, points, and the ODE with its divergence."""
    rng = np.random.default_rng(p.seed)
    worst = np.zeros(2)
    for _ in range(10):
        w, a, x = rng.standard_normal((3, 3))
        b, t1 = rng.standard_normal(), rng.uniform(0.2, 1.0)

        def velocity(_, z, w=w, a=a, b=b):
            s = z[:3] @ a + b
            return np.append(w * max(s, 0.0), (a @ w) * (s > 0))

        ode = solve_ivp(velocity, (0, t1), [*x, 0.0], "DOP853", rtol=1e-12, atol=1e-13)
        flow = pf.NormalizingFlow([w], [a], [b], [t1])
        y, log_det = flow.with_log_det(x[None])
        gaps = np.abs(ode.y[:3, -1] - y[0]).max(), abs(ode.y[3, -1] - log_det[0])
        worst = np.maximum(worst, gaps)
    return worst


def one_piece(p: Parameters):
    """The closed form against an ODE solver."""
    claim = "one neuron: closed form against an ODE solver"
    return at_most(claim, ONE_PIECE, "identity", _single_neurons(p)[0], 1e-9)


def log_jacobian(p: Parameters):
    """With ReLU the increments of the log-Jacobian are constants times indicators."""
    claim = "one neuron: log-determinant c T 1{active} against int div v"
    return at_most(
        claim, paper("theorem (iii)"), "theorem", _single_neurons(p)[1], 1e-9
    )


def monotone_maps(p: Parameters):
    """K slopes, K pieces and a translation."""
    rng = np.random.default_rng(p.seed)
    knots, values = (np.cumsum(rng.exponential(size=32)) for _ in range(2))
    flow = normalizing.monotone_map([1.0, 0.0], knots, values)
    x = np.column_stack([rng.uniform(knots[0], knots[-1], 1000)] * 2)
    exact = np.interp(x[:, 0], knots, values)
    gap = np.abs(np.asarray(flow.forward(x))[:, 0] - exact).max() / exact.max()
    note = f"{flow.pieces} pieces"
    claim = "increasing piecewise-linear map with 32 knots: relative error"
    where = paper("gradients of convex functions")
    return at_most(claim, where, "theorem", gap, 1e-11, note)


def banana(p: Parameters):
    """x_2 given x_1 is N(x_1^2, 1): one shear per knot, error h^2 / 4."""
    h = 0.125
    knots = np.arange(-4, 4 + h / 2, h)
    flow = normalizing.shear([0, 1.0], [1.0, 0], knots, knots**2, given=(0,))
    line = np.linspace(-4, 4, 4097)
    x = np.column_stack([line, 0 * line])
    gap = np.abs(np.asarray(flow.forward(x))[:, 1] - line**2).max()
    claim = "x_2 | x_1 ~ N(x_1^2, 1) with knots 1/8 apart: largest error"
    where, note = paper("conditional flows"), f"{flow.pieces} pieces, 8/h + 1 = 65"
    return within(claim, where, "identity", gap, h**2 / 4, 1e-12, note)


def three_cycle(p: Parameters):
    """R, C, R back, C back cycle three cells and leave the others alone."""
    flow = normalizing.three_cycle(8, (3, 2), p=2, q=4, ramp=1e-4)
    x = centers(8)
    wanted = x.copy()
    column, row = (x * 8).astype(int).T
    wanted[(column == 1) & (row == 2)] = (3.5 / 8, 2.5 / 8)
    wanted[(column == 3) & (row == 2)] = (3.5 / 8, -1.5 / 8)
    gap = np.abs(np.asarray(flow.forward(x)) - wanted).max()
    claim = "commutator of a row and a column shift: a 3-cycle of cells"
    where = paper("permutations of cells")
    return at_most(claim, where, "identity", gap, 1e-9, f"{flow.pieces} pieces")


def volume(p: Parameters):
    """Permutation pieces are shears."""
    x = np.random.default_rng(p.seed).uniform(size=(2000, 2))
    log_det = np.abs(np.asarray(swirled(8).with_log_det(x)[1])).max()
    claim = "largest |log det| of the 912 pieces of a permutation"
    return within(claim, paper("permutations of cells"), "identity", log_det, 0.0, 0.0)


def thin_ramps(p: Parameters):
    """Pieces of a strip are summed before they are added: no digits are lost."""
    target = np.random.default_rng(p.seed).permutation(256)
    flow = normalizing.permutation(target, ramp=1e-9)
    x = centers(16)
    gap = np.abs(np.asarray(flow.forward(x)) - x[target]).max()
    claim = "random permutation of 256 cells, ramps of 1e-9 cells: error at centers"
    note = "one piece after the other would lose 1e-16 A / delta = 1e-7 per shift"
    where = paper("permutations of cells")
    return at_most(claim, where, "experiment", gap, 1e-12, note)


def cells_in_space(p: Parameters):
    """Nested commutators move single cells in dimension 3."""
    target = np.random.default_rng(p.seed).permutation(27)
    flow = normalizing.permutation(target, d=3)
    x = centers(3, 3)
    gap = np.abs(np.asarray(flow.forward(x)) - x[target]).max()
    claim = "random permutation of 27 cells of the cube, by pairs of coordinates"
    note = f"{flow.pieces} pieces: 64 per commutator of commutators, 16 to align"
    where = paper("permutations of cells")
    return at_most(claim, where, "identity", gap, 1e-12, note)


def round_trip(p: Parameters):
    """Every piece is inverted in closed form."""
    x = np.random.default_rng(p.seed).uniform(size=(2000, 2))
    flow = swirled(16)
    gap = np.abs(np.asarray(flow.inverse(flow.forward(x))) - x).max()
    claim = "3,792 pieces forward and back"
    return at_most(claim, ONE_PIECE, "identity", gap, 1e-9)


WHERE = paper("theorem (ii)")


def maurey_slope(d: int):
    """The error of random switching falls like N^{-1/2} in dimension d."""

    def claim(p: Parameters) -> Claim:
        errors = maurey_errors(d, p.repetitions)
        slope = np.polyfit(np.log(SWITCHES), np.log(errors), 1)[0]
        text = f"random neurons, d = {d}: slope of log error, N = 64 to 4096"
        return within(text, WHERE, "theorem", slope, -0.5, 0.07)

    return claim


def in_turn(p: Parameters):
    """All neurons in turn, every second round backward: second order."""
    rounds = np.array([4, 8, 16, 32])
    errors = [turn_error(10, int(r)) for r in rounds]
    slope = np.polyfit(np.log(rounds), np.log(errors), 1)[0]
    note = (
        "in one fixed order the error is O(1/rounds); turning around "
        f"gains an order. Error {errors[-1]:.1e} with 1,280 pieces"
    )
    claim = "40 neurons in turn, forth and back: slope of log error against rounds"
    return within(claim, WHERE, "experiment", slope, -2.0, 0.2, note)


def curved_law(p: Parameters):
    """A Knothe-Rosenblatt map learned from samples of a known law."""
    rng = np.random.default_rng(p.seed)

    def draw(n):
        x = rng.standard_normal(n)
        return np.column_stack([x, x**2 + np.exp(0.4 * x) * rng.standard_normal(n)])

    learn, test = draw(500), draw(2000)
    flow = normalizing.knothe_rosenblatt(learn, key=jax.random.key(p.seed))
    found = float(np.asarray(flow.log_density(test)).mean())
    z = test.copy()
    z[:, 1] = (test[:, 1] - test[:, 0] ** 2) * np.exp(-0.4 * test[:, 0])
    law = pf.StandardNormal().log_density(z) - 0.4 * test[:, 0]
    gap = float(np.asarray(law).mean()) - found
    claim = "500 samples of a bent law: held-out log-likelihood below the truth by"
    note = f"{flow.pieces} pieces; Knothe-Rosenblatt from samples"
    return at_most(claim, WHERE, "experiment", gap, 0.2, note)


def patients_likelihood(p: Parameters):
    """The conditional sampler against a linear Gaussian model, on held-out patients."""
    learn, test = patients()
    flow = conditional_flow(p.seed)
    found = float(np.asarray(flow.log_density(test)).mean())
    design = [np.column_stack([np.ones(len(x)), x[:, :2]]) for x in (learn, test)]
    fit, residual, *_ = np.linalg.lstsq(design[0], learn[:, 2], rcond=None)
    s = np.sqrt(residual[0] / len(learn))
    gap = (test[:, 2] - design[1] @ fit) / s
    linear = float((-0.5 * gap**2 - np.log(s) - 0.5 * np.log(2 * np.pi)).mean())
    claim = "diabetes given body mass and triglycerides: log-likelihood, held out"
    note = f"{flow.pieces} pieces; the bound is linear regression with Gaussian noise"
    return at_least(
        claim, paper("conditional flows"), "experiment", found, linear, note
    )


def patients_calibration(p: Parameters):
    """Held-out patients, carried back, are Gaussian."""
    _, test = patients()
    z = np.asarray(conditional_flow(p.seed).inverse(test))[:, 2]
    claim = "held-out patients carried back: Kolmogorov distance to the Gaussian"
    bound, gap = 1.36 / np.sqrt(len(z)), float(kstest(z, "norm").statistic)
    note = "the bound is the 95 % quantile for perfectly calibrated draws"
    where = paper("conditional flows")
    return at_most(claim, where, "experiment", gap, bound, note)


def untouched(p: Parameters):
    """Conditioned coordinates come out as they went in, bit for bit."""
    _, test = patients()
    flow = conditional_flow(p.seed)
    drawn = flow.sample(jax.random.key(p.seed), len(test), given=test[:, :2])
    moved = np.abs(np.asarray(drawn)[:, :2] - test[:, :2]).max()
    claim = "conditional sampler: how far the conditioned coordinates move"
    return within(claim, paper("conditional flows"), "identity", moved, 0.0, 0.0)


def barron_norms(p: Parameters):
    """Which laws have Knothe-Rosenblatt maps with Barron velocities."""
    claim = "Knothe-Rosenblatt maps of smooth laws are flows of Barron velocities"
    why = "the norm and its bound are not available; only the rate is measured"
    return open_claim(claim, WHERE, "theorem", why)


CLAIMS = (
    one_piece,
    log_jacobian,
    monotone_maps,
    banana,
    three_cycle,
    volume,
    thin_ramps,
    cells_in_space,
    round_trip,
    *_approximation.CLAIMS,
    *(maurey_slope(d) for d in DIMENSIONS),
    in_turn,
    curved_law,
    patients_likelihood,
    patients_calibration,
    untouched,
    barron_norms,
)
