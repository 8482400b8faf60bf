"""`pushforward simulate --resume RUN`: go on with a run that was stopped or killed."""

import pathlib
from collections.abc import Callable

import typer

from pushforward.errors import InputError, StoreError

ALLOWED = ("resume", "picture", "movie", "as_json")  # what does not change the run


def refuse_options(context: typer.Context) -> None:
    """A run knows its own n, beta and times: other options would contradict it."""
    for name in context.params:
        given = context.get_parameter_source(name)
        default = given is None or given.name in ("DEFAULT", "DEFAULT_MAP")
        if name not in ALLOWED and not default:
            option = f"--{name.replace('_', '-')}"
            raise InputError(
                f"`--resume` takes everything from the run, and `{option}` was given "
                f"as well ({context.params[name]}). Leave it out, or start a new run."
            )


def resumed(run: pathlib.Path, live: Callable):
    """The finished trajectory and the beta of its energy."""
    from pushforward.io import resumption

    rest = resumption(run)
    if not {"energy", "clusters", "largest_mass"} <= set(rest.observe):
        raise StoreError(
            f"{run} was not written by `pushforward simulate`. In Python: "
            f'pushforward.io.resumption("{run}").flow().'
        )
    trajectory = live(float(rest.times[-1]), rest.observe, rest.flow)
    return trajectory, float(rest.observe["energy"].beta)
