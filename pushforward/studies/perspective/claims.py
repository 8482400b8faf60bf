"""Every claim of the study, in the order of the paper."""

from pushforward.studies.perspective import _collapse, _plateaus

CLAIMS = (*_collapse.CLAIMS, *_plateaus.CLAIMS)
