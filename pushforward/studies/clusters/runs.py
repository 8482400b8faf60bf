"""The runs behind figures and claims, as experiments: the first of every kind."""

import numpy as np

import pushforward as pf
from pushforward.studies import Preset
from pushforward.studies.clusters import _hardmax, _hyperplanes, _line, claims
from pushforward.studies.clusters import _polytope as polytope
from pushforward.studies.clusters._hyperplanes import clearest, gram
from pushforward.studies.clusters._line import FIVE, LONG
from pushforward.studies.clusters._systems import (
    CODIMENSION,
    PLANE,
    SPACE,
    TIGHT,
    along,
    along_rescaled,
    cube,
)
from pushforward.studies.clusters.study import Parameters

SHOWN = {
    "leaders": ("leaders", "few_leaders"),
    "collapse": ("collapse",),
    "hardmax": ("hardmax-cells", "closed_form", "cells_kept"),
    "polytope-plane": ("hull_shrinks", "rate"),
    "line": ("gaps_grow",),
    "product": ("product",),
}


def experiments(p: Parameters) -> dict[str, pf.Experiment]:
    """The line, polytopes, hyperplanes, leaders, collapse, the hardmax limit."""
    flats = _hyperplanes.CASES | _hyperplanes.SUBSPACES
    rescaled = {
        **{f"polytope-{c}": polytope.systems(p, c)[0] for c in polytope.CASES},
        **{f"hyperplanes-{c}": _hyperplanes.systems(p, c)[0] for c in flats},
        "product": _hyperplanes.products(p)[0],
        "leaders": _hyperplanes.leading(p, _hyperplanes.clearest(p)),
    }
    hard = _hardmax.start(p)
    return {
        "line": along_rescaled(*_line.escaping(p), solver=TIGHT),
        **{name: along_rescaled(*system) for name, system in rescaled.items()},
        "collapse": along(claims.FIELD, claims.start(p), claims.TIMES, solver=TIGHT),
        "hardmax": along(_hardmax.HARD, hard, _hardmax.TIMES, solver=TIGHT),
    }


def states(p: Parameters) -> tuple[Preset, ...]:
    """Polytope, hyperplanes, subspaces, the Boolean limit."""
    base = {"model": "rescaled", "n": p.tokens, "beta": 1.0, "seed": p.seed, "t1": 10.0}
    return (*_polytopes(base), *_flats(base), _boolean_limit(base), _leaders(p, base))


def _polytopes(base: dict) -> tuple[Preset, ...]:
    """V = I on all of the space, or on a part of it."""
    return (
        Preset(
            "polytope-plane",
            "Polytope: V = I in the plane",
            "Rescaled tokens go to the vertices of a polygon.",
            {**base, "d": 2, "t1": 5.0},
        ),
        Preset(
            "polytope-space",
            "Polytope: V = I in space",
            "Rescaled tokens go to the vertices of a polytope.",
            {**base, "d": 3, "t1": 5.0},
        ),
        Preset(
            "product",
            "Polygon times a line: V = diag(1, 1, -1/2)",
            "In the plane of V = I tokens go to a polygon; across it they run free.",
            {**base, "d": 3, "V": [1.0, 1.0, -0.5], "t1": 6.0},
        ),
    )


def _flats(base: dict) -> tuple[Preset, ...]:
    """Eigenvalues that grow freeze their forms."""
    return (
        Preset(
            "hyperplanes-plane",
            "Hyperplanes: the stored matrix of the plane",
            "With one growing eigenvalue tokens go to at most three parallel lines.",
            {**base, "d": 2, "V": PLANE.tolist()},
        ),
        Preset(
            "hyperplanes-space",
            "Hyperplanes: the stored matrix in space",
            "With one growing eigenvalue tokens go to at most three parallel planes.",
            {**base, "d": 3, "V": SPACE.tolist()},
        ),
        Preset(
            "subspaces",
            "Subspaces: two growing eigenvalues",
            "Two forms freeze: tokens go to parallel lines in space.",
            {**base, "d": 3, "V": CODIMENSION.tolist(), "t1": 30.0},
        ),
    )


def _boolean_limit(base: dict) -> Preset:
    """Tokens of a line through 0, in the plane: with V = I they stay on it."""
    moved = [[i, [x, 0.0]] for i, x in enumerate(FIVE.tolist())]
    return Preset(
        "boolean-limit",
        "Boolean limit: five tokens of a line",
        "All rows of attention but at most one come to point at the ends.",
        {**base, "n": len(FIVE), "d": 2, "moved": moved, "t1": LONG},
    )


def _leaders(p: Parameters, base: dict) -> Preset:
    """With Q = K = A the tokens y = A x have Q = K = I and the values A V A^{-1}."""
    V, A = gram(p, clearest(p))
    start = cube(p, "leaders", 2, 20)[0] @ A
    return Preset(
        "leaders",
        "Leaders: random Gram matrices in the plane",
        "All attention comes to go to at most three tokens; drawn as the queries A x.",
        {
            **base,
            "n": 20,
            "d": 2,
            "V": (A @ V @ np.linalg.inv(A)).tolist(),
            "moved": [[i, y] for i, y in enumerate(start.tolist())],
        },
    )
