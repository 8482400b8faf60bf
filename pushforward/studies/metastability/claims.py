"""Every claim of the study."""

from pushforward.studies.metastability import _theorem, _times

CLAIMS = (*_theorem.CLAIMS, *_times.CLAIMS)
