"""Every claim of the study."""

from pushforward.studies.interpolation import _blocks, _theorems

CLAIMS = (*_blocks.CLAIMS, *_theorems.CLAIMS)
