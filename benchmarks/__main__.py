"""One table: ours beside peers, from every module here that has `rows`.

python -m benchmarks            # the whole table, and scaling plots in out/
python -m benchmarks --quick    # under a minute
python -m benchmarks --json     # machine-readable rows on stdout
python -m benchmarks exact      # only the modules named
"""

import argparse
import importlib
import json
import pkgutil
import sys
from collections.abc import Iterator

import benchmarks

COLUMNS = (
    "work",
    "n",
    "d",
    "dtype",
    "our seconds",
    "peer",
    "peer seconds",
    "ratio",
    "error",
    "floor",
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("modules", nargs="*", help="only these modules")
    parser.add_argument("--json", action="store_true", help="rows as JSON")
    parser.add_argument("--quick", action="store_true", help="under a minute")
    options = parser.parse_args()
    import pushforward  # noqa: F401  # float64, before any array is made

    rows = []
    for row in collected(options.modules, options.quick):
        rows.append(row)
        if not options.json:
            print(line(row), flush=True)
    if options.json:
        print(json.dumps(rows))
    if not options.quick:
        from benchmarks.scaling import drawn

        print(f"scaling plots: {drawn()}", file=sys.stderr)


def collected(only: list[str], quick: bool) -> Iterator[dict]:
    """The rows of every module of this folder that has some."""
    for module in pkgutil.iter_modules(benchmarks.__path__):
        if module.name in ("__main__", "gpu") or (only and module.name not in only):
            continue
        try:
            loaded = importlib.import_module(f"benchmarks.{module.name}")
        except ImportError as missing:  # a peer that is not installed
            print(f"{module.name} left out: {missing}", file=sys.stderr)
            continue
        if hasattr(loaded, "rows"):
            yield from (uniform(row) for row in loaded.rows(quick))


def uniform(row: dict) -> dict:
    """Every row with the same names."""
    names = {"ours_seconds": "our seconds", "peer_seconds": "peer seconds"}
    renamed = {names.get(name, name): value for name, value in row.items()}
    return {"floor": ""} | renamed


def line(row: dict) -> str:
    """One row of the table."""
    ours, theirs, ratio, error = (
        row.get(k) for k in ("our seconds", "peer seconds", "ratio", "error")
    )
    shown = lambda value, form: "-" if value is None else format(value, form)  # noqa: E731
    return (
        f"{row['work']:44s} n={row['n']:<9} d={row['d']!s:4} {row['dtype']:8s}"
        f"{shown(ours, '10.4g')} s  {row['peer']:26s}{shown(theirs, '10.4g')} s"
        f"  x{shown(ratio, '6.2f')}{_cpu(row)}  err {shown(error, '8.1e')}"
        f"  {row['floor']}"
    )


def _cpu(row: dict) -> str:
    """CPU seconds of both, where they were taken."""
    ours, theirs = row.get("our CPU"), row.get("peer CPU")
    if not ours:
        return ""
    if not theirs:
        return f"  CPU {ours * 1e3:.4g} ms"
    return f"  CPU {ours * 1e3:.4g} : {theirs * 1e3:.4g} ms x{theirs / ours:.2f}"


if __name__ == "__main__":
    main()
