"""Claims of this study, with its name and its papers filled in."""

import functools

from pushforward import studies
from pushforward.studies.mean_field.study import PAPER

STUDY = "mean_field"
PERSPECTIVE = "geshkovski2023perspective"

within = functools.partial(studies.within, STUDY)
at_most = functools.partial(studies.at_most, STUDY)
open_claim = functools.partial(studies.open_claim, STUDY)


def paper(where: str) -> str:
    """The bibliography key with the place in the paper."""
    return f"{PAPER}, {where}"
