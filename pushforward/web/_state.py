"""The state of the page: what a link, a preset and a run carry.

Whatever arrives is brought into range, and every change is reported as
{key, asked, used, why}: the page never fails on an old or a hostile link.
"""

import base64
import binascii
import dataclasses
import hashlib
import json
import math
import re
from collections.abc import Callable
from typing import Any

import pushforward
from pushforward.errors import InputError
from pushforward.web import _caps

MODELS = ("sa", "usa", "causal", "hard", "layer", "rescaled", "recorded")
STARTS = ("uniform", "clustered", "equispaced", "orthonormal", "gaussian", "file")
SOLVERS = ("adaptive", "layers", "heun")
FILE = re.compile(r"[0-9a-f]{32}")


@dataclasses.dataclass(frozen=True)
class State:
    """One run of the explorer; the fields are the keys of the link, in its order."""

    model: str = "sa"
    beta: float = 9.0
    n: int = 64
    d: int = 3
    t1: float = 20.0
    seed: int = 0
    init: str = "uniform"
    file: str | None = None
    heads: int = 1
    V: str | tuple[Any, ...] | None = None
    noise: float = 0.0
    weights: str = "equal"
    solver: str = "adaptive"
    h: float = 0.1
    dtype: str = "float64"
    merge: bool = False
    frames: int = 201
    clock: str = "linear"
    moved: tuple[tuple[int, tuple[float, ...]], ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Every key, as the page reads it."""
        return {"v": 1, **dataclasses.asdict(self)}

    def differences(self) -> dict[str, Any]:
        """Only the keys that are not at their defaults."""
        default = State()
        changed = {
            f.name: getattr(self, f.name)
            for f in dataclasses.fields(self)
            if getattr(self, f.name) != getattr(default, f.name)
        }
        return {"v": 1, **changed}

    def link(self) -> str:
        """base64url of the differences: what stands behind #s= in the address."""
        text = json.dumps(self.differences(), separators=(",", ":"))
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    def digest(self) -> str:
        """The name of the run: equal states of one version are one run."""
        text = json.dumps([pushforward.__version__, self.as_json()], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:32]


def from_link(text: str) -> dict:
    """The JSON object of a link."""
    try:
        padded = text + "=" * (-len(text) % 4)
        found = json.loads(base64.urlsafe_b64decode(padded.encode()))
    except (binascii.Error, ValueError, RecursionError) as error:
        raise InputError(f"the link cannot be read: {error}. Copy it again.") from error
    if not isinstance(found, dict):
        raise InputError("the link holds no state. Copy it again.")
    return found


# What the server keeps under a name: {kind, n, d, ...}, or None.
Kept = Callable[[str], dict | None]


def nothing(name: str) -> None:
    """A server that keeps no files."""
    return None


class Reader:
    """Takes values out of a JSON object and notes what had to change."""

    def __init__(self, given: dict):
        self.given = given
        self.notes: list[dict[str, Any]] = []

    def note(self, key: str, asked: object, used: object, why: str) -> None:
        """One line of the report; long values are cut."""
        shown = asked if isinstance(asked, int | float | bool) else str(asked)[:60]
        if isinstance(shown, float) and not math.isfinite(shown):
            shown = str(shown)
        if isinstance(shown, int) and abs(shown) > 2**53:
            shown = f"{float(shown):g}" if abs(shown) < 10**300 else "beyond 1e300"
        self.notes.append({"key": key, "asked": shown, "used": used, "why": why})

    def number(self, key: str, default: float, low: float, high: float) -> float:
        """A finite number in [low, high]."""
        asked = self.given.get(key, default)
        if isinstance(asked, bool) or not isinstance(asked, int | float):
            self.note(key, asked, default, "not a number")
            return default
        try:
            value = float(asked)
        except OverflowError:
            value = math.inf if asked > 0 else -math.inf
        if math.isnan(value):
            self.note(key, asked, default, "not a number")
            return default
        used = min(max(value, low), high)
        if used != value:
            self.note(key, asked, used, f"must lie in [{low:g}, {high:g}]")
        return used

    def whole(self, key: str, default: int, low: int, high: int) -> int:
        """A whole number in [low, high]."""
        value = self.number(key, default, low, high)
        used = int(round(value))
        if used != value:
            self.note(key, self.given.get(key), used, "must be a whole number")
        return used

    def choice(self, key: str, default: Any, choices: tuple) -> Any:
        """One of a few words."""
        asked = self.given.get(key, default)
        if isinstance(asked, str | bool) and asked in choices:
            return asked
        self.note(key, asked, default, f"must be one of {', '.join(map(str, choices))}")
        return default

    def name(self, key: str, kept: Kept) -> str | None:
        """The name of a file that the server keeps."""
        asked = self.given.get(key)
        if asked is None:
            return None
        if isinstance(asked, str) and FILE.fullmatch(asked) and kept(asked):
            return asked
        self.note(key, asked, None, "not kept here: drop the file again")
        return None


def each_in_range(given: object, kept: Kept) -> tuple[State, list[dict]]:
    """A state from any JSON, key by key, and the report of what was changed."""
    if not isinstance(given, dict):
        raise InputError(
            f"`state` must be an object, got {type(given).__name__}. Send {{}} for "
            "the default."
        )
    read = Reader(given)
    if given.get("v", 1) != 1:
        read.note("v", given["v"], 1, "made by another version of the page")
    return _each(read, kept), read.notes


def _each(read: Reader, kept: Kept) -> State:
    """Every key on its own."""
    return State(
        model=read.choice("model", "sa", MODELS),
        beta=read.number("beta", 9.0, -1e4, 1e4),
        n=read.whole("n", 64, 1, _caps.MOST_TOKENS),
        d=read.whole("d", 3, 2, _caps.MOST_DIMENSIONS),
        t1=read.number("t1", 20.0, 1e-4, 1e300),
        seed=read.whole("seed", 0, 0, 2**31 - 1),
        init=read.choice("init", "uniform", STARTS),
        file=read.name("file", kept),
        heads=read.whole("heads", 1, 1, _caps.MOST_HEADS),
        V=_value_matrix(read),
        noise=read.number("noise", 0.0, 0.0, 10.0),
        weights=read.choice("weights", "equal", ("equal", "random")),
        solver=read.choice("solver", "adaptive", SOLVERS),
        h=read.number("h", 0.1, 1e-4, 10.0),
        dtype=read.choice("dtype", "float64", ("float64", "float32")),
        merge=read.choice("merge", False, (False, True)),
        frames=read.whole("frames", 201, 2, _caps.MOST_FRAMES),
        clock=read.choice("clock", "linear", ("linear", "log")),
        moved=_moved(read),
    )


def _value_matrix(read: Reader) -> str | tuple[Any, ...] | None:
    asked = read.given.get("V")
    if asked is None or asked in ("identity", "minus"):
        return asked
    if isinstance(asked, str) and asked.startswith("file:"):
        return asked
    if _numbers(asked) and 2 <= len(asked) <= _caps.MOST_EIGENVALUES:
        return tuple(float(v) for v in asked)
    if isinstance(asked, list) and 2 <= len(asked) <= _caps.MOST_MATRIX:
        if all(_numbers(row) and len(row) == len(asked) for row in asked):
            return tuple(tuple(float(v) for v in row) for row in asked)
    read.note("V", asked, None, "must be identity, minus, or 2 to 16 numbers up to 100")
    return None


def _numbers(row: object) -> bool:
    return isinstance(row, list) and all(
        isinstance(v, int | float) and not isinstance(v, bool) and abs(v) <= 100
        for v in row
    )


def _moved(read: Reader) -> tuple[tuple[int, tuple[float, ...]], ...]:
    """Tokens that were moved by hand; the last word on each."""
    asked = read.given.get("moved") or []
    rows: dict[int, tuple[float, ...]] = {}
    for row in asked if isinstance(asked, list) else [None]:
        try:
            index, point = row  # type: ignore[misc]
            values = tuple(float(x) for x in point)
            if type(index) is not int or not all(map(math.isfinite, values)):
                raise ValueError
        except (TypeError, ValueError, OverflowError):
            read.note("moved", row, None, "must be [index, [x, ...]] with numbers")
            continue
        if not math.hypot(*values) > 1e-9:
            read.note("moved", index, None, "a zero vector has no direction")
            continue
        rows[index] = values
    return tuple(sorted(rows.items()))


def from_json(given: dict) -> State:
    """A state that was already brought into range, read back from `as_json`."""
    rows = {k: v for k, v in given.items() if k != "v"}
    if isinstance(rows["V"], list):
        rows["V"] = tuple(tuple(v) if isinstance(v, list) else v for v in rows["V"])
    rows["moved"] = tuple((i, tuple(x)) for i, x in rows["moved"])
    return State(**rows)
