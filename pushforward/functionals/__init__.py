"""Energies on measures, their first variations, and the metrics of their flows.

Open `_functional.py` first: what a functional is. `_minimizer.py` minimizes one over
all measures, with a certificate; `_second_order.py` tests what it found.
"""

from pushforward.functionals._entropic import Entropy as Entropy
from pushforward.functionals._entropic import FreeEnergy as FreeEnergy
from pushforward.functionals._entropic import SinkhornEnergy as SinkhornEnergy
from pushforward.functionals._frank_wolfe import AbstractProblem as AbstractProblem
from pushforward.functionals._frank_wolfe import Certified as Certified
from pushforward.functionals._frank_wolfe import (
    sliding_frank_wolfe as sliding_frank_wolfe,
)
from pushforward.functionals._functional import AbstractFunctional as AbstractFunctional
from pushforward.functionals._functional import FunctionalMultiple as FunctionalMultiple
from pushforward.functionals._functional import FunctionalSum as FunctionalSum
from pushforward.functionals._interaction import InteractionEnergy as InteractionEnergy
from pushforward.functionals._interaction import code_energy as code_energy
from pushforward.functionals._interaction import paper_energy as paper_energy
from pushforward.functionals._metrics import AbstractMetric as AbstractMetric
from pushforward.functionals._metrics import FisherRao as FisherRao
from pushforward.functionals._metrics import SoftmaxWeighted as SoftmaxWeighted
from pushforward.functionals._metrics import Wasserstein as Wasserstein
from pushforward.functionals._metrics import (
    WassersteinFisherRao as WassersteinFisherRao,
)
from pushforward.functionals._minimizer import Contact as Contact
from pushforward.functionals._minimizer import Localization as Localization
from pushforward.functionals._minimizer import Minimizer as Minimizer
from pushforward.functionals._minimizer import contact as contact
from pushforward.functionals._minimizer import localization as localization
from pushforward.functionals._minimizer import minimize as minimize
from pushforward.functionals._perceptron_potential import (
    PerceptronPotential as PerceptronPotential,
)
from pushforward.functionals._perceptron_potential import exact_gelu as exact_gelu
from pushforward.functionals._perceptron_potential import primitive_of as primitive_of
from pushforward.functionals._polish import settled as settled
from pushforward.functionals._second_order import Hessian as Hessian
from pushforward.functionals._second_order import SecondOrder as SecondOrder
from pushforward.functionals._second_order import hessian as hessian
from pushforward.functionals._second_order import second_order as second_order
