"""Every claim of the study."""

from pushforward.studies.lost_in_the_middle import _dynamics, _profile, _retrieval

CLAIMS = (*_profile.CLAIMS, *_retrieval.CLAIMS, *_dynamics.CLAIMS)
