"""Claims of this study, with its name and its paper filled in."""

import functools

from pushforward import studies
from pushforward.studies.perspective.study import PAPER

STUDY = "perspective"
SURVEY = "rigollet2025meanfield"

within = functools.partial(studies.within, STUDY)
at_least = functools.partial(studies.at_least, STUDY)
open_claim = functools.partial(studies.open_claim, STUDY)


def paper(where: str) -> str:
    """The bibliography key with the place in the paper."""
    return f"{PAPER}, {where}"


def survey(where: str) -> str:
    """The key of the survey on mean-field dynamics, with the place."""
    return f"{SURVEY}, {where}"
