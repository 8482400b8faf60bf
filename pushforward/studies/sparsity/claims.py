"""Claims on the stopping time, and the consequences of the stopping identity."""

import math

import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import minimize

from pushforward.control.neural.losses import Distance
from pushforward.control.neural.proximal import (
    Lumped,
    bounded_l1_prox,
    lumped_objective,
    piece_costs,
)
from pushforward.control.neural.targets import circles, lifted
from pushforward.studies._claims import Claim, at_least, at_most, place, within
from pushforward.studies.sparsity.study import (
    BOUND,
    LAM,
    PAPER,
    Parameters,
    circles_runs,
    largest_move,
    scalar_problem,
    scalar_run,
)
from pushforward.theory import depth as theory

NAME = "sparsity"
STOPPING = place(PAPER, "stopping time and saturation")
DEPTH = place(PAPER, "stopping time under a bound free of T")
STOPPING_IDENTITY = place(PAPER, "decay of the risk")
CLASSIFIER = place(PAPER, "experiments")


def active_time(p: Parameters) -> Claim:
    """The scalar network stops at the predicted time."""
    exact = theory.sparse_scalar(10.0, LAM, BOUND)
    run = scalar_run(10.0, p.dt)
    note = f"J = {run.trained.history[-1]:.6f}, exact {exact['cost']:.6f}"
    return within(
        NAME,
        "T* at T = 10",
        STOPPING,
        "theorem",
        run.active_time,
        exact["active_time"],
        3e-4,
        note,
    )


def switch_time(p: Parameters) -> Claim:
    """One entry acts at a time: the bias, then the weight."""
    run = scalar_run(10.0, p.dt)
    first = int(np.flatnonzero(run.controls[:, 0])[0])
    return within(
        NAME,
        "bias gives way to weight",
        PAPER,
        "theorem",
        first * p.dt,
        0.25,
        p.dt,
    )


def saturation(p: Parameters) -> Claim:
    """Before T* every layer has norm M."""
    run = scalar_run(10.0, p.dt)
    active = run.layer_norms[: run.active_layers - 1]
    gap = np.max(np.abs(active - BOUND))
    return at_most(
        NAME, "distance to the bound before T*", STOPPING, "theorem", gap, 1e-9
    )


def bitwise_zeros(p: Parameters) -> Claim:
    """After T* every layer is exactly zero."""
    run = scalar_run(10.0, p.dt)
    zeros = np.sum(run.layer_norms == 0.0)
    stop = theory.sparse_scalar(10.0, LAM, BOUND)["active_time"]
    wanted = run.trained.problem.layers - math.ceil(stop / p.dt)
    return within(
        NAME,
        "layers that are exactly zero",
        STOPPING,
        "theorem",
        zeros,
        wanted,
        0,
    )


def risk_is_least_at_rest(p: Parameters) -> Claim:
    """The risk is never below its value after T*."""
    risk = scalar_run(10.0, p.dt).trained.risk()
    return at_least(
        NAME,
        "least risk minus final risk",
        STOPPING,
        "theorem",
        np.min(risk) - risk[-1],
        -1e-14,
    )


def depth_is_stable(p: Parameters) -> Claim:
    """The active time hardly depends on the horizon."""
    gaps = [
        abs(
            scalar_run(t, p.dt).active_time
            - theory.sparse_scalar(t, LAM, BOUND)["active_time"]
        )
        for t in p.horizons
    ]
    found = ", ".join(f"{scalar_run(t, p.dt).active_time:.6f}" for t in p.horizons)
    return at_most(
        NAME,
        "largest error of T*, T = 5, 10, 20",
        DEPTH,
        "theorem",
        max(gaps),
        3e-4,
        f"T* = {found}",
    )


def depth_bound(p: Parameters) -> Claim:
    """T* <= C1/(lam M) with C1 the cost of a control that reaches the target."""
    M = BOUND
    rising = sum((0.5 + M * t - math.e) ** 2 for t in np.linspace(0, 0.25, 2001))
    growing = sum((math.exp(M * t) - math.e) ** 2 for t in np.linspace(0, 0.5, 2001))
    cost = rising * 0.25 / 2001 + growing * 0.5 / 2001 + LAM * 1.5
    stop = max(scalar_run(t, p.dt).active_time for t in p.horizons)
    return at_most(NAME, "T* under its bound", DEPTH, "theorem", stop, cost / (LAM * M))


def stopping_identity(p: Parameters) -> Claim:
    """(T - T*) max |<grad E, f>| = lam at rest."""
    return within(
        NAME,
        "(T - T*) max |<grad E, f>| at rest, lam",
        STOPPING_IDENTITY,
        "theorem",
        scalar_run(10.0, p.dt).stopping_value(),
        LAM,
        5e-3 * LAM,
    )


def squared_decay(p: Parameters) -> Claim:
    """With the squared loss the risk falls like T^-2."""
    horizons = (5.0, 10.0, 20.0)
    risks = [scalar_run(t, p.dt).trained.risk()[-1] for t in horizons]
    slope = np.polyfit(np.log(horizons), np.log(risks), 1)[0]
    return within(
        NAME,
        "squared loss: slope of log risk in log T",
        STOPPING_IDENTITY,
        "theorem",
        slope,
        -2.0,
        0.25,
    )


def plain_distance(p: Parameters) -> Claim:
    """With the plain distance the target is reached, at T* = 3/(2M)."""
    problem = scalar_problem(5.0, 64, loss=Distance())

    @jax.jit
    def cost(amounts):  # bias for a while, then weight
        bias = jnp.zeros((32, 2)).at[:, 1].set(amounts[0] / 32)
        weight = jnp.zeros((32, 2)).at[:, 0].set(amounts[1] / 32)
        return lumped_objective(problem, jnp.concatenate([bias, weight]))

    best = minimize(
        lambda a: float(cost(jnp.asarray(a))),
        np.array([0.4, 0.8]),
        method="Nelder-Mead",
        options={"xatol": 1e-8, "fatol": 1e-12, "maxiter": 800},  # type: ignore
    )
    stop = np.sum(np.abs(best.x)) / BOUND
    return within(
        NAME,
        "plain distance: T*",
        STOPPING_IDENTITY,
        "theorem",
        stop,
        theory.sparse_distance_active_time(BOUND),
        2e-3,
    )


def logistic(p: Parameters) -> Claim:
    """A loss without minimum needs ever more depth, ln(T/lam)/M."""
    s = theory.sparse_logistic(1e4, 1.0, 1.0)
    return within(
        NAME,
        "logistic: T E at T = 1e4, lam in the limit",
        STOPPING_IDENTITY,
        "theorem",
        1e4 * s["risk"],
        1.0,
        2e-3,
        f"T* = {s['active_time']:.5f}",
    )


def lumped_surplus(p: Parameters) -> Claim:
    """At a lumped optimum every piece costs at least lam."""
    problem = scalar_problem(10.0, 400)
    g, _ = Lumped(steps=4000).minimize(problem, jnp.full((60, 2), 0.02))
    surplus = float(jnp.min(piece_costs(problem, g)[0])) - LAM
    return at_least(NAME, "least c_k - lam", PAPER, "identity", surplus, -1e-6)


def proximal_map(p: Parameters) -> Claim:
    """Soft threshold then projection satisfies the optimality condition exactly."""
    rng = np.random.default_rng(0)
    worst = 0.0
    for _ in range(40):
        v = 2 * rng.standard_normal(6)
        weight, radius = rng.uniform(0.05, 1.0), rng.uniform(0.3, 3.0)
        x = np.asarray(bounded_l1_prox(*map(jnp.asarray, (v, weight, radius))))
        alive = x != 0
        pull = (v - x) * np.sign(np.where(alive, x, v))
        level = np.max(pull[alive])  # weight plus the multiplier of the ball
        slack = radius - np.sum(np.abs(x))
        worst = max(worst, np.ptp(pull[alive]), np.max(pull[~alive] - level, initial=0))
        worst = max(worst, min(abs(level - weight), abs(slack)))
    return at_most(NAME, "prox optimality residual", PAPER, "identity", worst, 1e-12)


def circles_shallow(p: Parameters) -> Claim:
    """A classifier of the circles rests for most of its layers, exactly."""
    run = circles_runs(p)[0]
    points, labels = circles(0, p.samples)
    right = np.mean(np.sign(run.trained.outputs(lifted(points))[:, 0]) == labels)
    share = np.mean(run.layer_norms == 0.0)
    note = f"training accuracy {right:.3f}, T* = {run.active_time:.3f}"
    row = (NAME, "circles: share of layers exactly zero", CLASSIFIER, "experiment")
    if right < 1.0:  # a network that rests and does not classify shows nothing
        share = 0.0
    return at_least(*row, share, 0.8, note)


def circles_depth(p: Parameters) -> Claim:
    """The active time of the circles settles as the horizon grows."""
    runs = circles_runs(p)
    stops = [run.active_time for run in runs]
    text = ", ".join(f"{s:.3f}" for s in stops)
    return at_most(
        NAME,
        "circles: T*(2T)/T*(T)",
        DEPTH,
        "experiment",
        stops[1] / stops[0],
        1.1,
        f"T* = {text}",
    )


def pruning(p: Parameters) -> Claim:
    """The pruned network gives the same outputs, bit for bit."""
    run = circles_runs(p)[0]
    points = lifted(circles(0, p.samples)[0])
    gap = np.max(np.abs(run.pruned().outputs(points) - run.trained.outputs(points)))
    rest = largest_move(run.trained.problem, run.controls[run.active_layers :])
    return at_most(
        NAME, "pruned minus whole network", CLASSIFIER, "identity", max(gap, rest), 0.0
    )


CLAIMS = (
    active_time,
    switch_time,
    saturation,
    bitwise_zeros,
    risk_is_least_at_rest,
    depth_is_stable,
    depth_bound,
    stopping_identity,
    squared_decay,
    plain_distance,
    logistic,
    lumped_surplus,
    proximal_map,
    circles_shallow,
    circles_depth,
    pruning,
)
