"""Losses of one output against one label; the risk is their mean over samples.

What a control costs: squared L2 or H1 norms, or the L1 norm under a bound.
"""

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pushforward._checks import above_zero
from pushforward.control._checks import finite
from pushforward.errors import InputError


class AbstractLoss(eqx.Module):
    """loss(output, label) >= 0 for one sample; `labels` checks a whole data set."""

    @abc.abstractmethod
    def __call__(self, output: Float[Array, "m"], label: Array) -> Float[Array, ""]:
        """The loss of one sample."""

    @abc.abstractmethod
    def labels(self, labels: object, n: int, m: int) -> np.ndarray:
        """Labels of n samples as an array, or an error that shows the right shape."""


class AbstractSquaredLoss(AbstractLoss):
    """A loss that is |residual|^2, so that Gauss-Newton methods apply."""

    @abc.abstractmethod
    def residual(self, output: Float[Array, "m"], label: Array) -> Float[Array, "m"]:
        """The vector whose squared norm is the loss."""


def _numbers(labels: object) -> np.ndarray:
    array = np.asarray(labels)
    if array.dtype.kind not in "biuf":
        first = array.ravel()[0].item() if array.size else labels
        raise InputError(
            f"`labels` must be numbers, got {first!r}. Map classes to -1 and +1 (or "
            "0, 1, ... with CrossEntropy), or use NeuralODEClassifier, which takes any."
        )
    return array


def _targets(labels: object, n: int, m: int) -> np.ndarray:
    array = _numbers(labels)
    if array.shape == (n,) and m == 1:
        array = array[:, None]
    if array.shape != (n, m):
        raise InputError(
            f"`labels` must have shape ({n}, {m}), one row of targets per sample, got "
            f"{array.shape}. The readout has {m} output(s)."
        )
    return finite("labels", array, (n, m))


def _signs(labels: object, n: int, m: int) -> np.ndarray:
    array = _numbers(labels)
    if m != 1:
        raise InputError(
            f"this loss needs one output, the readout has {m}; "
            "use CrossEntropy() for several classes."
        )
    if array.shape not in {(n,), (n, 1)}:
        raise InputError(
            f"`labels` must have shape ({n},), one sign per sample, got {array.shape}."
        )
    array = finite("labels", array.reshape(n), (n,))
    if not np.all(np.abs(array) == 1):
        wrong = array[np.abs(array) != 1][0]
        raise InputError(
            f"`labels` must be -1 or +1 for this loss, got {wrong:g}; "
            "map your two classes to -1 and +1."
        )
    return array


class Squared(AbstractSquaredLoss):
    """|y - label|^2."""

    def __call__(self, output, label):
        """|y - label|^2."""
        return jnp.sum(self.residual(output, label) ** 2)

    def residual(self, output, label):
        """Y - label."""
        return output - label

    def labels(self, labels, n, m):
        """Real targets (n, m)."""
        return _targets(labels, n, m)


class Distance(AbstractLoss):
    """|y - label|, not smooth at zero: an exact penalty, zero risk at finite depth."""

    def __call__(self, output, label):
        """|y - label|, with derivative zero at zero."""
        square = jnp.sum((output - label) ** 2)
        positive = square > 0
        return jnp.where(positive, jnp.sqrt(jnp.where(positive, square, 1.0)), 0.0)

    def labels(self, labels, n, m):
        """Real targets (n, m)."""
        return _targets(labels, n, m)


class Hinge(AbstractLoss):
    """max(0, 1 - label y), labels -1 and +1."""

    def __call__(self, output, label):
        """max(0, 1 - label y)."""
        return jax.nn.relu(1.0 - label * output[0])

    def labels(self, labels, n, m):
        """Signs (n,)."""
        return _signs(labels, n, m)


class SquaredHinge(AbstractSquaredLoss):
    """max(0, 1 - label y)^2, labels -1 and +1: zero on a set with interior."""

    def __call__(self, output, label):
        """max(0, 1 - label y)^2."""
        return jnp.sum(self.residual(output, label) ** 2)

    def residual(self, output, label):
        """The part of the margin that is missing."""
        return jax.nn.relu(1.0 - label * output)

    def labels(self, labels, n, m):
        """Signs (n,)."""
        return _signs(labels, n, m)


class Logistic(AbstractLoss):
    """ln(1 + e^{-label y}), labels -1 and +1: never zero, so decay is slower."""

    def __call__(self, output, label):
        """ln(1 + e^{-label y})."""
        return jax.nn.softplus(-label * output[0])

    def labels(self, labels, n, m):
        """Signs (n,)."""
        return _signs(labels, n, m)


class CrossEntropy(AbstractLoss):
    """-ln softmax(y)[label], labels 0, 1, ..., m - 1."""

    def __call__(self, output, label):
        """-ln softmax(y)[label]."""
        return -jax.nn.log_softmax(output)[label]

    def labels(self, labels, n, m):
        """Class numbers (n,)."""
        array = _numbers(labels)
        if array.shape != (n,) or not np.issubdtype(array.dtype, np.integer):
            raise InputError(
                f"`labels` must be {n} class numbers (integers) 0..{m - 1}, got shape "
                f"{array.shape} and dtype {array.dtype}; "
                "np.unique(labels, return_inverse=True)[1] gives them."
            )
        if m == 1:
            raise InputError(
                "CrossEntropy needs one output per class, the readout has 1; pass "
                "`readout=coordinate_readout(d, classes)`, or use Logistic()."
            )
        if array.min() < 0 or array.max() >= m:
            raise InputError(
                f"`labels` must lie in 0..{m - 1} (the readout has {m} outputs), got "
                f"{array.min()}..{array.max()}."
            )
        return array


_WHY = (
    "It weighs the penalty; without one the control is not determined and its norm "
    "may run away. Try 0.01."
)


class AbstractPenalty(eqx.Module):
    """A cost of piecewise constant controls, (k, p) on k layers of length dt."""

    @abc.abstractmethod
    def __call__(
        self, controls: Float[Array, "k p"], dt: Float[Array, ""]
    ) -> Float[Array, ""]:
        """The cost, quadrature weights included."""


class L2(AbstractPenalty):
    """lam int |u|^2 dt."""

    lam: Float[Array, ""]

    def __init__(self, lam: float):
        self.lam = jnp.asarray(above_zero("lam", lam, _WHY))

    def __call__(self, controls, dt):
        """lam dt sum |u_k|^2."""
        return self.lam * dt * jnp.sum(controls**2)


class H1(AbstractPenalty):
    """lam int |u|^2 + |u'|^2 dt, u' by differences: needed by `WeightsInside`."""

    lam: Float[Array, ""]

    def __init__(self, lam: float):
        self.lam = jnp.asarray(above_zero("lam", lam, _WHY))

    def __call__(self, controls, dt):
        """L2, plus lam sum |u_{k+1} - u_k|^2/dt."""
        slope = jnp.sum(jnp.diff(controls, axis=0) ** 2) / dt
        return self.lam * (dt * jnp.sum(controls**2) + slope)


class L1(AbstractPenalty):
    """lam int ||u||_1 dt under ||u(t)||_1 <= bound: switches layers off exactly.

    The bound is not optional: the L1 norm does not see the speed along a path, so
    without it the optimum is an impulse at time zero. Train with
    `pushforward.control.train_sparse`. [esteveyague2023sparsity]
    """

    lam: Float[Array, ""]
    bound: Float[Array, ""]

    def __init__(self, lam: float, bound: float | None = None):
        self.lam = jnp.asarray(above_zero("lam", lam, _WHY))
        if bound is None:
            raise InputError(
                "L1 needs `bound` (M): the largest l1 norm of a layer. Without it the "
                "optimal control is an impulse at t = 0. For toy data take M near the "
                "horizon, for instance L1(lam=0.05, bound=8.0)."
            )
        why = "It is the largest l1 norm of one layer."
        self.bound = jnp.asarray(above_zero("bound", bound, why))

    def __call__(self, controls, dt):
        """lam dt sum ||u_k||_1; the bound is a constraint."""
        return self.lam * dt * jnp.sum(jnp.abs(controls))
