"""`pushforward cite`: what to cite."""

from typing import Annotated

import typer

from pushforward.cli._options import say


def cite(
    names: Annotated[
        list[str] | None, typer.Argument(help="Public names, such as Attention.")
    ] = None,
) -> None:
    """BibTeX for this program, and for the papers behind the names given (or all)."""
    import pushforward as pf
    from pushforward import _references
    from pushforward.errors import InputError

    entries = [_references.software()]
    for name in names or []:
        if name not in pf.public_names():
            raise InputError(f"no public name {name!r}; see dir(pushforward).")
        entries.append(_references.cite(getattr(pf, name)))
    if not names:
        entries += [_references.bibtex(key) for key in _references.PAPERS]
    say("\n\n".join(e for e in entries if e))
