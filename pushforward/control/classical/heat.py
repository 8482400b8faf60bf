"""Heat equations ready for control: interior, boundary, semilinear, square domain."""

import numpy as np
import scipy.sparse as sp

from pushforward._checks import above_zero
from pushforward.control._checks import count, finite
from pushforward.control.classical.evolution import Evolution, Reaction, no_reaction
from pushforward.errors import InputError


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
