"""Every claim of the study, theorem by theorem."""

from pushforward.studies.clusters import (
    _collapse,
    _hardmax,
    _hyperplanes,
    _line,
    _perceptrons,
    _polytope,
    _rank,
)

CLAIMS = (
    *_line.CLAIMS,
    *_polytope.CLAIMS,
    *_hyperplanes.CLAIMS,
    *_collapse.CLAIMS,
    *_hardmax.CLAIMS,
    *_perceptrons.CLAIMS,
    *_rank.CLAIMS,
)
