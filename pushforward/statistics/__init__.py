"""Learn from samples: mixtures, representations, covariance and table alignment.

Open `matching.py` first for tables of features, `representations.py` for distances
between networks, `covariances.py` for alignment; `mixtures` has the NPMLE.
"""

from pushforward.statistics._matrices import normalized as normalized
from pushforward.statistics._swaps import GromovWasserstein as GromovWasserstein
from pushforward.statistics._swaps import QuasiLikelihood as QuasiLikelihood
from pushforward.statistics.accuracy import Accuracy as Accuracy
from pushforward.statistics.accuracy import PrecisionRecall as PrecisionRecall
from pushforward.statistics.admissible import MassGate as MassGate
from pushforward.statistics.admissible import PpmGate as PpmGate
from pushforward.statistics.alignment_baselines import (
    ConditionalGradient as ConditionalGradient,
)
from pushforward.statistics.alignment_baselines import (
    FastApproximate as FastApproximate,
)
from pushforward.statistics.alignment_baselines import StartOnly as StartOnly
from pushforward.statistics.alignment_baselines import ThenSwaps as ThenSwaps
from pushforward.statistics.alignment_starts import AsGiven as AsGiven
from pushforward.statistics.alignment_starts import RowProfiles as RowProfiles
from pushforward.statistics.alignment_starts import Spectral as Spectral
from pushforward.statistics.covariances import Alignment as Alignment
from pushforward.statistics.covariances import Exhaustive as Exhaustive
from pushforward.statistics.covariances import SwapDescent as SwapDescent
from pushforward.statistics.covariances import align_covariances as align_covariances
from pushforward.statistics.drift import Drift as Drift
from pushforward.statistics.drift import SplineDrift as SplineDrift
from pushforward.statistics.feature_distances import (
    CorrelationDistance as CorrelationDistance,
)
from pushforward.statistics.feature_distances import (
    EuclideanDistance as EuclideanDistance,
)
from pushforward.statistics.imputation import HalfMinimum as HalfMinimum
from pushforward.statistics.joint_matching import JointMatching as JointMatching
from pushforward.statistics.joint_matching import match_jointly as match_jointly
from pushforward.statistics.match_files import read_truth as read_truth
from pushforward.statistics.match_files import write_candidates as write_candidates
from pushforward.statistics.match_files import write_groups as write_groups
from pushforward.statistics.match_files import write_matches as write_matches
from pushforward.statistics.match_files import write_merged as write_merged
from pushforward.statistics.matching import Matching as Matching
from pushforward.statistics.matching import Reason as Reason
from pushforward.statistics.matching import match as match
from pushforward.statistics.mixtures import BinomialCounts as BinomialCounts
from pushforward.statistics.mixtures import FixedGrid as FixedGrid
from pushforward.statistics.mixtures import GaussianErrors as GaussianErrors
from pushforward.statistics.mixtures import GaussianNoise as GaussianNoise
from pushforward.statistics.mixtures import MixtureFit as MixtureFit
from pushforward.statistics.mixtures import PoissonCounts as PoissonCounts
from pushforward.statistics.mixtures import Posterior as Posterior
from pushforward.statistics.mixtures import estimated_noise as estimated_noise
from pushforward.statistics.mixtures import npmle as npmle
from pushforward.statistics.mztab import write_mztab as write_mztab
from pushforward.statistics.representation_files import lambdas_from as lambdas_from
from pushforward.statistics.representation_files import (
    read_representation as read_representation,
)
from pushforward.statistics.representation_files import shape_on_disk as shape_on_disk
from pushforward.statistics.representations import GulpDistance as GulpDistance
from pushforward.statistics.representations import GulpMatrix as GulpMatrix
from pushforward.statistics.representations import gulp as gulp
from pushforward.statistics.representations import gulp_errors as gulp_errors
from pushforward.statistics.representations import gulp_matrix as gulp_matrix
from pushforward.statistics.representations import (
    gulp_standard_error as gulp_standard_error,
)
from pushforward.statistics.sample_roles import SampleRoles as SampleRoles
from pushforward.statistics.scaling import Scaling as Scaling
from pushforward.statistics.scaling import classical_scaling as classical_scaling
from pushforward.statistics.similarities import (
    CanonicalCorrelations as CanonicalCorrelations,
)
from pushforward.statistics.similarities import KernelAlignment as KernelAlignment
from pushforward.statistics.similarities import cca as cca
from pushforward.statistics.similarities import cka as cka
from pushforward.statistics.similarities import procrustes as procrustes
from pushforward.statistics.streamed import GulpMoments as GulpMoments
from pushforward.statistics.study_alignment import StudyAlignment as StudyAlignment
from pushforward.statistics.study_alignment import align_studies as align_studies
from pushforward.statistics.table_files import read_table as read_table
from pushforward.statistics.table_layouts import parse_columns as parse_columns
from pushforward.statistics.tables import FeatureTable as FeatureTable
from pushforward.transport import Coupling as Coupling
from pushforward.transport import SparseGromov as SparseGromov


def __getattr__(name: str) -> object:
    """Load the scikit-learn estimator when it is first touched."""
    if name == "GaussianMixtureNPMLE":
        from pushforward.statistics import mixtures

        return mixtures.GaussianMixtureNPMLE
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
