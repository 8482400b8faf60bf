"""What moves: weighted atoms and densities, and where they start."""

from pushforward.measures._basis import AbstractBasis as AbstractBasis
from pushforward.measures._components import components as components
from pushforward.measures._density import Density as Density
from pushforward.measures._density import check_not_negative as check_not_negative
from pushforward.measures._fourier import Fourier as Fourier
from pushforward.measures._harmonics import Harmonics as Harmonics
from pushforward.measures._measure import AbstractMeasure as AbstractMeasure
from pushforward.measures._particles import Particles as Particles
from pushforward.measures._particles import stack as stack
from pushforward.measures._zonal import Zonal as Zonal
from pushforward.measures._zonal import log_dimensions as log_dimensions
