"""Learn from samples: mixtures, representations, covariance and table alignment.

Open `matching/matching.py` first for tables of features, `representations/gulp.py` for
distances between networks, `alignment/covariances.py` for unknown labels,
`mixtures/_fit.py` for the NPMLE; `tables` reads the files of laboratories.
"""

from pushforward.statistics._matrices import normalized as normalized
from pushforward.statistics.alignment.baselines import (
    ConditionalGradient as ConditionalGradient,
)
from pushforward.statistics.alignment.baselines import (
    FastApproximate as FastApproximate,
)
from pushforward.statistics.alignment.baselines import StartOnly as StartOnly
from pushforward.statistics.alignment.baselines import ThenSwaps as ThenSwaps
from pushforward.statistics.alignment.covariances import Alignment as Alignment
from pushforward.statistics.alignment.covariances import Exhaustive as Exhaustive
from pushforward.statistics.alignment.covariances import SwapDescent as SwapDescent
from pushforward.statistics.alignment.covariances import (
    align_covariances as align_covariances,
)
from pushforward.statistics.alignment.search import AsGiven as AsGiven
from pushforward.statistics.alignment.search import (
    GromovWasserstein as GromovWasserstein,
)
from pushforward.statistics.alignment.search import QuasiLikelihood as QuasiLikelihood
from pushforward.statistics.alignment.search import RowProfiles as RowProfiles
from pushforward.statistics.alignment.search import Spectral as Spectral
from pushforward.statistics.alignment.study_alignment import (
    StudyAlignment as StudyAlignment,
)
from pushforward.statistics.alignment.study_alignment import (
    align_studies as align_studies,
)
from pushforward.statistics.matching.accuracy import Accuracy as Accuracy
from pushforward.statistics.matching.accuracy import (
    PrecisionRecall as PrecisionRecall,
)
from pushforward.statistics.matching.distances import (
    CorrelationDistance as CorrelationDistance,
)
from pushforward.statistics.matching.distances import (
    EuclideanDistance as EuclideanDistance,
)
from pushforward.statistics.matching.distances import MassGate as MassGate
from pushforward.statistics.matching.distances import PpmGate as PpmGate
from pushforward.statistics.matching.drift import Drift as Drift
from pushforward.statistics.matching.drift import SplineDrift as SplineDrift
from pushforward.statistics.matching.joint_matching import (
    JointMatching as JointMatching,
)
from pushforward.statistics.matching.joint_matching import (
    match_jointly as match_jointly,
)
from pushforward.statistics.matching.matching import Matching as Matching
from pushforward.statistics.matching.matching import Reason as Reason
from pushforward.statistics.matching.matching import match as match
from pushforward.statistics.mixtures import BinomialCounts as BinomialCounts
from pushforward.statistics.mixtures import FixedGrid as FixedGrid
from pushforward.statistics.mixtures import GaussianErrors as GaussianErrors
from pushforward.statistics.mixtures import GaussianNoise as GaussianNoise
from pushforward.statistics.mixtures import MixtureFit as MixtureFit
from pushforward.statistics.mixtures import PoissonCounts as PoissonCounts
from pushforward.statistics.mixtures import Posterior as Posterior
from pushforward.statistics.mixtures import estimated_noise as estimated_noise
from pushforward.statistics.mixtures import npmle as npmle
from pushforward.statistics.representations.files import (
    lambdas_from as lambdas_from,
)
from pushforward.statistics.representations.files import (
    read_representation as read_representation,
)
from pushforward.statistics.representations.files import (
    shape_on_disk as shape_on_disk,
)
from pushforward.statistics.representations.gulp import (
    GulpDistance as GulpDistance,
)
from pushforward.statistics.representations.gulp import GulpMatrix as GulpMatrix
from pushforward.statistics.representations.gulp import gulp as gulp
from pushforward.statistics.representations.gulp import gulp_errors as gulp_errors
from pushforward.statistics.representations.gulp import gulp_matrix as gulp_matrix
from pushforward.statistics.representations.gulp import (
    gulp_standard_error as gulp_standard_error,
)
from pushforward.statistics.representations.similarities import (
    CanonicalCorrelations as CanonicalCorrelations,
)
from pushforward.statistics.representations.similarities import (
    KernelAlignment as KernelAlignment,
)
from pushforward.statistics.representations.similarities import Scaling as Scaling
from pushforward.statistics.representations.similarities import cca as cca
from pushforward.statistics.representations.similarities import cka as cka
from pushforward.statistics.representations.similarities import (
    classical_scaling as classical_scaling,
)
from pushforward.statistics.representations.similarities import (
    procrustes as procrustes,
)
from pushforward.statistics.representations.streamed import (
    GulpMoments as GulpMoments,
)
from pushforward.statistics.tables._rows import HalfMinimum as HalfMinimum
from pushforward.statistics.tables.match_files import read_truth as read_truth
from pushforward.statistics.tables.match_files import (
    write_candidates as write_candidates,
)
from pushforward.statistics.tables.match_files import (
    write_groups as write_groups,
)
from pushforward.statistics.tables.match_files import (
    write_matches as write_matches,
)
from pushforward.statistics.tables.match_files import (
    write_merged as write_merged,
)
from pushforward.statistics.tables.mztab import write_mztab as write_mztab
from pushforward.statistics.tables.sample_roles import SampleRoles as SampleRoles
from pushforward.statistics.tables.table_files import read_table as read_table
from pushforward.statistics.tables.table_layouts import (
    parse_columns as parse_columns,
)
from pushforward.statistics.tables.tables import FeatureTable as FeatureTable
from pushforward.transport import Coupling as Coupling
from pushforward.transport import SparseGromov as SparseGromov


def __getattr__(name: str) -> object:
    """Load the scikit-learn estimator when it is first touched."""
    if name == "GaussianMixtureNPMLE":
        from pushforward.statistics import mixtures

        return mixtures.GaussianMixtureNPMLE
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
