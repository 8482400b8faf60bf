"""What training returns: the controls, how they were found, and their certificates."""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pushforward.control._checks import count, finite
from pushforward.control.neural.families import AbstractFamily
from pushforward.control.neural.losses import L2
from pushforward.control.neural.problem import Parameters, TrainingProblem
from pushforward.errors import InputError
from pushforward.fields import Perceptron, Switched


@eqx.filter_jit
def _flow(problem: TrainingProblem, controls: Array, x: Array) -> Array:
    return problem.flow(controls, x)


@eqx.filter_jit
def _risk(problem: TrainingProblem, parameters: Parameters) -> Array:
    return problem.risk(parameters)


@eqx.filter_jit
def _gradient(problem: TrainingProblem, parameters: Parameters) -> Parameters:
    return jax.grad(problem.objective)(parameters)


@dataclass(frozen=True)
class Trained:
    """A trained neural ODE.

    `history` is the objective per iteration of the best start, `objectives` the
    value each start reached: training is not convex, look at their spread.
    """

    problem: TrainingProblem
    parameters: Parameters
    history: np.ndarray
    objectives: np.ndarray
    seconds: float

    @property
    def controls(self) -> np.ndarray:
        """(layers, p): one row per layer."""
        return np.asarray(self.parameters.controls)

    @property
    def objective(self) -> float:
        """J of the best start."""
        return float(self.history[-1])

    @property
    def times(self) -> np.ndarray:
        """Layer boundaries, layers + 1 of them."""
        return np.linspace(0.0, float(self.problem.horizon), self.problem.layers + 1)

    @property
    def readout(self):
        """The output map in force."""
        fixed = self.parameters.readout is None
        return self.problem.readout if fixed else self.parameters.readout

    def trajectory(self, x: object) -> Float[np.ndarray, "k1 n d"]:
        """States of new points before the first layer and after each one."""
        points = finite("x", x, (None, self.problem.family.d))
        return np.asarray(
            _flow(self.problem, self.parameters.controls, jnp.asarray(points))
        )

    def outputs(self, x: object) -> Float[np.ndarray, "n m"]:
        """Outputs of new points after the last layer."""
        return np.asarray(jax.vmap(self.readout)(jnp.asarray(self.trajectory(x)[-1])))

    def risk(self) -> np.ndarray:
        """E(X(t)) at every layer boundary."""
        return np.asarray(_risk(self.problem, self.parameters))

    def norms(self) -> np.ndarray:
        """|u| of every layer, Euclidean."""
        return np.linalg.norm(self.controls, axis=1)

    def optimality(self) -> float:
        """Largest entry of the L2 gradient dJ/du / dt; zero at a stationary point."""
        slope = np.asarray(_gradient(self.problem, self.parameters).controls)
        return float(np.max(np.abs(slope)) / float(self.problem.dt))

    def hamiltonian_defect(self) -> float:
        """Largest deviation of lam|u|^2 - tracking E from a constant in time.

        It vanishes, up to the time step, at every stationary point of a
        homogeneous form with the L2 penalty; without a final cost the constant
        is -tracking E(X(T)). E is the mean over a layer's two ends.
        """
        problem = self.problem
        if not isinstance(problem.penalty, L2) or not problem.family.homogeneous:
            raise InputError(
                "the Hamiltonian law needs the L2 penalty and a form homogeneous of "
                "degree one: Out, or In with ReLU."
            )
        risk = float(problem.tracking) * self.risk()
        law = float(problem.penalty.lam) * self.norms() ** 2
        law = law - 0.5 * (risk[1:] + risk[:-1])
        constant = -risk[-1] if float(problem.final) == 0 else np.mean(law)
        return float(np.max(np.abs(law - constant)))

    def refined(self, factor: int = 2) -> Parameters:
        """The same control on `factor` times as many layers."""
        controls = jnp.repeat(self.parameters.controls, count("factor", factor), axis=0)
        return self.parameters._replace(controls=controls)

    def as_field(self):
        """The network as a `Switched` field of `Perceptron`s, ready for `flow`."""
        return as_field(self)


def layer_field(family: AbstractFamily, u) -> Perceptron:
    """One layer's control as a `Perceptron`: x' = W sigma(A x + b) + c."""
    W, A, b, c = family.matrices(jnp.asarray(u))
    activation = family.activation  # type: ignore[attr-defined]
    return Perceptron(W, A, b, activation, c=c)


def as_field(trained: Trained) -> Switched:
    """The trained network as a field on `Euclidean(d)`, piecewise constant in time.

    `flow(field, mu, horizon, solver=Layers(dt))` repeats a network trained with
    `Euler`; other schemes agree with the exact flow up to their order in dt.
    """
    fields = [layer_field(trained.problem.family, u) for u in trained.controls]
    return Switched(fields, trained.times)
