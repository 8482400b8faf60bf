"""Every claim of the study."""

from pushforward.studies.causal import _atlas, _centers, _counts

CLAIMS = (*_atlas.CLAIMS, *_centers.CLAIMS, *_counts.CLAIMS)
