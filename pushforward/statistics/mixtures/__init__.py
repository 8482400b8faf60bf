"""Mixtures without a number of components: the NPMLE.

Open `_estimator.py` first; `_column_generation.py` solves, `_fit.py` is the answer.
"""

from typing import TYPE_CHECKING, Any

from pushforward.statistics.mixtures._column_generation import (
    ColumnGeneration as ColumnGeneration,
)
from pushforward.statistics.mixtures._count_noise import (
    BinomialCounts as BinomialCounts,
)
from pushforward.statistics.mixtures._count_noise import PoissonCounts as PoissonCounts
from pushforward.statistics.mixtures._counts_everywhere import (
    bound_counts as bound_counts,
)
from pushforward.statistics.mixtures._descent import (
    MixtureLikelihood as MixtureLikelihood,
)
from pushforward.statistics.mixtures._descent import (
    WassersteinFisherRaoStep as WassersteinFisherRaoStep,
)
from pushforward.statistics.mixtures._descent import descend as descend
from pushforward.statistics.mixtures._estimated import (
    estimated_noise as estimated_noise,
)
from pushforward.statistics.mixtures._files import Roles as Roles
from pushforward.statistics.mixtures._files import npmle_from_csv as npmle_from_csv
from pushforward.statistics.mixtures._files import summary as summary
from pushforward.statistics.mixtures._files import write_atoms as write_atoms
from pushforward.statistics.mixtures._files import write_posteriors as write_posteriors
from pushforward.statistics.mixtures._fit import MixtureFit as MixtureFit
from pushforward.statistics.mixtures._fit import npmle as npmle
from pushforward.statistics.mixtures._noise import (
    AbstractLikelihood as AbstractLikelihood,
)
from pushforward.statistics.mixtures._noise import GaussianErrors as GaussianErrors
from pushforward.statistics.mixtures._noise import GaussianNoise as GaussianNoise
from pushforward.statistics.mixtures._particle_methods import Births as Births
from pushforward.statistics.mixtures._particle_methods import EveryDatum as EveryDatum
from pushforward.statistics.mixtures._particle_methods import (
    ParticleDescent as ParticleDescent,
)
from pushforward.statistics.mixtures._particle_methods import (
    RandomSubset as RandomSubset,
)
from pushforward.statistics.mixtures._particle_methods import em as em
from pushforward.statistics.mixtures._particle_methods import fisher_rao as fisher_rao
from pushforward.statistics.mixtures._particle_methods import wasserstein as wasserstein
from pushforward.statistics.mixtures._particle_methods import wfr as wfr
from pushforward.statistics.mixtures._polish import EvenGrid as EvenGrid
from pushforward.statistics.mixtures._polish import FixedGrid as FixedGrid
from pushforward.statistics.mixtures._posterior import Posterior as Posterior
from pushforward.statistics.tables.number_files import (
    read_numbers as read_numbers,
)

if TYPE_CHECKING:
    from pushforward.statistics.mixtures._estimator import (
        GaussianMixtureNPMLE as GaussianMixtureNPMLE,
    )


def __getattr__(name: str) -> Any:
    """Load the scikit-learn estimator when it is first touched."""
    if name == "GaussianMixtureNPMLE":
        from pushforward.statistics.mixtures._estimator import GaussianMixtureNPMLE

        return GaussianMixtureNPMLE
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
