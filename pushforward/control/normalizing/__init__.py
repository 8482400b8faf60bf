"""Normalizing flows built piece by piece from single ReLU neurons.

Open `normalizing_flow.py` first; `blocks.py` has the pieces.
"""

from pushforward.control.normalizing.grids import permutation as permutation
from pushforward.control.normalizing.grids import strip_shift as strip_shift
from pushforward.control.normalizing.grids import three_cycle as three_cycle
from pushforward.control.normalizing.lines import monotone_map as monotone_map
from pushforward.control.normalizing.lines import shear as shear
from pushforward.control.normalizing.lines import translation as translation
from pushforward.control.normalizing.neurons import in_turn as in_turn
from pushforward.control.normalizing.neurons import (
    knothe_rosenblatt as knothe_rosenblatt,
)
from pushforward.control.normalizing.neurons import maurey as maurey
from pushforward.control.normalizing.normalizing_flow import (
    NormalizingFlow as NormalizingFlow,
)
from pushforward.control.normalizing.normalizing_flow import (
    StandardNormal as StandardNormal,
)
from pushforward.control.normalizing.normalizing_flow import UnitCube as UnitCube
from pushforward.control.normalizing.normalizing_flow import identity as identity
from pushforward.control.normalizing.rearrangements import Distance as Distance
from pushforward.control.normalizing.rearrangements import (
    diffeomorphism as diffeomorphism,
)
from pushforward.control.normalizing.rearrangements import (
    distance_to_map as distance_to_map,
)
from pushforward.control.normalizing.rearrangements import (
    sample_distance as sample_distance,
)
from pushforward.control.normalizing.rearrangements import (
    volume_preserving as volume_preserving,
)
