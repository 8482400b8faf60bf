"""`pushforward simulate`: a prompt of tokens flows through self-attention.

`pushforward simulate --resume RUN`: go on with a run that was stopped or killed.
"""

import inspect
import json
import pathlib
import sys
import time
from collections.abc import Callable
from typing import Annotated

import typer
from rich.console import Console
from rich.live import Live
from rich.table import Table

from pushforward.cli._options import named_classes, say

# what does not change the run
ALLOWED = ("resume", "picture", "movie", "as_json", "classes")
WORDS = "`--resume` takes everything from the run"


def resumed(run: pathlib.Path, live: Callable, classes: list[str]):
    """The finished trajectory, and the beta of its energy if it observes one."""
    from pushforward.io import resumption

    rest = resumption(run, classes=named_classes(classes))
    end = rest.more["t1"] if rest.times is None else rest.times[-1]
    trajectory = live(float(end), rest.flow)
    energy = rest.observe.get("energy")
    return trajectory, None if energy is None else float(energy.beta)


MODEL = (
    "The dynamics: attention (sa), unnormalized and scaled by e^{-|beta|} (usa), "
    "causal, with beta infinite (hardmax), or in R^d without norm (rescaled)."
)
START = (
    "How tokens start: uniform, clustered, gaussian, vonmises_fisher, equispaced or "
    "orthonormal."
)


def simulate(
    context: typer.Context,
    spec: Annotated[
        pathlib.Path | None,
        typer.Argument(help="An experiment (.toml or .json), or a run to do again."),
    ] = None,
    n: Annotated[int, typer.Option(help="Number of tokens.")] = 64,
    d: Annotated[int, typer.Option(help="Dimension: 3 is the sphere S^2.")] = 3,
    beta: Annotated[float, typer.Option(help="Inverse temperature.")] = 9.0,
    t1: Annotated[float, typer.Option(help="Final time (depth).")] = 20.0,
    model: Annotated[str, typer.Option(help=MODEL)] = "sa",
    start: Annotated[str, typer.Option(help=START)] = "uniform",
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
    merge: Annotated[
        bool, typer.Option("--merge", help="Follow clusters to exponentially long t1.")
    ] = False,
    observe: Annotated[
        list[str] | None,
        typer.Option(help="Also observe this, as effective_rank; may be repeated."),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", help="Change a number: field.beta=4; may be repeated."),
    ] = None,
    classes: Annotated[
        list[str] | None,
        typer.Option(help="A class of your own that SPEC uses, as module:Name."),
    ] = None,
    toml: Annotated[
        bool, typer.Option("--toml", help="Print the experiment as TOML, and stop.")
    ] = False,
    python: Annotated[
        bool, typer.Option("--python", help="Print it as a Python script, and stop.")
    ] = False,
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

    Options describe a common experiment; a file describes any.
    Example: pushforward simulate --n 64 --d 3 --beta 9 --t1 20 --out r1 --movie r1.mp4
    Example: pushforward simulate spec.toml --set field.beta=4 --out r2
    """
    from pushforward.cli import _options, _report

    started, threshold = time.perf_counter(), dict[str, float]()
    if resume is not None:
        _options.refuse_options(context, ALLOWED, WORDS)
        trajectory, energy_at = resumed(resume, _live, classes or [])
        out = resume
    else:
        experiment = _experiment(context)
        if toml or python:
            sys.stdout.write(experiment.to_toml() if toml else experiment.to_python())
            return
        cost = _report.cost(experiment)
        if dry_run:
            _say(cost, as_json, _report.cost_lines)
            return
        _report.refuse_if_too_large(cost)
        run = lambda progress: experiment.run(store=out, progress=progress)  # noqa: E731
        trajectory = _live(experiment.t1, run)
        energy_at = _beta(experiment.observe)
        threshold = _report.noise_of(experiment, cost["d"])
    seconds = time.perf_counter() - started
    _finish(trajectory, out, picture, movie, energy_at, seconds, threshold, as_json)


def _experiment(context: typer.Context):
    """What the options mean, or what the file says, with its changes."""
    from pushforward.cli import _options
    from pushforward.experiments import options

    values = dict(context.params)
    if values["spec"] is not None:
        allowed = (*_options.BESIDE, "observe")
        _options.refuse_options(context, allowed, "SPEC describes the experiment")
        made = _options.from_file(values["spec"], values["classes"] or [])
    else:
        own = set(inspect.signature(options).parameters)
        made = options(**{name: value for name, value in values.items() if name in own})
    more = _options.observed(values["observe"] or [])
    if more:
        made = made.vary(observe={**made.observe, **more})
    return _options.changed(made, values["changes"] or [])


def _beta(observe) -> float | None:
    """The inverse temperature at which energy is observed, if it is."""
    return float(observe["energy"].beta) if "energy" in observe else None


def _finish(trajectory, out, picture, movie, beta, seconds, threshold, as_json) -> None:
    """Draw and print; how the run ended decides the exit code."""
    from pushforward.cli import _report

    interrupted = trajectory.outcome.kind == "interrupted"
    if interrupted:
        picture = movie = None  # Ctrl-C asks to stop now, not to draw first
    written = _report.written(trajectory, out, picture, movie, beta)
    summary = _report.summary(trajectory, seconds, written) | threshold
    _say(summary, as_json, _report.summary_lines)
    if interrupted:
        raise KeyboardInterrupt
    if trajectory.outcome.kind == "diverged":
        from pushforward.errors import NumericalError

        raise NumericalError(trajectory.outcome.message, trajectory)


def _live(t1: float, run):
    """A flow with a live table on stderr; `run` takes whom to tell of each frame."""
    console = Console(stderr=True)
    with Live(console=console, refresh_per_second=8) as live:
        done = run(_Rows(live, t1))
    if not console.is_terminal:
        console.line()  # a terminal is on a new line already
    return done


class _Rows:
    """A table that grows by a row whenever another twelfth of the time has passed.

    With merging t1 may be 1e20: there a row comes with every twelfth frame at most.
    """

    COLUMNS = ("energy", "clusters", "largest_mass")  # first, where observed
    MOST = 5
    FORMS = {"energy": ".6f", "clusters": ".0f", "largest_mass": ".3f"}

    def __init__(self, live: Live, t1: float):
        self.live, self.t1, self.next = live, t1, 0.0
        self.table: Table | None = None

    def observed(self, t: float, values: dict, steps: int) -> None:
        """A frame has been saved, where `values` were observed."""
        if t < self.next - 1e-12 * self.t1:
            return
        self.next = t + self.t1 / 12
        numbers = {k: v for k, v in values.items() if not getattr(v, "ndim", 0)}
        usual = [k for k in self.COLUMNS if k in numbers]
        shown = (usual + [k for k in numbers if k not in usual])[: self.MOST]
        if self.table is None:
            self.table = Table(box=None, header_style="bold")
            for name in ("time", *shown, "steps"):
                self.table.add_column(name.replace("_", " "), justify="right")
        cells = [format(float(numbers[k]), self.FORMS.get(k, ".6g")) for k in shown]
        self.table.add_row(f"{t:.4g}", *cells, str(steps))
        self.live.update(self.table, refresh=True)


def _say(values: dict, as_json: bool, lines) -> None:
    if as_json:
        say(json.dumps(values))
    else:
        say("\n".join(lines(values)))
