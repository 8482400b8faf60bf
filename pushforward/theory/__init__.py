"""Closed forms and predictions. Imports no simulator, so that agreement is evidence."""

from . import causal as causal
from . import circle as circle
from . import equiangular as equiangular
from . import hemisphere as hemisphere
from . import kuramoto as kuramoto
from . import leaders as leaders
from . import limit_shapes as limit_shapes
from . import long_context as long_context
from . import metastability as metastability
from . import normalization as normalization
from . import parking as parking
from . import polytope as polytope
from . import stability as stability
from . import staircase as staircase
from . import two_tokens as two_tokens
from . import uniform as uniform
