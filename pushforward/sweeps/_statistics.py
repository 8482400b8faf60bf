"""What is measured in every cell: any observable, by name or as an object."""

from collections.abc import Callable, Mapping
from typing import Any

from pushforward import observables
from pushforward.errors import InputError
from pushforward.experiments import Experiment, plain, unknown
from pushforward.experiments import made as from_plain

# Short names of common observables, with the parameters they have unless given.
SHORT: dict[str, dict[str, Any]] = {
    "close": {"kind": "ClosePairs", "threshold": 0.999},
    "clusters": {"kind": "ClusterCount", "radius": observables.CLUSTER_RADIUS},
    "largest_mass": {"kind": "LargestMass", "radius": observables.CLUSTER_RADIUS},
    "mean_cosine": {"kind": "mean_cosine"},
    "order_parameter": {"kind": "order_parameter"},
    "effective_rank": {"kind": "effective_rank"},
}


def checked_statistic(statistic: Any, run: Any = None, classes=()) -> dict[str, Any]:
    """The full form: {"kind": ..., parameters}, {"observe": name} or a claim.

    `run` is the experiment or the options that the statistic is taken in.
    """
    if isinstance(statistic, str):
        statistic = {"name": statistic}
    if not isinstance(statistic, Mapping):
        return _of_object(statistic)
    full = dict(statistic)
    if set(full) == {"study", "claim"}:
        claim_function(full)
        return full
    if "name" not in full:
        from_plain(
            full, "statistic", classes
        )  # every name is looked at now, not in each cell
        return full
    name = full.pop("name")
    own = run.observe if isinstance(run, Experiment) else {"energy": None}
    if name in own and not full:
        return {"observe": name}
    if name in SHORT:
        full = SHORT[name] | full
    elif isinstance(name, str) and callable(vars(observables).get(name)):
        full = {"kind": name} | full
    else:
        known = (*own, *SHORT)
        raise InputError(f"no statistic: {unknown(name, known, 'the list')}")
    from_plain(full, "statistic", classes)
    return full


def _of_object(statistic: Any) -> dict[str, Any]:
    if not callable(statistic):
        raise InputError(
            f"`statistic` must be a name or a function of a measure, got {statistic!r}."
        )
    found = plain(statistic)
    return found if isinstance(found, dict) else {"kind": found}


def observable(statistic: dict, experiment: Experiment, classes=()) -> Callable:
    """The statistic as a function of a measure."""
    if "observe" in statistic:
        return experiment.observe[statistic["observe"]]
    return from_plain(statistic, "statistic", classes)


def claim_function(statistic: Mapping[str, Any]) -> Callable:
    """The claim of a study by the name of its function."""
    from pushforward.studies import part

    claims = {f.__name__: f for f in part(statistic["study"], "claims").CLAIMS}
    if statistic["claim"] not in claims:
        raise InputError(
            f"the study {statistic['study']!r} has no claim {statistic['claim']!r}; "
            f"there are: {', '.join(claims)}."
        )
    return claims[statistic["claim"]]
