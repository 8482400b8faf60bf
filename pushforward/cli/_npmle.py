"""`pushforward npmle`: a mixture without a number of components, on the user's file."""

import json
import pathlib
from typing import Annotated

import typer

from pushforward.cli._options import AsJson, Report, need_folders, say, status


def npmle(
    data: Annotated[
        pathlib.Path,
        typer.Argument(help="A table, one datum per row: .csv .tsv .npy .xlsx ..."),
    ],
    columns: Annotated[
        str | None,
        typer.Option(help="Coordinates, separated by commas; all others if missing."),
    ] = None,
    sigma: Annotated[
        str | None,
        typer.Option(
            help="Standard deviation of the noise: a number, a column (or one for each "
            "coordinate), or the word estimate."
        ),
    ] = None,
    variance: Annotated[
        float | None, typer.Option(help="Variance of the noise, instead of --sigma.")
    ] = None,
    likelihood: Annotated[
        str, typer.Option(help="gaussian, poisson or binomial.")
    ] = "gaussian",
    exposure: Annotated[
        str | None, typer.Option(help="Of Poisson counts: a number or a column.")
    ] = None,
    trials: Annotated[
        str | None, typer.Option(help="Of binomial counts: a number or a column.")
    ] = None,
    weights: Annotated[
        str | None, typer.Option(help="A column of weights of the rows.")
    ] = None,
    drop_missing: Annotated[
        bool, typer.Option("--drop-missing", help="Drop rows with missing values.")
    ] = False,
    keep_missing: Annotated[
        bool,
        typer.Option("--keep-missing", help="Fit such rows by what they do have."),
    ] = False,
    grid: Annotated[
        int | None, typer.Option(help="Fixed atoms: so many, evenly over the data.")
    ] = None,
    atoms: Annotated[
        pathlib.Path | None, typer.Option(help="Write the components (.csv).")
    ] = None,
    posterior: Annotated[
        pathlib.Path | None,
        typer.Option(help="Write means, intervals, sign rates of each row (.csv)."),
    ] = None,
    report: Report = None,
    as_json: AsJson = False,
) -> None:
    """Fit a mixture without choosing the number of components.

    The answer says which noise was assumed and comes with a certificate: no other
    mixture has a log-likelihood per datum larger by more than the gap.
    """
    from pushforward.errors import InputError
    from pushforward.statistics import mixtures
    from pushforward.statistics.tables.number_files import Missing

    need_folders(atoms, posterior, report)
    if drop_missing and keep_missing:
        raise InputError("`--drop-missing` and `--keep-missing` exclude each other.")
    kept = Missing.KEEP if keep_missing else Missing.REFUSE
    chosen = tuple(name.strip() for name in columns.split(",")) if columns else None
    fit, table = mixtures.npmle_from_csv(
        data,
        roles=mixtures.Roles(
            chosen, likelihood, sigma, variance, exposure, trials, weights
        ),
        missing=Missing.DROP if drop_missing else kept,
        method=mixtures.ColumnGeneration() if grid is None else mixtures.EvenGrid(grid),
    )
    for line in (*table.decisions, *(f"doubt: {doubt}" for doubt in fit.doubts)):
        status.print(line, soft_wrap=True)
    written = _written(fit, table, atoms, posterior, report)
    if as_json:
        found = mixtures.summary(fit, table) | {"written": written}
        say(json.dumps(found))
        return
    names = ", ".join(table.columns)
    lines = [f"{len(table.values)} rows of {names}", *str(fit).splitlines()]
    lines = [line for line in lines if not line.startswith("doubt:")]
    lines += [f"{what:12s}{path}" for what, path in written.items()]
    say("\n".join(lines))


def _written(fit, table, atoms, posterior, report) -> dict[str, str]:
    """Write what was asked for; the paths."""
    from pushforward.statistics import mixtures

    if atoms is not None:
        mixtures.write_atoms(fit, table, atoms)
    if posterior is not None:
        mixtures.write_posteriors(fit, table, posterior)
    if report is not None:
        from pushforward.plot.mixtures import write_mixture_report

        told = {"names": table.columns, "read": table.decisions, "rows": table.names}
        write_mixture_report(fit, report, **told)
    named = {"atoms": atoms, "posterior": posterior, "report": report}
    return {name: str(path) for name, path in named.items() if path is not None}
