"""The runs behind figures and claims, as experiments: the first of every kind."""

import pushforward as pf
from pushforward.studies.clusters import _hardmax, _hyperplanes, _line, claims
from pushforward.studies.clusters import _polytope as polytope
from pushforward.studies.clusters._systems import TIGHT, along, along_rescaled
from pushforward.studies.clusters.study import Parameters

SHOWN = {
    "leaders": ("leaders", "few_leaders"),
    "collapse": ("collapse",),
    "hardmax": ("hardmax-cells", "closed_form", "cells_kept"),
    "polytope-plane": ("hull_shrinks", "rate"),
    "line": ("gaps_grow",),
    "product": ("product",),
}


def experiments(p: Parameters) -> dict[str, pf.Experiment]:
    """The line, polytopes, hyperplanes, leaders, collapse, the hardmax limit."""
    flats = _hyperplanes.CASES | _hyperplanes.SUBSPACES
    rescaled = {
        **{f"polytope-{c}": polytope.systems(p, c)[0] for c in polytope.CASES},
        **{f"hyperplanes-{c}": _hyperplanes.systems(p, c)[0] for c in flats},
        "product": _hyperplanes.products(p)[0],
        "leaders": _hyperplanes.leading(p, _hyperplanes.clearest(p)),
    }
    hard = _hardmax.start(p)
    return {
        "line": along_rescaled(*_line.escaping(p), solver=TIGHT),
        **{name: along_rescaled(*system) for name, system in rescaled.items()},
        "collapse": along(claims.FIELD, claims.start(p), claims.TIMES, solver=TIGHT),
        "hardmax": along(_hardmax.HARD, hard, _hardmax.TIMES, solver=TIGHT),
    }
