"""Lost in the middle: how much the last token feels each position of the prompt."""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, PRNGKeyArray

from pushforward._checks import whole
from pushforward.probe._recording import Text, load_any
from pushforward.probe._text import tokens_of
from pushforward.probe._transformer import depth_of, run_layers


@dataclasses.dataclass(frozen=True)
class Sensitivity:
    """|d x_last / d x_i| for each position i, and its standard error.

    The derivative of the direction of the last token after the last layer with
    respect to the embedding of token i, in the Frobenius norm, per unit of relative
    change |dx_i| / |x_i|. `positions` are (i + 1/2) / n in (0, 1).
    """

    positions: Float[np.ndarray, "n"]
    values: Float[np.ndarray, "n"]
    errors: Float[np.ndarray, "n"]

    @property
    def share(self) -> Float[np.ndarray, "n"]:
        """Values divided by their mean over positions: one is average."""
        return self.values / self.values.mean()


def sensitivity(
    model: Any,
    text: Text,
    *,
    key: PRNGKeyArray,
    probes: int = 8,
    depth: int | None = None,
    tokenizer: Any = None,
) -> Sensitivity:
    """The sensitivity of the last token to every position, by backpropagation.

    For a random unit vector u, E |J^T u|^2 = |J|_F^2 / d: each of `probes` vectors
    costs one backward pass through the model and gives all positions at once.
    """
    probes = whole("probes", probes, 2, "Two at least, for a standard error.")
    found = load_any(model)
    transformer = found.transformer
    tokens = tokens_of(
        text,
        tokenizer or found.tokenizer,
        context=transformer.about.context,
        vocabulary=transformer.about.vocabulary,
    )
    x = transformer.embed(jnp.asarray(tokens.ids))
    d = x.shape[1]
    directions = jax.random.normal(key, (probes, d), x.dtype)
    directions = directions / jnp.linalg.norm(directions, axis=1, keepdims=True)
    squares = _pulled_back(transformer, x, directions, depth_of(transformer, depth))
    lengths = np.linalg.norm(np.asarray(x, float), axis=1)
    squares = d * np.asarray(squares, float) * lengths[None, :] ** 2
    values = np.sqrt(squares.mean(axis=0))
    spread = squares.std(axis=0, ddof=1) / np.sqrt(probes)
    n = len(tokens)
    errors = spread / (2 * np.maximum(values, 1e-300))
    return Sensitivity((np.arange(n) + 0.5) / n, values, errors)


@eqx.filter_jit
def _pulled_back(transformer, x, directions, depth: int):
    """|J_i^T u|^2 for every probe u and position i."""

    def end(x):
        last = transformer.last(run_layers(transformer, x, depth)[0])[-1]
        return last / jnp.linalg.norm(last)

    _, pull = jax.vjp(end, x)
    return jax.lax.map(lambda u: jnp.sum(pull(u)[0] ** 2, axis=1), directions)
