"""Learn from samples: mixtures, representations, covariance and table alignment."""

from .representation_errors import gulp_standard_error as gulp_standard_error
from .representation_files import read_representation as read_representation
from .representations import GulpDistance as GulpDistance
from .representations import GulpMatrix as GulpMatrix
from .representations import gulp as gulp
from .representations import gulp_matrix as gulp_matrix
from .similarities import CanonicalCorrelations as CanonicalCorrelations
from .similarities import KernelAlignment as KernelAlignment
from .similarities import cca as cca
from .similarities import cka as cka
from .similarities import procrustes as procrustes
