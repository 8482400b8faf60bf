"""Closed forms and predictions. Imports no simulator, so that agreement is evidence.

A file per subject; open `two_tokens.py` first, the smallest. Attention on the sphere is
in `equiangular`, `metastability`, `stability`, `staircase`, in R^d in `limit_shapes`
and `polytope`, causal in `causal` and `parking`, with noise in `noisy` and
`transition`.
"""

from pushforward.theory import causal as causal
from pushforward.theory import circle as circle
from pushforward.theory import density_modes as density_modes
from pushforward.theory import depth as depth
from pushforward.theory import empirical_bayes as empirical_bayes
from pushforward.theory import equiangular as equiangular
from pushforward.theory import frank_wolfe as frank_wolfe
from pushforward.theory import gaussian_tokens as gaussian_tokens
from pushforward.theory import hemisphere as hemisphere
from pushforward.theory import homogenized as homogenized
from pushforward.theory import homogenized_pair as homogenized_pair
from pushforward.theory import kinetic as kinetic
from pushforward.theory import kinetic_lattice as kinetic_lattice
from pushforward.theory import kinetic_mean_field as kinetic_mean_field
from pushforward.theory import kuramoto as kuramoto
from pushforward.theory import landscape as landscape
from pushforward.theory import leaders as leaders
from pushforward.theory import limit_shapes as limit_shapes
from pushforward.theory import long_context as long_context
from pushforward.theory import metastability as metastability
from pushforward.theory import momentum as momentum
from pushforward.theory import negative_beta as negative_beta
from pushforward.theory import noisy as noisy
from pushforward.theory import normalization as normalization
from pushforward.theory import parking as parking
from pushforward.theory import polytope as polytope
from pushforward.theory import random_keys as random_keys
from pushforward.theory import stability as stability
from pushforward.theory import staircase as staircase
from pushforward.theory import transition as transition
from pushforward.theory import turnpike as turnpike
from pushforward.theory import two_tokens as two_tokens
from pushforward.theory import uniform as uniform
