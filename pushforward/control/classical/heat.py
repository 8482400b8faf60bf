"""Heat equations ready for control; the stationary cubic one, with its two optima."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.linalg import solve_banded
from scipy.optimize import brentq, minimize_scalar

from pushforward._checks import above_zero
from pushforward.control._checks import count, finite
from pushforward.control.classical.evolution import Evolution, Reaction, no_reaction
from pushforward.errors import InputError, NumericalError


def interior_heat(
    n: int,
    *,
    omega: tuple[float, float] = (0.0, 1.0),
    beta: float = 1.0,
    target: float = 1.0,
    reaction: Reaction | None = None,
) -> Evolution:
    """y_t = y_xx - f(y) + u 1_omega on (0, 1), Dirichlet, n interior nodes.

    Cost 1/2 int beta |y - target|^2 + |u|^2 with the norms of L2(0, 1), by
    three-point differences. Nodes on the boundary of `omega` are controlled.

    >>> round(interior_heat(99).rate(), 5)
    9.91933
    """
    n = count("n", n, 2)
    beta = above_zero("beta", beta, "It weighs the tracking term.")
    low, high = _interval(omega)
    h = 1.0 / (n + 1)
    x = h * np.arange(1, n + 1)
    inside = (x >= low - 1e-12) & (x <= high + 1e-12)
    if not inside.any():
        raise InputError(f"`omega` {omega} contains no node; raise `n` (now {n}).")
    one = sp.identity(n, format="csr")
    second = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n), format="csr")
    B = h * one[:, np.flatnonzero(inside)]
    return Evolution(
        mass=h * one,
        stiffness=(second / h).tocsr(),
        B=B.tocsr(),
        tracking=beta * h * one,
        R=h * sp.identity(B.shape[1], format="csr"),
        z=np.full(n, float(finite("target", target))),
        reaction=no_reaction() if reaction is None else reaction,
    )


def boundary_heat(n: int, *, target: float = 1.0) -> Evolution:
    """y_t = y_xx on (0, 1), y(0) = 0, y_x(1) = u: n linear finite elements.

    Cost 1/2 int |y - target|^2 + u^2. The exact rate is
    `theory.turnpike.boundary_heat_rate()`; the elements err by O(n^-2).
    """
    n = count("n", n, 2)
    target = float(finite("target", target))
    h = 1.0 / n
    ends = np.full(n, 2.0)
    ends[-1] = 1.0
    side = np.ones(n - 1)
    stiffness = (_tridiagonal(-side, ends) / h).tocsr()
    mass = _tridiagonal(side, 2 * ends) * (h / 6)
    B = sp.csr_matrix(([1.0], ([n - 1], [0])), shape=(n, 1))
    # the load of a constant target includes the node at 0, where y is fixed
    load = h * np.ones(n)
    load[-1] = h / 2
    z = target * sp.linalg.spsolve(mass.tocsc(), load)
    return Evolution(
        mass=mass,
        stiffness=stiffness,
        B=B,
        tracking=mass,
        R=sp.identity(1, format="csr"),
        z=z,
        reaction=no_reaction(),
        floor=0.5 * (target**2 - float(z @ (mass @ z))),
    )


def _interval(omega: tuple[float, float]) -> tuple[float, float]:
    low, high = finite("omega", omega, (2,))
    if not 0 <= low < high <= 1:
        raise InputError(
            f"`omega` must be an interval inside [0, 1], got {omega}; try (0.25, 0.75)."
        )
    return float(low), float(high)


def _tridiagonal(side: np.ndarray, middle: np.ndarray) -> sp.csr_matrix:
    dense = np.diag(middle) + np.diag(side, 1) + np.diag(side, -1)
    return sp.csr_matrix(dense)


def square_heat(
    refinements: int,
    *,
    omega: tuple[float, float] = (0.0, 0.5),
    beta: float = 1.0,
    target: float = 1.0,
    diffusivity: float = 1.0,
    reaction: Reaction | None = None,
) -> tuple[Evolution, np.ndarray]:
    """Heat on the unit square, control where omega[0] <= x <= omega[1].

    Linear triangles by scikit-fem on a uniform mesh refined `refinements` times,
    Dirichlet boundary. Returns the problem and the coordinates (n, 2) of its
    interior nodes. Needs `pip install "pushforward[control]"`.
    """
    try:
        import skfem
        from skfem.models.poisson import laplace
        from skfem.models.poisson import mass as mass_form
    except ImportError as error:
        raise InputError(
            'square_heat needs scikit-fem: pip install "pushforward[control]".'
        ) from error
    low, high = _interval(omega)
    target = float(finite("target", target))
    mesh = skfem.MeshTri().refined(count("refinements", refinements))
    basis = skfem.Basis(mesh, skfem.ElementTriP1())
    inner = basis.complement_dofs(basis.get_dofs())
    K = laplace.assemble(basis)[inner][:, inner].tocsr()
    full = mass_form.assemble(basis)
    M = full[inner][:, inner].tocsr()
    points = mesh.p[:, inner].T
    held = (points[:, 0] >= low - 1e-12) & (points[:, 0] <= high + 1e-12)
    if not held.any():
        raise InputError(
            f"`omega` {omega} contains no node; raise `refinements` (now "
            f"{refinements})."
        )
    columns = np.flatnonzero(held)
    load = full[inner] @ np.ones(full.shape[1])
    z = target * sp.linalg.spsolve(M.tocsc(), load)
    problem = Evolution(
        mass=M,
        stiffness=above_zero("diffusivity", diffusivity, "It scales y_xx.") * K,
        B=M[:, columns].tocsr(),
        tracking=above_zero("beta", beta, "It weighs the tracking term.") * M,
        R=M[columns][:, columns].tocsr(),
        z=z,
        reaction=no_reaction() if reaction is None else reaction,
        floor=0.5 * beta * (target**2 - float(z @ (M @ z))),
    )
    return problem, points


@dataclass(frozen=True)
class CubicBoundary:
    """-y'' + y^3 = 0 on (0, 1), y(0) = y(1) = v, on n interior nodes.

    Cost J(v) = v^2 + (beta/2) int (y - z)^2, z = outer on the outer quarters and
    `middle` on the middle half. Costs are returned minus the constant
    (beta/2) int z^2, which for large targets hides everything else.
    [geshkovski2022turnpike]
    """

    n: int
    beta: float = 1.0
    outer: float = 86.5534
    middle: float = -100.0

    def __post_init__(self):
        count("n", self.n, 3)
        above_zero("beta", self.beta, "It weighs the tracking term.")
        finite("outer", self.outer)
        finite("middle", self.middle)

    @property
    def nodes(self) -> np.ndarray:
        """The n + 2 nodes, ends included."""
        return np.linspace(0.0, 1.0, self.n + 2)

    def state(self, v: float, guess: np.ndarray | None = None) -> np.ndarray:
        """y on all nodes for the boundary value v, by Newton with damping."""
        h = 1.0 / (self.n + 1)
        y = _profile(self.nodes, v)[1:-1] if guess is None else guess[1:-1].copy()
        ends = np.zeros(self.n)
        ends[[0, -1]] = v / h**2
        band = np.full((3, self.n), -1.0 / h**2)
        for _ in range(200):
            curved = 2 * y / h**2 + y**3 - ends
            curved[1:] -= y[:-1] / h**2
            curved[:-1] -= y[1:] / h**2
            band[1] = 2 / h**2 + 3 * y**2
            step = solve_banded((1, 1), band, curved)
            y = y - step
            if np.max(np.abs(step)) < 1e-11 * (1 + abs(v)):
                return np.concatenate([[v], y, [v]])
        raise NumericalError(f"the cubic equation at v = {v} did not converge.", y)

    def cost(self, v: float) -> float:
        """J(v) - (beta/2) int z^2, trapezoid rule split at the jumps of z."""
        x, y = self.nodes, self.state(v)
        whole = np.trapezoid(y * y, x)
        centre = _integral(x, y, 0.25, 0.75)
        rest = np.trapezoid(y, x) - centre
        cross = self.outer * rest + self.middle * centre
        return float(v * v + self.beta * (0.5 * whole - cross))

    def minimum(self, low: float, high: float) -> tuple[float, float]:
        """Boundary value and cost of the best v in [low, high]."""
        best = minimize_scalar(
            self.cost, bounds=(low, high), method="bounded", options={"xatol": 1e-9}
        )
        return float(best.x), float(best.fun)


def tie(
    n: int,
    *,
    beta: float = 1.0,
    middle: float = -100.0,
    bracket: tuple[float, float] = (80.0, 95.0),
) -> tuple[float, float, float, float]:
    """Outer target for which a positive and a negative v cost the same.

    Returns (outer, v_plus, v_minus, cost): at this target the stationary optimum
    is not unique. `bracket` encloses the outer target.
    """

    def gap(outer: float) -> float:
        problem = CubicBoundary(n, beta, outer, middle)
        return problem.minimum(0.5, 60.0)[1] - problem.minimum(-20.0, 0.0)[1]

    outer = float(brentq(gap, bracket[0], bracket[1], xtol=1e-10))
    problem = CubicBoundary(n, beta, outer, middle)
    plus, cost = problem.minimum(0.5, 60.0)
    minus, _ = problem.minimum(-20.0, 0.0)
    return outer, plus, minus, cost


def _profile(x: np.ndarray, v: float) -> np.ndarray:
    """A starting guess: the decaying solution sqrt(2)/(s + s0) from either end."""
    if v == 0:
        return np.zeros_like(x)
    offset = np.sqrt(2) / abs(v)
    distance = np.minimum(x, 1 - x)
    return np.sign(v) * np.sqrt(2) / (distance + offset)


def _integral(x: np.ndarray, y: np.ndarray, low: float, high: float) -> float:
    """Trapezoid integral of the piecewise linear y over [low, high]."""
    inner = (x > low) & (x < high)
    xs = np.concatenate([[low], x[inner], [high]])
    return float(np.trapezoid(np.interp(xs, x, y), xs))
