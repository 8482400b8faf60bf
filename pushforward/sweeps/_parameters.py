"""The parameters of one cell of a sweep: those of `pushforward simulate`, by name."""

import dataclasses
from typing import Any

from pushforward._checks import whole
from pushforward.errors import InputError

MODELS = ("sa", "usa", "causal", "hardmax")
STARTS = ("uniform", "equispaced", "orthonormal")


@dataclasses.dataclass(frozen=True)
class Structure:
    """What a compiled program depends on; cells that share it share the program.

    - `layers`: the step of one Transformer layer; 0 solves the ODE.
    - `rtol`: the tolerance of the ODE solver; 1e-5 is enough for a probability.
    """

    model: str = "sa"
    n: int = 32
    d: int = 3
    heads: int = 1
    start: str = "uniform"
    t1: float = 20.0
    frames: int = 101
    layers: float = 0.0
    rtol: float = 1e-6
    noisy: bool = False


@dataclasses.dataclass(frozen=True)
class Numbers:
    """What may change without compiling again."""

    beta: float = 9.0
    noise: float = 0.0
    seed: int = 0


STRUCTURAL: dict[str, Any] = dataclasses.asdict(Structure())
NUMERIC: dict[str, Any] = dataclasses.asdict(Numbers())
del STRUCTURAL["noisy"]  # follows from the noise
NAMES = (*STRUCTURAL, *NUMERIC)


def split(parameters: dict[str, Any]) -> tuple[Structure, Numbers]:
    """Checked parameters, structure and numbers apart."""
    for name in parameters:
        if name not in NAMES:
            raise InputError(
                f"no parameter called {name!r}; there are: {', '.join(NAMES)}."
            )
    given = STRUCTURAL | NUMERIC | parameters
    for name, least in (("n", 1), ("d", 2), ("heads", 1), ("frames", 2), ("seed", 0)):
        given[name] = whole(name, given[name], least)
    for name in ("t1", "layers", "rtol", "beta", "noise"):
        given[name] = _number(name, given[name])
    for name, choices in (("model", MODELS), ("start", STARTS)):
        if given[name] not in choices:
            known = ", ".join(choices)
            raise InputError(f"`{name}` must be one of {known}, got {given[name]!r}.")
    if given["t1"] <= 0 or given["rtol"] <= 0:
        raise InputError(
            f"`t1` and `rtol` must be positive, got {given['t1']} and {given['rtol']}."
        )
    if given["noise"] < 0 or given["layers"] < 0:
        raise InputError(
            f"`noise` and `layers` must not be negative, got {given['noise']} and "
            f"{given['layers']}."
        )
    structure = {name: given[name] for name in STRUCTURAL}
    numbers = Numbers(**{name: given[name] for name in NUMERIC})
    return Structure(**structure, noisy=numbers.noise > 0), numbers


def _number(name: str, value: Any) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or value != value or abs(value) == float("inf"):
        raise InputError(f"`{name}` must be a finite number, got {value!r}.")
    return float(value)
