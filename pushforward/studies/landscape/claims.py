"""Every claim of the study."""

from pushforward.studies.landscape import _bounds, _minima, _motion

CLAIMS = (*_minima.CLAIMS, *_motion.CLAIMS, *_bounds.CLAIMS)
