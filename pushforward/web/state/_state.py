"""The state of the page: an experiment, said by the keys of its controls.

Whatever arrives is brought into the declared ranges, and every change is reported as
{key, asked, used, why}: the page never fails on an old or a hostile link.

Links: a JSON object, compressed, in letters that an address may hold.
"""

import base64
import binascii
import dataclasses
import hashlib
import json
import math
import re
import zlib
from collections.abc import Callable
from typing import Any

import pushforward
import pushforward as pf
from pushforward.errors import InputError
from pushforward.experiments import CONTROLS
from pushforward.web import _caps

FILE = re.compile(r"[0-9a-f]{32}")
DEFAULT = {key: control.default for key, control in CONTROLS.items()}
BESIDE = ("v", "view", "preset", "experiment", "measure")  # in a link, not of the run
# Words of older links.
RENAMED = {"hard": {"model": "hardmax"}, "layer": {"model": "sa", "solver": "layers"}}


@dataclasses.dataclass(frozen=True)
class State:
    """One run of the explorer; the fields are the keys of the page."""

    model: str = DEFAULT["model"]
    beta: float = DEFAULT["beta"]
    n: int = DEFAULT["n"]
    d: int = DEFAULT["d"]
    t1: float = DEFAULT["t1"]
    seed: int = DEFAULT["seed"]
    init: str = DEFAULT["init"]
    norm: str = DEFAULT["norm"]
    perceptron: float = DEFAULT["perceptron"]
    heads: int = DEFAULT["heads"]
    noise: float = DEFAULT["noise"]
    weights: str = DEFAULT["weights"]
    solver: str = DEFAULT["solver"]
    h: float = DEFAULT["h"]
    dtype: str = DEFAULT["dtype"]
    merge: bool = DEFAULT["merge"]
    frames: int = DEFAULT["frames"]
    clock: str = DEFAULT["clock"]
    file: str | None = None  # what the server keeps under this name
    V: str | tuple[Any, ...] | None = None
    moved: tuple[tuple[int, tuple[float, ...]], ...] = ()
    experiment: str | None = None  # as JSON, where no controls make it

    def as_json(self) -> dict[str, Any]:
        """Every key, as the page reads it."""
        return {"v": 1, **dataclasses.asdict(self)}

    def differences(self) -> dict[str, Any]:
        """Only the keys that are not at their defaults."""
        default, mine = State().as_json(), self.as_json()
        return {k: v for k, v in mine.items() if k == "v" or v != default[k]}

    def seconds(self) -> float:
        """About how long it computes; only the order of waiting runs depends on it."""
        steps = 10.0 * self.frames + min(self.t1, _caps.LONGEST_TIME) ** 0.5
        return 2e-9 * steps * self.n**2 * self.d * self.heads

    def digest(self) -> str:
        """The name of the run: equal states of one version are one run."""
        text = json.dumps([pushforward.__version__, self.as_json()], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:32]


# What the server keeps under a name: {kind, n, d, ...}, or None.
Kept = Callable[[str], dict | None]


def nothing(name: str) -> None:
    """A server that keeps no files."""
    return None


def note(key: str, asked: object, used: object, why: str) -> dict[str, Any]:
    """One line of the report; long values are cut."""
    shown = asked if isinstance(asked, int | float | bool) else str(asked)[:60]
    if isinstance(shown, float) and not math.isfinite(shown):
        shown = str(shown)
    if isinstance(shown, int) and abs(shown) > 2**53:
        shown = f"{float(shown):g}" if abs(shown) < 10**300 else "beyond 1e300"
    return {"key": key, "asked": shown, "used": used, "why": why}


def each_in_range(given: object, kept: Kept) -> tuple[State, list[dict]]:
    """A state from any JSON, key by key, and the report of what was changed."""
    if not isinstance(given, dict):
        raise InputError(
            f"`state` must be an object, got {type(given).__name__}. Send {{}} for "
            "the default."
        )
    asked = given.get("model")
    given = given | (RENAMED.get(asked, {}) if isinstance(asked, str) else {})
    notes: list[dict] = []
    if given.get("v", 1) not in (1, 2):
        notes.append(note("v", given["v"], 1, "made by another version of the page"))
    values = {}
    for key, control in CONTROLS.items():
        asked = given.get(key, control.default)
        values[key], why = control.brought(asked)
        if why:
            notes.append(note(key, asked, values[key], why))
    values["V"] = _value_matrix(given.get("V"), notes)
    values["moved"] = _moved(given.get("moved") or [], notes)
    values["file"] = _name(given.get("file"), kept, notes)
    unknown = [key for key in given if key not in values and key not in BESIDE]
    notes += [note(str(k)[:40], given[k], None, "unknown key") for k in unknown[:16]]
    return State(**values), notes


def _name(asked: object, kept: Kept, notes: list[dict]) -> str | None:
    """The name of a file that the server keeps."""
    if asked is None:
        return None
    if isinstance(asked, str) and FILE.fullmatch(asked) and kept(asked):
        return asked
    notes.append(note("file", asked, None, "not kept here: drop the file again"))
    return None


def _value_matrix(asked: Any, notes: list[dict]) -> str | tuple[Any, ...] | None:
    if asked is None or asked in ("identity", "minus"):
        return asked
    if isinstance(asked, str) and asked.startswith("file:"):
        return asked
    if _numbers(asked) and 2 <= len(asked) <= _caps.MOST_EIGENVALUES:
        return tuple(float(v) for v in asked)
    if isinstance(asked, list) and 2 <= len(asked) <= _caps.MOST_MATRIX:
        if all(_numbers(row) and len(row) == len(asked) for row in asked):
            return tuple(tuple(float(v) for v in row) for row in asked)
    why = (
        f"must be identity, minus, 2 to {_caps.MOST_EIGENVALUES} eigenvalues or up to "
        f"{_caps.MOST_MATRIX} rows, of numbers up to {_caps.LARGEST_ENTRY:g}"
    )
    notes.append(note("V", asked, None, why))
    return None


def _numbers(row: object) -> bool:
    return isinstance(row, list) and all(
        isinstance(v, int | float)
        and not isinstance(v, bool)
        and abs(v) <= _caps.LARGEST_ENTRY
        for v in row
    )


def _moved(asked: object, notes: list[dict]):
    """Tokens that were moved by hand; the last word on each."""
    rows: dict[int, tuple[float, ...]] = {}
    for row in asked if isinstance(asked, list) else [None]:
        try:
            index, point = row  # type: ignore[misc]
            values = tuple(float(x) for x in point)
            if type(index) is not int or not all(map(math.isfinite, values)):
                raise ValueError
        except (TypeError, ValueError, OverflowError):
            why = "must be [index, [x, ...]] with numbers"
            notes.append(note("moved", row, None, why))
            continue
        if not math.hypot(*values) > 1e-9:
            why = "a zero vector has no direction"
            notes.append(note("moved", index, None, why))
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


def packed(content: dict) -> str:
    """base64url of the zlib-compressed JSON: what stands behind #s= in the address."""
    text = json.dumps(content, separators=(",", ":"))
    squeezed = zlib.compress(text.encode(), 9)
    return base64.urlsafe_b64encode(squeezed).decode().rstrip("=")


def unpacked(text: str) -> dict:
    """The JSON object of a link; older links are JSON as it is.

    >>> unpacked(packed({"n": 8}))
    {'n': 8}
    """
    try:
        raw = base64.urlsafe_b64decode((text + "=" * (-len(text) % 4)).encode())
        if not raw.startswith(b"{"):
            most = _caps.MESSAGE_BYTES
            raw = zlib.decompressobj().decompress(raw, most)  # a bomb ends there
        found = json.loads(raw)
    except (binascii.Error, zlib.error, ValueError, RecursionError) as error:
        raise InputError(f"the link cannot be read: {error}. Copy it again.") from error
    if not isinstance(found, dict):
        raise InputError("the link holds no state. Copy it again.")
    return found


# What a link may name: nothing else of the library is made for a stranger.
SHOWN = frozenset(
    """Uniform Clustered Equispaced Orthonormal Normal VonMisesFisher Scaled Moved
    UnequalWeights FromFile Given Sphere Circle Euclidean
    Attention UnnormalizedAttention CausalAttention HardAttention RescaledAttention
    RandomHeads WeightsFromFile Heads Sum Perceptron UnitNorm DepthNorm
    LogTimes Adaptive Layers Heun Merge Brownian
    InteractionEnergy ClusterCount LargestMass mean_cosine
    AtRest GivenGaussian GivenDensity UniformDensity Fourier Harmonics
    PreNorm MixNorm PeriNorm DepthScaledNorm Multiple Linear Switched
    SinkhornAttention DistanceAttention LinearAttention HardRelaxation
    DecayingAttention PositionAttention Alibi Window ByLag RescaledPerceptron
    Momentum MomentumLayers Friction Nesterov CommonNoise""".split()
)


def linked_experiment(tree: object) -> pf.Experiment:
    """The experiment of a link, which may come from anywhere."""
    try:
        tree = json.loads(tree) if isinstance(tree, str) else tree
        refuse_unknown(tree)
        return pf.Experiment.from_dict(tree)  # type: ignore[arg-type]
    except InputError:
        raise
    except RecursionError as error:
        raise InputError("`experiment` is nested too deeply. Copy it again.") from error
    except (TypeError, ValueError, OverflowError, KeyError) as error:
        raise InputError(f"`experiment` cannot be read: {error}.") from error


def refuse_unknown(tree: object) -> None:
    for kind in _kinds(tree):
        if kind not in SHOWN:
            raise InputError(
                f"`experiment` has {str(kind)[:40]!r}, which links do not carry. "
                "Write it to spec.toml, then: pushforward explore spec.toml"
            )


def _kinds(tree: object):
    """Every kind that a tree names, and whatever else `io` would look up."""
    if isinstance(tree, list):
        for item in tree:
            yield from _kinds(item)
    elif isinstance(tree, dict):
        for key, value in tree.items():
            if key in ("kind", "type", "observable"):
                yield value
            else:
                yield from _kinds(value)
