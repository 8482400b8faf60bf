"""Exponentially long times: merging against no merging and against small fixed steps.

`rows(quick)` yields one dict per comparison. The peer of the first rows is the same
flow without merging; of the others, the published scheme (unprojected Euler steps of
0.1, then renormalization) in numpy, which is also less accurate: `error` says by how
much each is off where there is a closed form or a reference.
"""

import time
from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np

import pushforward as pf
from pushforward.theory import two_tokens


def timed(work):
    """Seconds of the second call, when everything is compiled, and its result."""
    work()
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def row(work, n, ours, peer, peer_seconds, error, **more):
    return {
        "work": work,
        "n": n,
        "d": 2,
        "dtype": "float64",
        "ours_seconds": ours,
        "peer": peer,
        "peer_seconds": peer_seconds,
        "ratio": None if peer_seconds is None else peer_seconds / ours,
        "error": error,
        **more,
    }


def crowd(n):
    return pf.Particles.uniform(pf.Circle(), n, key=jax.random.key(0))


def together(mu):
    return jnp.min(mu.points @ mu.points.T) >= 0.999


def merging_or_not(n, beta, t1):
    """The same run to t1 with and without merging, at the default tolerances."""
    mu, field = crowd(n), pf.Attention(beta)
    ours, merged = timed(
        lambda: pf.flow(field, mu, t1, save=2, merge=pf.Merge()).final.points
    )
    plain, whole = timed(lambda: pf.flow(field, mu, t1, save=2).final.points)
    error = float(jnp.max(mu.space.distance(merged, whole)))
    name = f"SA, beta = {beta:g}, to t = {t1:g}"
    return row(name, n, ours, "flow without merging", plain, error)


def euler(x, beta, dt, most):
    """The published scheme until all inner products exceed 0.999; the time it takes."""
    for k in range(most):
        gram = x @ x.T
        if gram.min() >= 0.999:
            return k * dt
        a = np.exp(beta * (gram - gram.max(axis=1, keepdims=True)))
        x = x + dt * (a / a.sum(axis=1, keepdims=True)) @ x
        x /= np.linalg.norm(x, axis=1, keepdims=True)
    return np.inf


def against_small_steps(n, beta, t1):
    """Merging against the published scheme; some of its equal steps are timed."""
    mu, field = crowd(n), pf.Attention(beta)
    start, some = np.asarray(mu.points), 50

    def work():
        return pf.flow(field, mu, t1, save=2, merge=pf.Merge()).final.points

    ours, _ = timed(work)
    begin = time.perf_counter()
    euler(start, beta, 0.1, some)
    peer = (time.perf_counter() - begin) * (10 * t1 / some)
    name = f"SA, beta = {beta:g}, to t = {t1:g}"
    of_all = f"numpy Euler, dt = 0.1 ({some} of {10 * t1:,.0f} steps timed)"
    return row(name, n, ours, of_all, peer, None)


def escape(beta, steps):
    """Two clusters 90 degrees apart to 0.999: ours, and Euler at a step that suits it.

    Euler is late by about its step, so no step of 0.1 reaches our accuracy; the row
    with the smaller step shows what accuracy costs it.
    """
    start = np.array([[1.0, 0.0], [0.0, 1.0]])
    mu = pf.Particles(pf.Circle(), start)
    save = pf.LogTimes(1.0, 3)

    def ours():
        field = pf.Attention(beta)
        run = pf.flow(field, mu, 1e40, save=save, merge=pf.Merge(), until=together)
        return float(run.times[-1])

    exact = float(two_tokens.merging_time(beta))
    seconds, found = timed(ours)
    for dt in steps:
        begin = time.perf_counter()
        late = euler(start, beta, dt, int(3 * exact / dt))
        peer = time.perf_counter() - begin
        yield row(
            f"two clusters to 0.999, beta = {beta:g} (t = {exact:.4g})",
            2,
            seconds,
            f"numpy Euler, dt = {dt:g}",
            peer,
            abs(found / exact - 1),
            peer_error=abs(late / exact - 1),
        )


def log_time_cost(n, beta):
    """Seconds per decade of time as clusters merge, early and late in one run."""
    mu, field, t1 = crowd(n), pf.Attention(beta), 1e300
    log_ends = []

    def watch(t, measure, steps):
        log_ends.append((time.perf_counter(), t, steps))

    def run():
        log_ends.clear()
        save = pf.LogTimes(1.0, 301)
        return pf.flow(field, mu, t1, save=save, merge=pf.Merge(), progress=watch)

    _, traj = timed(run)
    clock = np.array([row[0] for row in log_ends])
    times = np.maximum(np.array([row[1] for row in log_ends]), 1e-1)
    decade = np.log10(times)
    for low, high in ((-1, 3), (3, decade[-1])):
        inside = (decade >= low) & (decade <= high)
        spent = np.ptp(clock[inside]) / np.ptp(decade[inside])
        name = f"SA, beta = {beta:g}: one decade of time, t in 1e{low:g}..1e{high:.0f}"
        steps = int(traj.steps)
        yield row(name, n, spent, "", None, None, steps=steps, ended=str(traj.outcome))


def rows(quick: bool) -> Iterator[dict]:
    if quick:
        yield from escape(12.0, (0.1,))
        return
    yield merging_or_not(1024, 25.0, 1e3)
    for beta in (9.0, 25.0, 100.0):
        yield against_small_steps(1024, beta, 1e3)
    yield from escape(8.0, (0.1, 0.001))
    yield from escape(16.0, (0.1,))
    yield from log_time_cost(1024, 25.0)
    yield from log_time_cost(4096, 100.0)


if __name__ == "__main__":
    import sys

    for found in rows("--full" not in sys.argv):
        print(found, flush=True)
