"""`pushforward show`: what a run on disk contains."""

import json
import pathlib
from typing import Annotated, Any

import typer

from pushforward.cli._options import AsJson, say


def show(
    run: Annotated[pathlib.Path, typer.Argument(help="A run written by simulate.")],
    picture: Annotated[
        pathlib.Path | None, typer.Option(help="Draw the run into this file.")
    ] = None,
    movie: Annotated[
        pathlib.Path | None, typer.Option(help="Film the run (.mp4 or .gif).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Summarize a run: times, tokens, observables, and how it ended."""
    import numpy as np

    import pushforward as pf
    from pushforward import plot
    from pushforward._printing import short

    trajectory = pf.load(run)
    if picture is not None:
        plot.save(plot.summary(trajectory, observed=trajectory.observed), picture)
    if movie is not None:
        plot.movie(trajectory, movie)
    observed = {
        name: [float(values[0]), float(values[-1])]
        for name, values in trajectory.observed.items()
        if np.ndim(values) == 1
    }
    ended = trajectory.outcome
    values: dict[str, Any] = {
        "run": str(run),
        "field": repr(trajectory.field),
        "space": short(trajectory.final.space),
        "n": trajectory.final.n,
        "d": trajectory.final.d,
        "frames": len(trajectory),
        "t0": float(trajectory.times[0]),
        "t1": float(trajectory.times[-1]),
        "steps": int(trajectory.steps),
        "outcome": None if ended is None else str(ended),
        "first_and_last": observed,
    }
    if as_json:
        say(json.dumps(values))
        return
    observed_lines = [
        f"{name:14s}{first:.6g} -> {last:.6g}"
        for name, (first, last) in values.pop("first_and_last").items()
    ]
    lines = [f"{name:14s}{value}" for name, value in values.items()] + observed_lines
    say("\n".join(lines))
