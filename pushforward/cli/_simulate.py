"""`pushforward simulate`: a prompt of tokens flows through self-attention."""

import json
import pathlib
import sys
import time
from enum import StrEnum
from typing import Annotated

import typer
from rich.console import Console
from rich.live import Live
from rich.table import Table

RADIUS = 0.05  # geodesic radius at which the live table counts clusters


class Model(StrEnum):
    """The dynamics, by the names of the papers."""

    sa = "sa"
    usa = "usa"
    causal = "causal"
    hardmax = "hardmax"


def simulate(
    context: typer.Context,
    n: Annotated[int, typer.Option(help="Number of tokens.")] = 64,
    d: Annotated[int, typer.Option(help="Dimension: 3 is the sphere S^2.")] = 3,
    beta: Annotated[float, typer.Option(help="Inverse temperature.")] = 9.0,
    t1: Annotated[float, typer.Option(help="Final time (depth).")] = 20.0,
    model: Annotated[Model, typer.Option(help="The dynamics.")] = Model.sa,
    heads: Annotated[
        int, typer.Option(help="Heads; more than one draws random Q, K, V for each.")
    ] = 1,
    noise: Annotated[float, typer.Option(help="Brownian noise per token.")] = 0.0,
    seed: Annotated[int, typer.Option(help="The seed of everything random.")] = 0,
    weights: Annotated[
        pathlib.Path | None, typer.Option(help="Q, K, V from a .safetensors file.")
    ] = None,
    tokens: Annotated[
        pathlib.Path | None, typer.Option(help="Tokens from .npy, .npz, .csv, .txt.")
    ] = None,
    frames: Annotated[int, typer.Option(help="Frames to save.")] = 101,
    layers: Annotated[
        float, typer.Option(help="Step of one Transformer layer; 0 solves the ODE.")
    ] = 0.0,
    out: Annotated[
        pathlib.Path | None, typer.Option(help="Write the run here.")
    ] = None,
    resume: Annotated[
        pathlib.Path | None,
        typer.Option(help="Go on with this unfinished run; it knows its own options."),
    ] = None,
    picture: Annotated[
        pathlib.Path | None, typer.Option(help="Draw the run into this file.")
    ] = None,
    movie: Annotated[
        pathlib.Path | None, typer.Option(help="Film the run (.mp4 or .gif).")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what it would cost, and stop.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON summary to stdout.")
    ] = False,
) -> None:
    """Let tokens flow through self-attention and watch clusters form.

    Example: pushforward simulate --n 64 --d 3 --beta 9 --t1 20 --out r1 --movie r1.mp4
    """
    import pushforward as pf
    from pushforward.cli import _resume, _setup

    started = time.perf_counter()
    if resume is not None:
        _resume.refuse_options(context)
        trajectory, beta = _resume.resumed(resume, _live)
        out = resume
    else:
        plain = weights is None and heads == 1 and model is not Model.hardmax
        causal = model is Model.causal
        cost = _setup.cost(n, d, frames, tokens, beta, plain=plain, causal=causal)
        if dry_run:
            _say(cost, as_json, _cost_lines)
            return
        _setup.refuse_if_too_large(cost)
        mu = _setup.tokens(n, d, seed, tokens)
        field = _setup.field(model.value, beta, mu.d, heads, weights, seed)
        options = _options(beta, frames, layers, noise, seed, out)
        trajectory = _live(
            t1,
            options["observe"],
            lambda progress: pf.flow(field, mu, t1, progress=progress, **options),
        )
    seconds = time.perf_counter() - started
    _report(trajectory, out, picture, movie, beta, seconds, as_json)


def _report(trajectory, out, picture, movie, beta, seconds, as_json) -> None:
    """Draw and print; how the run ended decides the exit code."""
    from pushforward.cli import _setup

    interrupted = trajectory.outcome.kind == "interrupted"
    if interrupted:
        picture = movie = None  # who interrupts does not want to wait for a film
    written = _setup.written(trajectory, out, picture, movie, beta, RADIUS)
    summary = _setup.summary(trajectory, beta, RADIUS, seconds, written)
    _say(summary, as_json, _summary_lines)
    if interrupted:
        raise KeyboardInterrupt
    if trajectory.outcome.kind == "diverged":
        from pushforward.errors import NumericalError

        raise NumericalError(trajectory.outcome.message, trajectory)


def _options(beta, frames, layers, noise, seed, out) -> dict:
    """The options of the flow, from those of the command."""
    import pushforward as pf
    from pushforward._seeds import key_for
    from pushforward.observables import ClusterCount, LargestMass, mean_cosine

    observe = {
        "energy": pf.InteractionEnergy(beta),
        "clusters": ClusterCount(RADIUS),
        "largest_mass": LargestMass(RADIUS),
        "mean_cosine": mean_cosine,
    }
    options: dict = {"observe": observe, "save": frames, "store": out}
    if noise:
        options |= {"noise": pf.Brownian(noise), "key": key_for(seed, "noise")}
    if layers:
        options["solver"] = pf.Layers(layers)
    return options


def _live(t1: float, observe: dict, run):
    """A flow with a live table on stderr; `run` takes what to call at each frame."""
    console = Console(stderr=True)
    with Live(console=console, refresh_per_second=8) as live:
        done = run(_Rows(live, t1, observe))
    if not console.is_terminal:
        console.line()  # a terminal is on a new line already
    return done


class _Rows:
    """A table that grows by a row whenever another twelfth of the time has passed."""

    def __init__(self, live: Live, t1: float, observe: dict):
        self.live, self.t1, self.observe = live, t1, observe
        self.table = Table(box=None, header_style="bold")
        for name in ("time", "energy", "clusters", "largest mass", "steps"):
            self.table.add_column(name, justify="right")
        self.next = 0.0

    def __call__(self, t: float, mu, steps: int) -> None:
        if t < self.next - 1e-12 * self.t1:
            return
        self.next = t + self.t1 / 12
        names = ("energy", "clusters", "largest_mass")
        energy, clusters, mass = (float(self.observe[k](mu)) for k in names)
        self.table.add_row(
            f"{t:.4g}", f"{energy:.6f}", f"{clusters:.0f}", f"{mass:.3f}", str(steps)
        )
        self.live.update(self.table, refresh=True)


def _say(values: dict, as_json: bool, lines) -> None:
    if as_json:
        sys.stdout.write(json.dumps(values) + "\n")
    else:
        sys.stdout.write("\n".join(lines(values)) + "\n")


def _cost_lines(cost: dict) -> list[str]:
    return [
        f"tokens        {cost['n']:,} in dimension {cost['d']}",
        f"pairs         {cost['pairs']:,} per evaluation of the field",
        f"method        {cost['method']}",
        f"one frame     {cost['frame_bytes'] / 1e6:,.1f} MB",
        f"all frames    {cost['run_bytes'] / 1e6:,.1f} MB",
        f"working set   {cost['working_bytes'] / 1e6:,.1f} MB",
        f"free memory   {cost['free_bytes'] / 1e6:,.0f} MB",
    ]


def _summary_lines(summary: dict) -> list[str]:
    lines = [
        f"{summary['outcome']}: {summary['message']}",
        f"{summary['clusters']} clusters, largest mass {summary['largest_mass']:.3f}, "
        f"energy {summary['energy']:.6f}, {summary['seconds']:.1f} s",
    ]
    return lines + [f"{what:8s}{path}" for what, path in summary["written"].items()]
