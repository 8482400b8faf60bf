"""What moves: weighted atoms, densities and Gaussians, and where they start.

Open `_measure.py` first: what all have; then `_particles.py`, `_density.py` (on a
basis, `_basis.py`) and `_gaussian.py`. `_initial.py` has the starts.
"""

from pushforward.measures._basis import AbstractBasis as AbstractBasis
from pushforward.measures._basis import Fourier as Fourier
from pushforward.measures._components import components as components
from pushforward.measures._density import Density as Density
from pushforward.measures._density import check_not_negative as check_not_negative
from pushforward.measures._gaussian import Gaussian as Gaussian
from pushforward.measures._harmonics import Harmonics as Harmonics
from pushforward.measures._measure import AbstractMeasure as AbstractMeasure
from pushforward.measures._measure import stack as stack
from pushforward.measures._particles import Particles as Particles
from pushforward.measures._particles import mixed as mixed
from pushforward.measures._tangent_map import AbstractTangentMap as AbstractTangentMap
from pushforward.measures._tangent_map import Modes as Modes
from pushforward.measures._tangent_map import as_tangent as as_tangent
from pushforward.measures._zonal import Zonal as Zonal
from pushforward.measures._zonal import log_dimensions as log_dimensions
