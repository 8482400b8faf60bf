"""What moves: weighted atoms, and where they start."""

from pushforward.measures._components import components as components
from pushforward.measures._measure import AbstractMeasure as AbstractMeasure
from pushforward.measures._particles import Particles as Particles
from pushforward.measures._particles import stack as stack
