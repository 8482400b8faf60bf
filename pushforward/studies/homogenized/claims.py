"""Every claim of the study."""

from pushforward.studies.homogenized import _corrections, _laws

CLAIMS = (*_laws.CLAIMS, *_corrections.CLAIMS)
