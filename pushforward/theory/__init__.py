"""Closed forms and predictions. Imports no simulator, so that agreement is evidence."""

from . import circle as circle
from . import equiangular as equiangular
from . import hemisphere as hemisphere
from . import kuramoto as kuramoto
from . import long_context as long_context
from . import normalization as normalization
from . import stability as stability
from . import two_tokens as two_tokens
from . import uniform as uniform
