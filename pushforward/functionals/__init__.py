"""Energies on measures, their first variations, and the metrics of their flows."""

from pushforward.functionals._atomicity import Contact as Contact
from pushforward.functionals._atomicity import Localization as Localization
from pushforward.functionals._atomicity import contact as contact
from pushforward.functionals._atomicity import localization as localization
from pushforward.functionals._functional import AbstractFunctional as AbstractFunctional
from pushforward.functionals._functional import FunctionalMultiple as FunctionalMultiple
from pushforward.functionals._functional import FunctionalSum as FunctionalSum
from pushforward.functionals._interaction import InteractionEnergy as InteractionEnergy
from pushforward.functionals._landscape import minimize as minimize
from pushforward.functionals._metrics import AbstractMetric as AbstractMetric
from pushforward.functionals._metrics import FisherRao as FisherRao
from pushforward.functionals._metrics import SoftmaxWeighted as SoftmaxWeighted
from pushforward.functionals._metrics import Wasserstein as Wasserstein
from pushforward.functionals._metrics import (
    WassersteinFisherRao as WassersteinFisherRao,
)
from pushforward.functionals._minimizer import Minimizer as Minimizer
from pushforward.functionals._perceptron_potential import (
    PerceptronPotential as PerceptronPotential,
)
from pushforward.functionals._primitives import exact_gelu as exact_gelu
from pushforward.functionals._primitives import primitive_of as primitive_of
from pushforward.functionals._scalings import code_energy as code_energy
from pushforward.functionals._scalings import paper_energy as paper_energy
from pushforward.functionals._second_order import SecondOrder as SecondOrder
from pushforward.functionals._second_order import second_order as second_order
from pushforward.functionals._settled import settled as settled
