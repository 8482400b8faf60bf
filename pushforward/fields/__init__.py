"""Rules (t, mu) -> (v, g) that move a measure.

Open `_field.py` first: what a field is, and what it can say of itself. `_mean_field.py`
has fields with a value everywhere; `attention` all kinds of attention.
"""

from pushforward.fields._composed import Background as Background
from pushforward.fields._composed import Heads as Heads
from pushforward.fields._composed import Switched as Switched
from pushforward.fields._drive import Affine as Affine
from pushforward.fields._drive import Drive as Drive
from pushforward.fields._drive import Factored as Factored
from pushforward.fields._drive import Motion as Motion
from pushforward.fields._field import AbstractField as AbstractField
from pushforward.fields._field import Multiple as Multiple
from pushforward.fields._field import Sum as Sum
from pushforward.fields._linearization import Linearization as Linearization
from pushforward.fields._linearization import linearize as linearize
from pushforward.fields._mean_field import AbstractMeanField as AbstractMeanField
from pushforward.fields._mean_field import GradientFlow as GradientFlow
from pushforward.fields._momentum import AbstractFriction as AbstractFriction
from pushforward.fields._momentum import Friction as Friction
from pushforward.fields._momentum import Momentum as Momentum
from pushforward.fields._momentum import Nesterov as Nesterov
from pushforward.fields._momentum import at_rest as at_rest
from pushforward.fields._momentum import positions as positions
from pushforward.fields._normalization import DepthNorm as DepthNorm
from pushforward.fields._normalization import DepthScaledNorm as DepthScaledNorm
from pushforward.fields._normalization import MixNorm as MixNorm
from pushforward.fields._normalization import PeriNorm as PeriNorm
from pushforward.fields._normalization import PreNorm as PreNorm
from pushforward.fields._normalization import UnitNorm as UnitNorm
from pushforward.fields._perceptron import Perceptron as Perceptron
from pushforward.fields.attention._attention import Attention as Attention
from pushforward.fields.attention._attention import (
    UnnormalizedAttention as UnnormalizedAttention,
)
from pushforward.fields.attention._causal import AbstractBias as AbstractBias
from pushforward.fields.attention._causal import Alibi as Alibi
from pushforward.fields.attention._causal import ByLag as ByLag
from pushforward.fields.attention._causal import CausalAttention as CausalAttention
from pushforward.fields.attention._causal import PositionAttention as PositionAttention
from pushforward.fields.attention._causal import Window as Window
from pushforward.fields.attention._decaying import (
    DecayingAttention as DecayingAttention,
)
from pushforward.fields.attention._rescaled import (
    RescaledAttention as RescaledAttention,
)
from pushforward.fields.attention._rescaled import (
    RescaledPerceptron as RescaledPerceptron,
)
from pushforward.fields.attention._sinkhorn import (
    SinkhornAttention as SinkhornAttention,
)
from pushforward.fields.attention._variants import (
    DistanceAttention as DistanceAttention,
)
from pushforward.fields.attention._variants import HardAttention as HardAttention
from pushforward.fields.attention._variants import HardRelaxation as HardRelaxation
from pushforward.fields.attention._variants import Linear as Linear
from pushforward.fields.attention._variants import LinearAttention as LinearAttention
