"""Control of equations that move no measure: linear-quadratic problems and PDEs.

`linear_quadratic` is where to begin: a stable system, its static optimum and the path
that stays near it for most of the time; `riccati` solves its equations, and the
Hamilton-Jacobi-Bellman equation on a line. `evolution` has all of time as one sparse
system, for heat in `heat`; `wave`, `transport` and `cubic` are problems of their own.
"""

from pushforward.control.classical.evolution import Evolution as Evolution
from pushforward.control.classical.evolution import EvolutionPath as EvolutionPath
from pushforward.control.classical.evolution import Reaction as Reaction
from pushforward.control.classical.evolution import no_reaction as no_reaction
from pushforward.control.classical.heat import CubicBoundary as CubicBoundary
from pushforward.control.classical.heat import boundary_heat as boundary_heat
from pushforward.control.classical.heat import interior_heat as interior_heat
from pushforward.control.classical.heat import square_heat as square_heat
from pushforward.control.classical.heat import tie as tie
from pushforward.control.classical.linear_quadratic import (
    LinearQuadratic as LinearQuadratic,
)
from pushforward.control.classical.linear_quadratic import OptimalPath as OptimalPath
from pushforward.control.classical.linear_quadratic import Static as Static
from pushforward.control.classical.riccati import (
    differential_riccati as differential_riccati,
)
from pushforward.control.classical.riccati import (
    semi_lagrangian_value as semi_lagrangian_value,
)
from pushforward.control.classical.riccati import stabilizing as stabilizing
from pushforward.control.classical.wave import Gradient as Gradient
from pushforward.control.classical.wave import NoTracking as NoTracking
from pushforward.control.classical.wave import NullControl as NullControl
from pushforward.control.classical.wave import Position as Position
from pushforward.control.classical.wave import (
    PositionAndVelocity as PositionAndVelocity,
)
from pushforward.control.classical.wave import TransportPath as TransportPath
from pushforward.control.classical.wave import controlled_wave as controlled_wave
from pushforward.control.classical.wave import grid_frequencies as grid_frequencies
from pushforward.control.classical.wave import leapfrog_dirichlet as leapfrog_dirichlet
from pushforward.control.classical.wave import (
    optimal_transport_inflow as optimal_transport_inflow,
)
from pushforward.control.classical.wave import wave_hamiltonian as wave_hamiltonian
from pushforward.control.classical.wave import wave_null_control as wave_null_control
