"""The objectives reached by every solver, beside those of the first prototypes.

python -m benchmarks.prototypes            # six seeds, about ten minutes on two cores
python -m benchmarks.prototypes --seeds 1  # the first seed only
python -m benchmarks.prototypes --json     # rows as JSON

The data, starts and budgets are those of the prototypes: circles and moons of sixty
points drawn by numpy's default_rng(0), lifted to R^3, OUT, explicit midpoint, T = 10,
40 layers, lam = 0.01, controls 0.1 N(0, 1) from PRNGKey(seed). Training is not convex,
so a row is a median with its range. Seconds are wall seconds of one run after
compilation; the prototypes' include it.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import pushforward  # noqa: F401  (64 bits)
from benchmarks.control import HORIZON, problem
from pushforward.control import (
    ILQR,
    LBFGS,
    Adam,
    AdamThenLBFGS,
    LevenbergMarquardt,
    Parameters,
    Squared,
    SquaredHinge,
    TrainingProblem,
    WeightsOutside,
    optimize,
    target_problem,
)
from pushforward.control.neural.families import relu
from pushforward.control.neural.targets import circles, moons

LAYERS = 40


class Recipe(NamedTuple):
    """A training problem, and the constant by which its J exceeds the prototypes'."""

    problem: TrainingProblem
    surplus: float


def recipe(data, activation, loss, tracked: bool) -> Recipe:
    """A row of the prototypes' table.

    They sum the risk at layer ends. The trapezoid rule plus half a layer of final
    cost is the same sum plus half a layer of the risk at rest, which is constant.
    """
    half = 0.5 * HORIZON / LAYERS
    tracking, final = (1.0, half) if tracked else (0.0, 1.0)
    made = problem(data, activation, loss, LAYERS, tracking, final)
    rest = float(made.risk(made.zero())[0])
    return Recipe(made, half * rest if tracked else 0.0)


def start(problem: TrainingProblem, seed: int) -> Parameters:
    """0.1 N(0, 1), drawn as (layers, d, d + 1) blocks (w, b)."""
    d = problem.family.d
    blocks = 0.1 * jax.random.normal(
        jax.random.PRNGKey(seed), (problem.layers, d, d + 1)
    )
    weights = blocks[:, :, :d].reshape(problem.layers, d * d)
    return Parameters(jnp.concatenate([weights, blocks[:, :, d]], axis=1), None)


ERM, TRACKED = "final loss", "tracking"
SIX: dict[str, Callable[[], Recipe]] = {
    f"circles, {ERM}, ReLU, squared hinge": lambda: recipe(
        circles(0), relu, SquaredHinge(), False
    ),
    f"circles, {TRACKED}, ReLU, squared hinge": lambda: recipe(
        circles(0), relu, SquaredHinge(), True
    ),
    f"circles, {ERM}, tanh, squared": lambda: recipe(
        circles(0), jnp.tanh, Squared(), False
    ),
    f"circles, {TRACKED}, tanh, squared": lambda: recipe(
        circles(0), jnp.tanh, Squared(), True
    ),
}
SOLVERS = {"L-BFGS": LBFGS(), "Adam": Adam(), "Adam + L-BFGS": AdamThenLBFGS()}

# median, least, largest, seconds; in the order of SIX and SOLVERS
PROTOTYPES = (
    (
        (0.0208, 0.0167, 0.1938, 12),
        (0.0407, 0.0353, 0.1903, 2),
        (0.0167, 0.0167, 0.1892, 10),
    ),
    (
        (5.1369, 0.5998, 5.1369, 9),
        (3.1666, 3.0716, 5.1369, 3),
        (0.6021, 0.5998, 5.1369, 11),
    ),
    (
        (0.0428, 0.0383, 0.0441, 13),
        (0.0437, 0.0403, 0.0485, 2),
        (0.0426, 0.0401, 0.0472, 11),
    ),
    (
        (0.9485, 0.8102, 1.0416, 20),
        (0.9665, 0.9056, 1.0749, 3),
        (0.9312, 0.8149, 1.0272, 12),
    ),
)


def six_seeds(seeds: int) -> Iterator[dict]:
    """First-order solvers on the circles, several seeds each."""
    for (work, build), known in zip(SIX.items(), PROTOTYPES, strict=True):
        made = build()
        for (name, solver), theirs in zip(SOLVERS.items(), known, strict=True):
            yield row(work, name, made, solver, range(seeds), theirs)


def one_seed() -> Iterator[dict]:
    """Second-order solvers, seed 0, and the two problems that all solvers solve."""
    gauss_newton = {"iLQR": ILQR(), "Levenberg-Marquardt": LevenbergMarquardt()}
    values = {
        f"circles, {ERM}, tanh, squared": (0.0408, 0.0411),
        f"circles, {ERM}, ReLU, squared hinge": (0.01672, 0.189),
        f"circles, {TRACKED}, tanh, squared": (0.934, 0.940),
    }
    for work, known in values.items():
        for (name, solver), value in zip(gauss_newton.items(), known, strict=True):
            theirs = (value, value, value, 140)
            yield row(work, name, SIX[work](), solver, (0,), theirs)
    made = recipe(moons(0), jnp.tanh, Squared(), False)
    for name, seconds in (("L-BFGS", 4), ("Adam", 3), ("Adam + L-BFGS", None)):
        theirs = (0.026143, 0.026143, 0.026143, seconds)
        yield row(
            f"moons, {ERM}, tanh, squared", name, made, SOLVERS[name], (0,), theirs
        )
    yield row(
        "three points, tracking, tanh, T = 40, 800 layers",
        "iLQR",
        three_points(),
        ILQR(),
        (0,),
        (0.563201, 0.563201, 0.563201, 7),
    )


def three_points() -> Recipe:
    """Three particles to fixed targets in the plane, lam = 1/2."""
    problem = target_problem(
        WeightsOutside(2),
        ((0.3, -0.2), (-0.4, 0.5), (0.6, 0.7)),
        ((1.0, 0.2), (-0.5, 1.0), (0.8, 1.6)),
        lam=0.5,
        horizon=40.0,
        layers=800,
        final=0.0,
    )
    return Recipe(problem, 0.0)


def row(work: str, name: str, made: Recipe, solver, seeds, theirs) -> dict:
    """Median, range and seconds of one solver, beside the prototype's."""
    problem, surplus = made
    runs = []
    for k, seed in enumerate([seeds[0], *seeds]):  # the first run compiles
        key = jax.random.PRNGKey(seed)
        run = optimize(problem, solver=solver, start=start(problem, seed), key=key)
        if k:
            runs.append((run.objective - surplus, run.seconds))
    values, seconds = np.array(runs).T
    return {
        "work": work,
        "solver": name,
        "seeds": len(seeds),
        "ours": [float(f(values)) for f in (np.median, np.min, np.max)],
        "values": [float(v) for v in values],
        "our seconds": float(np.mean(seconds)),
        "prototype": list(theirs[:3]),
        "prototype seconds": theirs[3],
    }


def line(row: dict) -> str:
    """One row of a Markdown table."""

    def shown(values) -> str:
        middle, low, high = (f"{v:.4f}" for v in values)
        return middle if low == high else f"{middle} [{low}, {high}]"

    theirs = row["prototype seconds"]
    return (
        f"| {row['work']} | {row['solver']} | {shown(row['prototype'])} | "
        f"{shown(row['ours'])} | {'-' if theirs is None else theirs} | "
        f"{row['our seconds']:.1f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.prototypes",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seeds", type=int, default=6, help="how many seeds")
    parser.add_argument("--json", action="store_true", help="rows as JSON")
    options = parser.parse_args()
    rows = []
    if not options.json:
        print("| problem | solver | prototype J | our J | prototype s | our s |")
        print("| --- | --- | --: | --: | --: | --: |")
    for made in (*six_seeds(options.seeds), *one_seed()):
        rows.append(made)
        if not options.json:
            print(line(made), flush=True)
    if options.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
