"""Every claim of the study."""

from pushforward.studies.normalizing_flows import _approximation, _pieces, _sampling

CLAIMS = (*_pieces.CLAIMS, *_approximation.CLAIMS, *_sampling.CLAIMS)
