"""What is exact: one neuron, monotone maps, shears, cycles and determinants."""

import numpy as np
from scipy.integrate import solve_ivp

import pushforward as pf
from pushforward.control import normalizing
from pushforward.control.normalizing.grids import centers
from pushforward.studies.normalizing_flows._runs import swirled
from pushforward.studies.normalizing_flows.study import (
    Parameters,
    at_most,
    paper,
    within,
)

WHERE = paper("one-piece flow map")


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
    return at_most(claim, WHERE, "identity", _single_neurons(p)[0], 1e-9)


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
    return at_most(claim, WHERE, "identity", gap, 1e-9)


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
)
