"""A perceptron added to fitted attention, by gradient descent through the layer."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from pushforward.errors import InputError
from pushforward.probe._regression import Points, Split

STEPS, RATE, CHECK = 240, 3e-3, 20
WATCHED = 5  # one training token in so many decides when to stop


def fitted_perceptron(
    split: Split, push: Points, width: int, *, key: PRNGKeyArray
) -> Points:
    """W relu(A x + b) such that normalize(x + push + W relu(A x + b)) is near y.

    `push` is what attention predicts, for training tokens by a fit without them.
    Descends the error of the training tokens by Adam and keeps the weights of the
    smallest error on a fifth of them, which the descent does not see; W starts at
    zero, so that at worst nothing is added.
    """
    try:
        import optax
    except ImportError:
        raise InputError(
            "fitting a perceptron needs optax. Run "
            "`pip install 'pushforward[control]'`."
        ) from None
    train, d = split.train, split.x.shape[1]
    watched, used = train[::WATCHED], np.delete(train, slice(0, None, WATCHED))
    A = jax.random.normal(key, (width, d)) * np.sqrt(2.0)
    parameters = (jnp.zeros((d, width)), A, jnp.zeros(width))
    start, end, data = map(jnp.asarray, (split.x + push, split.y, split.x))

    def added(parameters):
        W, A, b = parameters
        return jax.nn.relu(data @ A.T + b[None, :]) @ W.T

    def error(parameters, rows):
        z = start + added(parameters)
        z = z / jnp.linalg.norm(z, axis=1, keepdims=True)
        return jnp.mean(jnp.sum((z - end) ** 2, axis=1)[rows])

    adam = optax.adam(RATE)

    def step(carry, _):
        parameters, state = carry
        slope = jax.grad(error)(parameters, used)
        updates, state = adam.update(slope, state)
        return (optax.apply_updates(parameters, updates), state), None

    advance = jax.jit(lambda carry: jax.lax.scan(step, carry, None, length=CHECK)[0])
    carry = (parameters, adam.init(parameters))
    best, kept = error(parameters, watched), parameters
    for _ in range(STEPS // CHECK):
        carry = advance(carry)
        now = error(carry[0], watched)
        if now < best:
            best, kept = now, carry[0]
    return np.asarray(added(kept))
