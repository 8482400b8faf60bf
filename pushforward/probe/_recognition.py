"""Which family a file of weights looks like, and which parts of it are strange."""

from collections.abc import Mapping
from typing import Any

from pushforward.probe._config import OTHERWISE
from pushforward.probe._families import FAMILIES, Family


def prefix_of(family: Family, arrays: Mapping[str, Any]) -> str:
    """What stands before all names of this file."""
    probe = family.layer.format(0)
    for prefix in (*family.prefixes, ""):
        if any(name.startswith(prefix + probe) for name in arrays):
            return prefix
    return ""


def not_known(config: dict[str, Any], arrays: Mapping[str, Any]) -> str:
    """A family that is not known: what of it looks like one that is."""
    kind = config.get("model_type")
    said = f"models of type {kind!r} are not known; known: {', '.join(FAMILIES)}."
    best: tuple[int, str, list[str]] = (0, "", [])
    for name, family in FAMILIES.items():
        prefix = prefix_of(family, arrays)
        start = prefix + family.layer.format(0)
        inside = sorted(n.removeprefix(start) for n in arrays if n.startswith(start))
        parts = (*family.attention, *family.perceptron, *family.head_norms)
        parts += (*family.attention_norms.values(), *family.perceptron_norms.values())
        left = [n for n in inside if n.rpartition(".")[0] not in parts]
        if len(inside) - len(left) > best[0]:
            best = (len(inside) - len(left), name, left)
    if best[0]:
        odd = ", ".join(best[2][:4]) or "none by name, but the type is another"
        said += f" Its layers are most like {best[1]}; parts not recognised: {odd}."
    return f"{said} {OTHERWISE}"
