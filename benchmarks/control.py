"""Neural ODE training at equal objective: ours against torchdiffeq + Adam.

Both minimize the same discrete objective on the same data from the same start:
circles, OUT with ReLU, explicit midpoint with one step per layer, risk tracked by
the trapezoid rule, L2 penalty. The peer is what the papers' code does: torchdiffeq
and Adam. Each runs until it reaches the goal or spends its budget; `error` is the
relative difference of the two programs on the same control.
"""

import time
from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np

import pushforward  # noqa: F401  (64 bits)
from pushforward.control import (
    L2,
    AdamThenLBFGS,
    Parameters,
    Squared,
    SquaredHinge,
    TrainingProblem,
    WeightsOutside,
    optimize,
)
from pushforward.control.neural.families import relu
from pushforward.control.neural.targets import circles, lifted, moons

HORIZON, LAM = 10.0, 0.01


def problem(data, activation, loss, layers, tracking, final):
    """A task of the notes: points of the plane in R^3, L2 penalty."""
    points, labels = data
    return TrainingProblem(
        WeightsOutside(3, activation),
        lifted(points),
        labels,
        loss=loss,
        penalty=L2(LAM),
        horizon=HORIZON,
        layers=layers,
        tracking=tracking,
        final=final,
    )


class _Peer:
    """The same objective in torch, integrated by torchdiffeq's fixed-step midpoint."""

    def __init__(self, problem, data, hinge):
        import torch
        from torchdiffeq import odeint

        self.torch, self.odeint = torch, odeint
        points, labels = data
        self.x = torch.tensor(lifted(points))
        self.y = torch.tensor(labels)
        self.layers, self.hinge = problem.layers, hinge
        self.dt = HORIZON / problem.layers
        self.tracking = float(problem.tracking)
        self.times = torch.arange(self.layers + 1, dtype=torch.float64)

    def objective(self, u):
        torch = self.torch
        sigma = torch.relu if self.hinge else torch.tanh

        def field(t, x):  # one layer per unit of the solver's clock
            row = u[min(int(t), self.layers - 1)]
            return self.dt * (sigma(x) @ row[:9].reshape(3, 3).T + row[9:])

        states = self.odeint(field, self.x, self.times, method="midpoint")
        out = states[:, :, 2]
        if self.hinge:
            loss = torch.relu(1 - self.y * out) ** 2
        else:
            loss = (out - self.y) ** 2
        risk = loss.mean(dim=1)
        running = self.dt * (risk.sum() - 0.5 * (risk[0] + risk[-1]))
        misfit = self.tracking * running + (1 - self.tracking) * risk[-1]
        return misfit + LAM * self.dt * (u**2).sum()

    def seconds_to(self, goal, start, budget):
        torch = self.torch
        u = torch.tensor(np.array(start), requires_grad=True)
        adam = torch.optim.Adam([u], lr=2e-2)
        begin, best = time.perf_counter(), np.inf
        while time.perf_counter() - begin < budget:
            adam.zero_grad()
            value = self.objective(u)
            value.backward()
            adam.step()
            best = min(best, value.item())
            if best <= goal:
                break
        return time.perf_counter() - begin, best


def rows(quick: bool) -> Iterator[dict]:
    """One row per problem: seconds to the goal, ours and the peer's.

    None in a hurry: the peer alone would take a minute.
    """
    if quick:
        return
    layers, budget = 40, 180.0
    cases = [
        ("moons, final loss", moons(0), jnp.tanh, Squared(), 0.0, 1.02),
        ("circles, tracked hinge", circles(0), relu, SquaredHinge(), 1.0, 1.02),
    ]
    for work, data, activation, loss, tracking, slack in cases:
        task = problem(data, activation, loss, layers, tracking, 1.0 - tracking)
        key = jax.random.PRNGKey(0)
        start = task.random(key)
        solver = AdamThenLBFGS()
        warm = optimize(task, solver=solver, start=start, key=key)  # compiles
        ours = optimize(task, solver=solver, start=start, key=key)
        peer = _Peer(task, data, isinstance(loss, SquaredHinge))
        theirs = float(peer.objective(peer.torch.tensor(np.array(warm.controls))))
        same = float(task.objective(Parameters(jnp.asarray(warm.controls), None)))
        goal = slack * ours.objective
        # a peer that never arrives has had at least three times our time
        allowed = max(budget, 3.0 * ours.seconds)
        seconds, reached = peer.seconds_to(goal, start.controls, allowed)
        yield {
            "work": f"train {work}, K={layers}, to within 2 % of {ours.objective:.5f}",
            "n": len(data[0]),
            "d": 3,
            "dtype": "float64",
            "ours_seconds": ours.seconds,
            "peer": "torchdiffeq + Adam"
            + ("" if reached <= goal else f" (stopped at {reached:.4f})"),
            "peer_seconds": seconds,
            "ratio": seconds / ours.seconds,
            "error": abs(theirs - same) / same,
        }


if __name__ == "__main__":
    for row in rows(quick=True):
        print(row)
