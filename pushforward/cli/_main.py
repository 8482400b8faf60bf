"""Entry point: commands, exit codes, and the compilation cache."""

import atexit
import gc
import os
import signal
import sys
from typing import NoReturn

import typer
import typer.core

from pushforward._files import cache_folder
from pushforward.cli import (
    _cite,
    _doctor,
    _explore,
    _gulp,
    _match,
    _npmle,
    _probe,
    _show,
    _simulate,
    _study,
    _sweep,
)
from pushforward.errors import InputError, NumericalError, StoreError

USAGE, BAD_INPUT, NUMERICAL, INTERRUPTED, INPUT_OUTPUT = 2, 3, 4, 5, 6


class _Commands(typer.core.TyperGroup):
    """The commands; a stop by hand is told apart before typer turns it into 130."""

    def invoke(self, ctx):
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            _stop(f"interrupted; what was written is kept.{_way_on()}", INTERRUPTED)


def _way_on() -> str:
    """The command that resumes an interrupted run, where there is one."""
    words = sys.argv[1:]
    if words[:1] != ["simulate"]:
        return ""
    for option in ("--out", "--resume"):
        if option in words[:-1]:
            run = words[words.index(option) + 1]
            return f" Go on with: pushforward simulate --resume {run}"
    return ""


app = typer.Typer(
    name="pushforward",
    cls=_Commands,
    help="Transformers as flow maps on probability measures.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("simulate")(_simulate.simulate)
app.command("show")(_show.show)
app.command("explore")(_explore.explore)
app.command("export")(_explore.export)
app.command("site")(_explore.site)
app.add_typer(_study.app, name="study")
app.command("sweep")(_sweep.sweep)
app.command("npmle")(_npmle.npmle)
app.command("gulp")(_gulp.gulp)
app.command("match")(_match.match)
app.add_typer(_probe.app, name="models")
app.command("probe")(_probe.probe)
app.command("doctor")(_doctor.doctor)
app.command("cite")(_cite.cite)


def main() -> None:
    """Run the command line; errors become one message and an exit code."""
    signal.signal(signal.SIGTERM, _terminate)
    _leave_garbage()
    _use_compilation_cache()
    try:
        app(standalone_mode=True)
    except InputError as error:
        _stop(f"bad input: {error}", BAD_INPUT)
    except NumericalError as error:
        _stop(f"numerical failure: {error}", NUMERICAL)
    except StoreError as error:
        _stop(f"input/output: {error}", INPUT_OUTPUT)
    except OSError as error:
        _stop(f"input/output: {error}", INPUT_OUTPUT)


def _terminate(signum, frame) -> None:
    raise KeyboardInterrupt


def _stop(message: str, code: int) -> NoReturn:
    sys.stderr.write(f"pushforward: {message}\n")
    raise SystemExit(code)


def _leave_garbage() -> None:
    """A fifth of a short command went into looking for garbage that is not there."""
    gc.set_threshold(50_000, 10, 10)
    atexit.register(gc.freeze)  # else Python goes through all modules as it ends


def _use_compilation_cache() -> None:
    """Compiled programs survive the process: a second run starts in a second."""
    if os.environ.get("JAX_COMPILATION_CACHE_DIR"):
        return  # the user has one already
    import jax

    cache = cache_folder() / "compiled"
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError:
        return  # a read-only home costs time, not results
    jax.config.update("jax_compilation_cache_dir", str(cache))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
