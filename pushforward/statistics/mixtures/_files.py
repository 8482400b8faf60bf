"""The NPMLE of a file, and its answers as files."""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float

from pushforward.errors import InputError
from pushforward.statistics.mixtures._column_generation import ColumnGeneration
from pushforward.statistics.mixtures._count_noise import BinomialCounts, PoissonCounts
from pushforward.statistics.mixtures._estimated import estimated_noise
from pushforward.statistics.mixtures._fit import Method, MixtureFit, npmle
from pushforward.statistics.mixtures._noise import AbstractLikelihood, GaussianErrors
from pushforward.statistics.mixtures._noise import GaussianNoise as Noise
from pushforward.statistics.mixtures._parts import refuse_excess, refuse_part
from pushforward.statistics.tables.match_files import write_csv
from pushforward.statistics.tables.number_files import (
    Missing,
    NumericTable,
    read_numbers,
)

ESTIMATE, COLUMN = "estimate", "column:"
KINDS = ("gaussian", "poisson", "binomial")
ERROR_NAMES = re.compile(
    r"^(sigma|sd|se|std(err)?|std[_ ]?(dev|error)|e|err(or)?|fehler|erreur|"
    r"unc(ertainty)?)([_ ].*)?$|.*[_ ](sigma|sd|se|err(or)?|stderr)$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Roles:
    """Which columns of a file play which part; None if none does.

    `sigma` is a number, the word estimate, or columns of standard deviations (one for
    all coordinates, or one each); `exposure` and `trials` are a number or a column.
    column:NAME is a column whose name is a number.
    """

    columns: tuple[str, ...] | None = None
    kind: str = "gaussian"
    sigma: str | None = None
    variance: float | None = None
    exposure: str | None = None
    trials: str | None = None
    weights: str | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(
                f"`likelihood` must be one of {', '.join(KINDS)}, got {self.kind!r}."
            )
        if self.sigma is not None and self.variance is not None:
            raise InputError("`sigma` and `variance` say the same: give one of them.")
        for name, kind in (
            ("sigma", 0),
            ("variance", 0),
            ("exposure", 1),
            ("trials", 2),
        ):
            if getattr(self, name) is not None and self.kind != KINDS[kind]:
                raise InputError(f"`{name}` goes with --likelihood {KINDS[kind]}.")
        if self.kind == "binomial" and self.trials is None:
            raise InputError("`trials` must be given: a number or a column.")

    @property
    def helpers(self) -> dict[str, tuple[str, ...]]:
        """Columns that are no coordinates, by their part."""
        given = {
            "sigma": self.sigma,
            "exposure": self.exposure,
            "trials": self.trials,
            "weights": self.weights,
        }
        return {
            part: tuple(name.strip().removeprefix(COLUMN) for name in text.split(","))
            for part, text in given.items()
            if text is not None and text != ESTIMATE and _as_number(text) is None
        }


def npmle_from_csv(
    path: str | Path,
    *,
    columns: tuple[str, ...] | None = None,
    roles: Roles | None = None,
    covariance: float | Float[np.ndarray, "d d"] | None = None,
    missing: Missing = Missing.REFUSE,
    method: Method = ColumnGeneration(),
) -> tuple[MixtureFit, NumericTable]:
    """The NPMLE of the rows of a table on disk, and the table that was read.

    `roles` says which columns hold errors, exposures, trials or weights; all others
    are coordinates unless `columns` names them. `Missing.KEEP` fits rows that lack some
    of their coordinates by the others.
    """
    given = Roles(columns) if roles is None else roles
    everything = read_numbers(path, _needed(path, given), missing=missing)
    for part in ("sigma", "exposure", "trials"):
        _refuse_two_meanings(part, getattr(given, part), everything)
    helpers = given.helpers
    used = {_resolved(everything, name) for part in helpers.values() for name in part}
    chosen = given.columns or tuple(n for n in everything.columns if n not in used)
    if not chosen:
        raise InputError(f"{path} has no column left for the data; name some.")
    data = np.stack([everything.column(name) for name in chosen], axis=1)
    for part, names in helpers.items():
        for name in names:
            refuse_part(path, everything, name, part)
    if given.kind != "gaussian":
        for name in chosen:
            refuse_part(path, everything, name, "counts")
            if given.kind == "binomial":
                size = _size(everything, given.trials or "")
                refuse_excess(path, everything, name, size)
    table = NumericTable(
        tuple(_resolved(everything, name) for name in chosen),
        data,
        everything.lines,
        (*everything.decisions, *_suspicions(chosen, given)),
        everything.names,
    )
    likelihood = _likelihood(given, everything, data, covariance)
    weights = None
    if "weights" in helpers:
        weights = everything.column(helpers["weights"][0])
    fit = npmle(data, likelihood=likelihood, weights=weights, method=method)
    return fit, table


def _needed(path: str | Path, roles: Roles) -> tuple[str, ...] | None:
    """The columns to read: all, or those that are named."""
    if roles.columns is None:
        return None
    extra = [name for part in roles.helpers.values() for name in part]
    return tuple(dict.fromkeys([*roles.columns, *extra]))


def _resolved(table: NumericTable, name: str) -> str:
    return table.columns[table.place(name)]


def _suspicions(chosen: tuple[str, ...], roles: Roles) -> list[str]:
    """Columns that look like errors and are fitted as coordinates."""
    if len(chosen) < 2 or roles.kind != "gaussian":
        return []
    return [
        f"column {name!r} is fitted as a coordinate; if it holds the standard errors "
        f"of the others, say --sigma {name} and leave it out of --columns"
        for name in chosen
        if ERROR_NAMES.match(name)
    ]


def _likelihood(
    roles: Roles, table: NumericTable, data: np.ndarray, covariance: object | None
) -> AbstractLikelihood:
    lost = np.isnan(data)
    if roles.kind == "poisson":
        return PoissonCounts(_size(table, roles.exposure or "1"))
    if roles.kind == "binomial":
        return BinomialCounts(_size(table, roles.trials or ""))
    if roles.sigma == ESTIMATE:
        if lost.any():
            raise InputError("`sigma` cannot be estimated with missing values.")
        return estimated_noise(data)
    if roles.helpers.get("sigma"):
        errors = np.stack([table.column(c) for c in roles.helpers["sigma"]], axis=1)
        if errors.shape[1] not in (1, data.shape[1]):
            raise InputError(
                f"`sigma` must name one column or {data.shape[1]}, one for each "
                f"coordinate, got {errors.shape[1]}."
            )
        return GaussianErrors(
            np.where(lost, np.inf, np.broadcast_to(errors, data.shape))
        )
    return _of_one_size(roles, data, lost, covariance)


def _of_one_size(
    roles: Roles, data: np.ndarray, lost: np.ndarray, covariance: object | None
) -> AbstractLikelihood:
    """Gaussian noise of a given variance, or of one if nothing is said."""
    sd = None if roles.sigma is None else _as_number(roles.sigma)
    said = roles.variance if sd is None else sd**2
    value = covariance if said is None else said
    if lost.any():
        if isinstance(value, np.ndarray) and value.ndim:
            raise InputError(
                "`covariance` must be a variance where values are missing."
            )
        one = 1.0 if value is None else float(value)  # type: ignore[arg-type]
        return GaussianErrors(np.where(lost, np.inf, np.sqrt(one)))
    if value is None:
        return Noise(1.0, "assumed because nothing was said (--sigma, --variance)")
    return Noise(value)  # type: ignore[arg-type]  # checked by it


def _size(table: NumericTable, text: str) -> float | np.ndarray:
    number = _as_number(text)
    return table.column(text.removeprefix(COLUMN)) if number is None else number


def _refuse_two_meanings(part: str, text: str | None, table: NumericTable) -> None:
    """A file without a header has columns that are called 1, 2, ..."""
    if text is not None and _as_number(text) is not None and text in table.every:
        raise InputError(
            f"`{part}` {text} is a number, and the name of a column. Say "
            f"{COLUMN}{text} or {float(text)}."
        )


def _as_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def summary(fit: MixtureFit, table: NumericTable) -> dict[str, object]:
    """The fit as plain lists and numbers, for JSON and for printing."""
    posterior = fit.posteriors()
    low, high = posterior.interval(0.9)
    return {
        "n": len(table.values),
        "columns": list(table.columns),
        "lines": list(table.lines),
        "names": list(table.names),
        "assumption": fit.assumption,
        "read": list(table.decisions),
        "doubts": list(fit.doubts),
        "atoms": fit.atoms.tolist(),
        "weights": fit.weights.tolist(),
        "loss": fit.loss,
        "log_likelihood": fit.log_likelihood,
        "gap": fit.gap,
        "proven": fit.proven,
        "proof": fit.proof,
        "labels": fit.labels.tolist(),
        "posterior_means": posterior.mean.tolist(),
        "posterior_sds": posterior.sd.tolist(),
        "intervals_90": [low.tolist(), high.tolist()],
        "false_sign_rates": posterior.false_sign_rate().tolist(),
    }


def write_atoms(fit: MixtureFit, table: NumericTable, path: str | Path) -> None:
    """The components: weight, then location."""
    rows = [[w, *a] for w, a in zip(fit.weights, fit.atoms, strict=True)]
    write_csv(path, ["weight", *table.columns], rows)


def write_posteriors(fit: MixtureFit, table: NumericTable, path: str | Path) -> None:
    """One row per datum: name, line, label, mean, sd, interval, false sign rate."""
    found = fit.posteriors()
    low, high = found.interval(0.9)
    parts = {
        "mean": found.mean,
        "sd": found.sd,
        "low": low,
        "high": high,
        "false_sign_rate": found.false_sign_rate(),
    }
    header = [f"{c}_{part}" for c in table.columns for part in parts]
    stacked = np.stack(list(parts.values()), axis=2).reshape(len(fit.data), -1)
    rows = [
        [line, label, *values]
        for line, label, values in zip(
            table.lines, fit.labels, stacked.tolist(), strict=True
        )
    ]
    if table.names:
        rows = [[name, *row] for name, row in zip(table.names, rows, strict=True)]
    first = ["name"] if table.names else []
    write_csv(path, [*first, "line", "component", *header], rows)
