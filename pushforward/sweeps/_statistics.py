"""What is measured in every cell, by name."""

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

import pushforward as pf
from pushforward import observables
from pushforward._checks import positive
from pushforward.errors import InputError

RADIUS = 0.05
PLAIN = ("mean_cosine", "order_parameter", "effective_rank")
NAMES = ("close", "clusters", "largest_mass", "energy", *PLAIN)


def checked_statistic(statistic: Any) -> dict[str, Any]:
    """The full form {"name": ..., parameters} or {"study": ..., "claim": ...}."""
    full = {"name": statistic} if isinstance(statistic, str) else statistic
    if not isinstance(full, Mapping):
        raise InputError(f"`statistic` must be a name, got {statistic!r}.")
    full = dict(full)
    if set(full) == {"study", "claim"}:
        claim_function(full)
        return full
    known = {"close": {"threshold": 0.999}}
    known |= {name: {"radius": RADIUS} for name in ("clusters", "largest_mass")}
    name = full.get("name")
    if name not in NAMES:
        raise InputError(f"no statistic {name!r}; there are: {', '.join(NAMES)}.")
    allowed = known.get(str(name), {})
    unknown = sorted(set(full) - {"name"} - set(allowed))
    if unknown:
        raise InputError(f"the statistic {name!r} has no parameter {unknown[0]!r}.")
    numbers = {
        key: float(positive(key, full.get(key, v))) for key, v in allowed.items()
    }
    return {"name": name} | numbers


def observable(statistic: dict[str, Any], beta: Array) -> Callable:
    """The statistic as a function of a measure that can be traced."""
    name = statistic["name"]
    if name == "close":
        return observables.ClosePairs(statistic["threshold"])
    if name == "energy":
        return pf.InteractionEnergy(beta)
    if name == "clusters":
        return lambda mu: jnp.sum(_heads(mu, statistic["radius"])).astype(float)
    if name == "largest_mass":
        return lambda mu: _masses(mu, statistic["radius"]).max()
    return getattr(observables, name)


def claim_function(statistic: Mapping[str, Any]) -> Callable:
    """The claim of a study by the name of its function."""
    from pushforward.studies._runner import part

    claims = {f.__name__: f for f in part(statistic["study"], "claims").CLAIMS}
    if statistic["claim"] not in claims:
        raise InputError(
            f"the study {statistic['study']!r} has no claim {statistic['claim']!r}; "
            f"there are: {', '.join(claims)}."
        )
    return claims[statistic["claim"]]


def _labels(mu: pf.Particles, radius: float) -> Int[Array, "n"]:
    """The first token of the chain that each token belongs to, by propagation."""
    distance = mu.space.distance(mu.points[:, None, :], mu.points[None, :, :])
    near = distance <= radius

    def spread(labels):
        return jnp.where(near, labels[None, :], labels[:, None]).min(axis=1)

    def changed(state):
        return (state[0] != state[1]).any()

    start = jnp.arange(mu.n)
    both = (start, spread(start))
    return jax.lax.while_loop(changed, lambda s: (s[1], spread(s[1])), both)[1]


def _heads(mu: pf.Particles, radius: float):
    return _labels(mu, radius) == jnp.arange(mu.n)


def _masses(mu: pf.Particles, radius: float) -> Float[Array, "n"]:
    return jnp.zeros(mu.n).at[_labels(mu, radius)].add(mu.weights)
