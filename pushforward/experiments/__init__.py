"""What a run is, said once: `Experiment`, how tokens start, and its text forms.

Open `_experiment.py` first; `_start.py` has the starts, `_names.py` the dotted names,
`_tree.py` and `_texts.py` the texts.
"""

from pushforward.experiments._changed_starts import AtRest as AtRest
from pushforward.experiments._changed_starts import Moved as Moved
from pushforward.experiments._changed_starts import Scaled as Scaled
from pushforward.experiments._changed_starts import UnequalWeights as UnequalWeights
from pushforward.experiments._controls import CONTROLS as CONTROLS
from pushforward.experiments._controls import GIVEN as GIVEN
from pushforward.experiments._controls import Control as Control
from pushforward.experiments._ensemble import Observations as Observations
from pushforward.experiments._ensemble import ensemble as ensemble
from pushforward.experiments._ensemble import lanes as lanes
from pushforward.experiments._ensemble import structure as structure
from pushforward.experiments._experiment import Experiment as Experiment
from pushforward.experiments._names import unknown as unknown
from pushforward.experiments._options import MODELS as MODELS
from pushforward.experiments._options import STARTS as STARTS
from pushforward.experiments._options import named_start as named_start
from pushforward.experiments._options import options as options
from pushforward.experiments._options import readings as readings
from pushforward.experiments._random_heads import RandomHeads as RandomHeads
from pushforward.experiments._random_heads import WeightsFromFile as WeightsFromFile
from pushforward.experiments._random_heads import weights_of_file as weights_of_file
from pushforward.experiments._start import AbstractStart as AbstractStart
from pushforward.experiments._start import Clustered as Clustered
from pushforward.experiments._start import Equispaced as Equispaced
from pushforward.experiments._start import FromFile as FromFile
from pushforward.experiments._start import Given as Given
from pushforward.experiments._start import GivenDensity as GivenDensity
from pushforward.experiments._start import GivenGaussian as GivenGaussian
from pushforward.experiments._start import Normal as Normal
from pushforward.experiments._start import Orthonormal as Orthonormal
from pushforward.experiments._start import Uniform as Uniform
from pushforward.experiments._start import UniformDensity as UniformDensity
from pushforward.experiments._start import VonMisesFisher as VonMisesFisher
from pushforward.experiments._tree import made as made
from pushforward.experiments._tree import plain as plain
