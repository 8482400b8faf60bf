"""Closed forms and predictions. Imports no simulator, so that agreement is evidence.

A file per subject in a room per question, all of them reached as `theory.NAME`; open
`few_tokens/two_tokens.py` first, the smallest.
"""

from pushforward.theory.energy import hemisphere as hemisphere
from pushforward.theory.energy import landscape as landscape
from pushforward.theory.energy import stability as stability
from pushforward.theory.energy import uniform as uniform
from pushforward.theory.few_tokens import equiangular as equiangular
from pushforward.theory.few_tokens import long_context as long_context
from pushforward.theory.few_tokens import momentum as momentum
from pushforward.theory.few_tokens import normalization as normalization
from pushforward.theory.few_tokens import random_keys as random_keys
from pushforward.theory.few_tokens import two_tokens as two_tokens
from pushforward.theory.flat import frank_wolfe as frank_wolfe
from pushforward.theory.flat import gaussian_tokens as gaussian_tokens
from pushforward.theory.flat import leaders as leaders
from pushforward.theory.flat import limit_shapes as limit_shapes
from pushforward.theory.flat import polytope as polytope
from pushforward.theory.horizons import depth as depth
from pushforward.theory.horizons import turnpike as turnpike
from pushforward.theory.noise import noisy as noisy
from pushforward.theory.noise import transition as transition
from pushforward.theory.on_circle import circle as circle
from pushforward.theory.on_circle import kuramoto as kuramoto
from pushforward.theory.on_circle import metastability as metastability
from pushforward.theory.on_circle import negative_beta as negative_beta
from pushforward.theory.on_circle import staircase as staircase
from pushforward.theory.ordered import causal as causal
from pushforward.theory.ordered import kinetic as kinetic
from pushforward.theory.ordered import kinetic_lattice as kinetic_lattice
from pushforward.theory.ordered import kinetic_mean_field as kinetic_mean_field
from pushforward.theory.ordered import parking as parking
from pushforward.theory.random_layers import homogenized as homogenized
from pushforward.theory.random_layers import homogenized_pair as homogenized_pair
from pushforward.theory.samples import density_modes as density_modes
from pushforward.theory.samples import empirical_bayes as empirical_bayes
