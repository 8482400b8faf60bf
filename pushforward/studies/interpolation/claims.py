"""Every claim of the study."""

from pushforward.studies.interpolation import _beyond, _blocks, _theorems

CLAIMS = (*_blocks.CLAIMS, *_theorems.CLAIMS, *_beyond.CLAIMS)
