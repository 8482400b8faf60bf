"""Claims of this study, with its name and its paper filled in."""

import functools

from pushforward import studies
from pushforward.studies.lost_in_the_middle.study import PAPER

STUDY = "lost_in_the_middle"

within = functools.partial(studies.within, STUDY)
at_least = functools.partial(studies.at_least, STUDY)
at_most = functools.partial(studies.at_most, STUDY)
open_claim = functools.partial(studies.open_claim, STUDY)


def paper(where: str) -> str:
    """The bibliography key with the place in the paper."""
    return f"{PAPER}, {where}"
