"""What a run costs before it runs, and what it says and draws afterwards."""

import os
from typing import Any

import numpy as np

import pushforward as pf
from pushforward.errors import InputError


def cost(experiment: pf.Experiment) -> dict[str, Any]:
    """What a run needs, before anything is allocated."""
    numbers = experiment.numbers()
    n, d = numbers.get("start.n"), numbers.get("start.d")
    if n is None or d is None:
        mu = experiment.measure
        n, d = mu.n, mu.d
    frames = experiment.save if isinstance(experiment.save, int) else 101
    frame = 8 * n * d
    tiles = min(n * n, 2**21)  # what a sum holds beyond copies of the tokens
    return {
        "n": n,
        "d": d,
        "pairs": n * n,
        "method": _method(experiment, n, d),
        "frame_bytes": frame,
        "run_bytes": frame * frames,
        "working_bytes": 30 * frame + 8 * tiles * 3,
        "free_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES"),
        **noise_of(experiment, d),
    }


def noise_of(experiment: pf.Experiment, d: int) -> dict[str, float]:
    """The noise and the critical one of its model; nothing where neither is known.

    SA and USA differ by factors, so the number of the other model misleads.
    """
    field, noise = experiment.field, experiment.noise
    if not isinstance(noise, pf.Brownian) or not getattr(field, "isotropic", False):
        return {}
    if isinstance(field, pf.UnnormalizedAttention):
        scale = float(field.log_scale)
        critical = pf.theory.stability.critical_noise_unnormalized(
            float(field.beta), d, log_scale=scale
        )
    elif isinstance(field, pf.Attention):
        critical = pf.theory.stability.critical_noise(float(field.beta), d)
    else:
        return {}
    return {"noise": float(noise.sigma), "critical_noise": critical}


def noise_lines(numbers: dict) -> list[str]:
    """On which side of the critical noise of its own model a run is."""
    if "critical_noise" not in numbers:
        return []
    sigma, critical = numbers["noise"], numbers["critical_noise"]
    side, end = ("below", "gather") if sigma < critical else ("above", "stay spread")
    words = f"{side} the critical {critical:.4g} of this model: tokens {end}"
    return [f"noise         {sigma:g}, {words}"]


def _method(experiment: pf.Experiment, n: int, d: int) -> str:
    field = experiment.field
    beta = float(getattr(field, "beta", 0.0))
    plain = getattr(field, "isotropic", False) and hasattr(field, "beta")
    ordered = getattr(field, "ordered", False)
    return pf.sums.describe(n, d, beta, plain=plain, causal=ordered)


def refuse_if_too_large(cost: dict) -> None:
    """Refuse before allocating, with the number and a way out."""
    need = cost["run_bytes"] + cost["working_bytes"]
    if need > 0.9 * cost["free_bytes"]:
        raise InputError(
            f"n = {cost['n']:,} tokens with these frames need {need / 1e9:.1f} GB, and "
            f"{cost['free_bytes'] / 1e9:.1f} GB are free. Use fewer --frames or tokens."
        )


def written(trajectory, out, picture, movie, beta) -> dict[str, str]:
    """Draw what was asked for; the paths of everything on disk."""
    paths = {} if out is None else {"run": str(out)}
    if picture is None and movie is None:
        return paths
    from pushforward import plot  # a second, for those who look

    if picture is not None:
        page = plot.summary(trajectory, beta=beta, observed=trajectory.observed)
        plot.save(page, picture)
        paths["picture"] = str(picture)
    if movie is not None:
        frames = min(151, 3 * len(trajectory) - 2)
        plot.movie(trajectory, movie, frames=frames, beta=beta)
        paths["movie"] = str(movie)
    return paths


def summary(trajectory, seconds: float, paths: dict[str, str]) -> dict[str, Any]:
    """The end of a run in numbers, as its last frame was observed."""
    final = trajectory.final
    seen = {
        name: np.asarray(values[-1]).item()
        for name, values in trajectory.observed.items()
        if np.ndim(values) == 1
    }
    if "clusters" in seen:
        seen["clusters"] = int(seen["clusters"])
    log_times = trajectory.log_times
    return {
        "outcome": str(trajectory.outcome.kind),
        "message": trajectory.outcome.message,
        "t": float(trajectory.times[-1]),
        "log_t": None if log_times is None else float(log_times[-1]),
        "n": final.n,
        "d": final.d,
        "steps": int(trajectory.steps),
        "rejected": int(trajectory.rejected),
        **seen,
        "off_sphere": float(np.max(np.asarray(final.space.residual(final.points)))),
        "seconds": seconds,
        "written": paths,
    }


def cost_lines(cost: dict) -> list[str]:
    """The cost for people."""
    return [
        f"tokens        {cost['n']:,} in dimension {cost['d']}",
        f"pairs         {cost['pairs']:,} per evaluation of the field",
        f"method        {cost['method']}",
        f"one frame     {cost['frame_bytes'] / 1e6:,.1f} MB",
        f"all frames    {cost['run_bytes'] / 1e6:,.1f} MB",
        f"working set   {cost['working_bytes'] / 1e6:,.1f} MB",
        f"free memory   {cost['free_bytes'] / 1e6:,.0f} MB",
        *noise_lines(cost),
    ]


def summary_lines(summary: dict) -> list[str]:
    """The end of a run for people."""
    form = {
        "clusters": "{:d} clusters",
        "largest_mass": "largest mass {:.3f}",
        "energy": "energy {:.6f}",
    }
    parts = [words.format(summary[k]) for k, words in form.items() if k in summary]
    known = {*form, "mean_cosine", "outcome", "message", "t", "log_t", "n", "d"}
    known |= {"steps", "rejected", "off_sphere", "seconds", "written"}
    known |= {"noise", "critical_noise"}
    parts += [f"{k} {v:.6g}" for k, v in summary.items() if k not in known]
    lines = [
        f"{summary['outcome']}: {summary['message']}",
        ", ".join([*parts, f"{summary['seconds']:.1f} s"]),
        *noise_lines(summary),
    ]
    return lines + [f"{what:8s}{path}" for what, path in summary["written"].items()]
