"""Rules (t, mu) -> (v, g) that move a measure."""

from pushforward.fields._attention import Attention as Attention
from pushforward.fields._attention import UnnormalizedAttention as UnnormalizedAttention
from pushforward.fields._causal import CausalAttention as CausalAttention
from pushforward.fields._field import AbstractField as AbstractField
from pushforward.fields._field import AbstractMeanField as AbstractMeanField
from pushforward.fields._field import Drive as Drive
from pushforward.fields._field import Motion as Motion
from pushforward.fields._field import Multiple as Multiple
from pushforward.fields._field import Sum as Sum
from pushforward.fields._gradient import GradientFlow as GradientFlow
from pushforward.fields._hard import HardAttention as HardAttention
from pushforward.fields._hard import HardRelaxation as HardRelaxation
from pushforward.fields._heads import Heads as Heads
from pushforward.fields._normalization import DepthScaledNorm as DepthScaledNorm
from pushforward.fields._normalization import MixNorm as MixNorm
from pushforward.fields._normalization import PeriNorm as PeriNorm
from pushforward.fields._normalization import PreNorm as PreNorm
from pushforward.fields._normalization import UnitNorm as UnitNorm
from pushforward.fields._perceptron import Perceptron as Perceptron
from pushforward.fields._scaled import same_for_all_orders as same_for_all_orders
from pushforward.fields._scaled import scaled_push as scaled_push
from pushforward.fields._switched import Switched as Switched
from pushforward.fields._switched import switch_times as switch_times
