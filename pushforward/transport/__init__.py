"""Optimal transport between measures: plans, distances, maps, barycenters, flows.

Open `exact/_exact.py` for exact plans, `entropic/_sinkhorn.py` for entropic ones,
`_gaussian.py` for closed forms, `gromov/_gromov.py` for spaces without common points.
"""

from pushforward.transport._atoms import Atoms as Atoms
from pushforward.transport._atoms import Plan as Plan
from pushforward.transport._barycenters import FreeBarycenter as FreeBarycenter
from pushforward.transport._barycenters import GaussianBarycenter as GaussianBarycenter
from pushforward.transport._barycenters import free_barycenter as free_barycenter
from pushforward.transport._barycenters import (
    gaussian_barycenter as gaussian_barycenter,
)
from pushforward.transport._bures_flows import bures_flow as bures_flow
from pushforward.transport._bures_flows import gaussian_kl as gaussian_kl
from pushforward.transport._bures_flows import jko_step as jko_step
from pushforward.transport._bures_flows import langevin as langevin
from pushforward.transport._costs import Cost as Cost
from pushforward.transport._costs import CostTable as CostTable
from pushforward.transport._costs import DistancePower as DistancePower
from pushforward.transport._costs import InnerProduct as InnerProduct
from pushforward.transport._costs import SpaceDistance as SpaceDistance
from pushforward.transport._costs import SphereDistance as SphereDistance
from pushforward.transport._costs import SquaredDistance as SquaredDistance
from pushforward.transport._costs import TorusDistance as TorusDistance
from pushforward.transport._gaussian import AffineMap as AffineMap
from pushforward.transport._gaussian import Gaussian as Gaussian
from pushforward.transport._gaussian import (
    entropic_gaussian_map as entropic_gaussian_map,
)
from pushforward.transport._gaussian import (
    entropic_gaussian_value as entropic_gaussian_value,
)
from pushforward.transport._gaussian import gaussian_distance as gaussian_distance
from pushforward.transport._gaussian import gaussian_map as gaussian_map
from pushforward.transport._gaussian import (
    gaussian_sinkhorn_divergence as gaussian_sinkhorn_divergence,
)
from pushforward.transport._inference import Interval as Interval
from pushforward.transport._inference import bootstrap_interval as bootstrap_interval
from pushforward.transport._inference import entropic_interval as entropic_interval
from pushforward.transport._inference import permutation_test as permutation_test
from pushforward.transport._inference import transport_interval as transport_interval
from pushforward.transport._maps import EntropicMap as EntropicMap
from pushforward.transport._maps import NearestNeighborMap as NearestNeighborMap
from pushforward.transport._maps import entropic_map as entropic_map
from pushforward.transport._maps import gaussian_plugin_map as gaussian_plugin_map
from pushforward.transport._maps import nearest_neighbor_map as nearest_neighbor_map
from pushforward.transport._particle_jko import ParticleStep as ParticleStep
from pushforward.transport._particle_jko import particle_jko_step as particle_jko_step
from pushforward.transport._particle_jko import spacing_entropy as spacing_entropy
from pushforward.transport.entropic._batches import (
    sinkhorn_divergences as sinkhorn_divergences,
)
from pushforward.transport.entropic._certified import (
    EntropicDivergence as EntropicDivergence,
)
from pushforward.transport.entropic._certified import (
    entropic_divergence as entropic_divergence,
)
from pushforward.transport.entropic._divergence import (
    sinkhorn_divergence as sinkhorn_divergence,
)
from pushforward.transport.entropic._entropic import entropic_plan as entropic_plan
from pushforward.transport.entropic._entropic import unbalanced_plan as unbalanced_plan
from pushforward.transport.entropic._entropic_plan import EntropicPlan as EntropicPlan
from pushforward.transport.entropic._functional import (
    SinkhornDivergence as SinkhornDivergence,
)
from pushforward.transport.entropic._semidiscrete import (
    SemidiscretePlan as SemidiscretePlan,
)
from pushforward.transport.entropic._semidiscrete import (
    semidiscrete_plan as semidiscrete_plan,
)
from pushforward.transport.exact._circle import circle_distance as circle_distance
from pushforward.transport.exact._circle import circle_plan as circle_plan
from pushforward.transport.exact._circle import (
    sphere_sliced_distance as sphere_sliced_distance,
)
from pushforward.transport.exact._exact import optimal_plan as optimal_plan
from pushforward.transport.exact._exact import (
    wasserstein_distance as wasserstein_distance,
)
from pushforward.transport.exact._line import SlicedDistance as SlicedDistance
from pushforward.transport.exact._line import line_barycenter as line_barycenter
from pushforward.transport.exact._line import line_distance as line_distance
from pushforward.transport.exact._line import line_plan as line_plan
from pushforward.transport.exact._line import (
    power_distance_to_uniform as power_distance_to_uniform,
)
from pushforward.transport.exact._line import sliced_distance as sliced_distance
from pushforward.transport.exact._line import (
    squared_distance_to_normal as squared_distance_to_normal,
)
from pushforward.transport.exact._rounding import rounded as rounded
from pushforward.transport.gromov._entropic_gromov import (
    EntropicGromovPlan as EntropicGromovPlan,
)
from pushforward.transport.gromov._entropic_gromov import (
    entropic_gromov_plan as entropic_gromov_plan,
)
from pushforward.transport.gromov._gromov import (
    fused_unbalanced_gromov_plan as fused_unbalanced_gromov_plan,
)
from pushforward.transport.gromov._gromov import gromov_plan as gromov_plan
from pushforward.transport.gromov._sparse_gromov import Coupling as Coupling
from pushforward.transport.gromov._sparse_gromov import Pairs as Pairs
from pushforward.transport.gromov._sparse_gromov import Segments as Segments
from pushforward.transport.gromov._sparse_gromov import SparseGromov as SparseGromov
