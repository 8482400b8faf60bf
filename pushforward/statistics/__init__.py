"""Learn from samples: mixtures, representations, covariance and table alignment."""

from ._swaps import GromovWasserstein as GromovWasserstein
from ._swaps import QuasiLikelihood as QuasiLikelihood
from .alignment_baselines import ConditionalGradient as ConditionalGradient
from .alignment_baselines import FastApproximate as FastApproximate
from .alignment_baselines import StartOnly as StartOnly
from .alignment_baselines import ThenSwaps as ThenSwaps
from .alignment_starts import AsGiven as AsGiven
from .alignment_starts import RowProfiles as RowProfiles
from .alignment_starts import Spectral as Spectral
from .covariances import Alignment as Alignment
from .covariances import Exhaustive as Exhaustive
from .covariances import SwapDescent as SwapDescent
from .covariances import align_covariances as align_covariances
from .recovery import RecoveryCurve as RecoveryCurve
from .recovery import recovery_curve as recovery_curve
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
