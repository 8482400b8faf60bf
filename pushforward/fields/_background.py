"""Frozen tokens: they pull the free ones and do not move."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pushforward._checks import as_float_array, check_finite, is_traced
from pushforward.errors import InputError
from pushforward.fields._field import AbstractField, Drive
from pushforward.measures import Particles


class Background(AbstractField):
    """A field in the presence of frozen atoms, which stand before all free tokens.

    The tokens of mu move as `field` moves them in the measure (atoms, mu); the atoms
    stand still. With `CausalAttention` this is the system of frozen centers,

    dx_k/dt = P_{x_k} [ (1/Z_k) ( sum_c e^{beta <x_k, c>} c
                                  + sum_{j <= k} e^{beta <x_k, x_j>} x_j ) ].

    `weights` of the atoms are in units in which mu has total mass one; left out, each
    atom weighs as much as a free token, 1/n. [karagodin2024causal]

    >>> field = Background(CausalAttention(9.0), Circle().points(np.array([0.0, 3.0])))
    >>> mu = Particles(Circle(), Circle().points(np.array([0.4])))
    >>> bool(field(0.0, mu).v[0, 1] < 0)  # pulled back to the atom at angle zero
    True
    """

    field: AbstractField
    atoms: Float[Array, "m d"]
    log_weights: Float[Array, "m"] | None

    def __init__(self, field: AbstractField, atoms, weights=None):
        if not isinstance(field, AbstractField):
            raise InputError(
                f"`field` must be a field such as CausalAttention(9.0), got {field!r}."
            )
        self.field = field
        self.atoms = as_float_array("atoms", atoms)
        if self.atoms.ndim != 2 or len(self.atoms) == 0:
            raise InputError(
                f"`atoms` must have shape (m, d), m >= 1, got {self.atoms.shape}."
            )
        check_finite("atoms", self.atoms)
        self.log_weights = None if weights is None else _logs(weights, len(self.atoms))

    @property
    def weights(self) -> Float[Array, "m"] | None:
        """The weights of the atoms as given."""
        return None if self.log_weights is None else jnp.exp(self.log_weights)

    def drive(self, t, mu: Particles) -> Drive:
        """The drive on the free tokens, with the atoms in front of them."""
        m = len(self.atoms)
        across, along, growth = self.field.drive(t, self.joined(mu))
        along = None if along is None else along[m:]
        growth = None if growth is None else growth[m:]
        return Drive(across[m:], along, growth)

    def joined(self, mu: Particles) -> Particles:
        """Atoms and free tokens as one measure, of mass above one."""
        if self.atoms.shape[1] != mu.d:
            raise InputError(
                f"`atoms` must have {mu.d} coordinates like the tokens, got "
                f"{self.atoms.shape[1]}."
            )
        dtype = mu.points.dtype
        logs = self.log_weights
        if logs is None:
            logs = jnp.full(len(self.atoms), -np.log(mu.n))
        points = jnp.concatenate([self.atoms.astype(dtype), mu.points])
        return mu.moved(points, jnp.concatenate([logs.astype(dtype), mu.log_weights]))


def _logs(weights, m: int) -> Float[Array, "m"]:
    w = as_float_array("weights", weights)
    if w.shape != (m,):
        raise InputError(f"`weights` must have shape ({m},), got {w.shape}.")
    check_finite("weights", w)
    if not is_traced(w) and bool((w <= 0).any()):
        raise InputError("`weights` of frozen atoms must be positive.")
    return jnp.log(w)
