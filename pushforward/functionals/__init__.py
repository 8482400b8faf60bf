"""Energies on measures, their first variations, and the metrics of their flows."""

from pushforward.functionals._functional import AbstractFunctional as AbstractFunctional
from pushforward.functionals._functional import FunctionalMultiple as FunctionalMultiple
from pushforward.functionals._functional import FunctionalSum as FunctionalSum
from pushforward.functionals._interaction import InteractionEnergy as InteractionEnergy
from pushforward.functionals._metrics import AbstractMetric as AbstractMetric
from pushforward.functionals._metrics import FisherRao as FisherRao
from pushforward.functionals._metrics import SoftmaxWeighted as SoftmaxWeighted
from pushforward.functionals._metrics import Wasserstein as Wasserstein
from pushforward.functionals._metrics import (
    WassersteinFisherRao as WassersteinFisherRao,
)
