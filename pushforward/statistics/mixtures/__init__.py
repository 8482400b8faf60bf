"""Gaussian location mixtures without a number of components: the NPMLE."""

from typing import TYPE_CHECKING, Any

from pushforward.statistics.mixtures._column_generation import (
    ColumnGeneration as ColumnGeneration,
)
from pushforward.statistics.mixtures._csv_data import npmle_from_csv as npmle_from_csv
from pushforward.statistics.mixtures._csv_data import read_numbers as read_numbers
from pushforward.statistics.mixtures._csv_data import summary as summary
from pushforward.statistics.mixtures._descent import (
    WassersteinFisherRaoStep as WassersteinFisherRaoStep,
)
from pushforward.statistics.mixtures._descent import descend as descend
from pushforward.statistics.mixtures._fit import MixtureFit as MixtureFit
from pushforward.statistics.mixtures._fit import npmle as npmle
from pushforward.statistics.mixtures._functional import (
    MixtureLikelihood as MixtureLikelihood,
)
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
