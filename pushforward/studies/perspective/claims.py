"""Every claim of the study, theorem by theorem."""

from pushforward.studies.perspective import (
    _circle,
    _codes,
    _collapse,
    _concentration,
    _context,
    _energy,
    _plateaus,
)

CLAIMS = (
    *_energy.CLAIMS,
    *_codes.CLAIMS,
    *_collapse.CLAIMS,
    *_concentration.CLAIMS,
    *_plateaus.CLAIMS,
    *_circle.CLAIMS,
    *_context.CLAIMS,
)
