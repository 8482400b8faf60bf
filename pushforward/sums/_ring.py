"""The exact sum over several devices: keys travel around a ring, queries stay.

Device r holds a block of tokens. In k rounds every block of keys passes every device,
which adds its part with its own shift; parts are joined as logarithms of sums are.
Memory on a device falls like 1/k but for the n x d result, which all devices get.
"""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec
from jaxtyping import Array

from pushforward._checks import whole
from pushforward.errors import InputError
from pushforward.sums._exact import Exact
from pushforward.sums._kernel import AbstractSum, Kernel, KernelSum

AXIS = "tokens"
NOTHING = -1e30  # the logarithm of the weight of padding; finite, for the gradient


class Ring(AbstractSum):
    """The exact sum, tokens spread over devices; all of them if none is named.

    One system on several GPUs of a host, or of several hosts after
    `jax.distributed.initialize()`, by the same call:
    `flow(Attention(9.0, sums=Ring()), mu, t1)`. Results agree with `Exact()` to
    rounding.
    """

    devices: int | None = eqx.field(static=True)

    def __init__(self, devices: int | None = None):
        self.devices = None if devices is None else whole("devices", devices, 1)

    def __call__(self, kernel: Kernel) -> KernelSum:
        """Exact to rounding."""
        m, n = kernel.queries.shape[0], kernel.keys.shape[0]
        there = jax.device_count()
        k = self.devices or there
        if k > there:
            raise InputError(f"`devices` is {k}, but there are only {there}.")
        if m != n or k == 1 or n < k * k:  # every device needs a token of its own
            return Exact()(kernel)
        return _around(kernel, Mesh(np.array(jax.devices()[:k]), (AXIS,)))


def _around(kernel: Kernel, mesh: Mesh) -> KernelSum:
    k, n = mesh.size, kernel.keys.shape[0]
    more = -n % k
    pad = lambda a: jnp.pad(a, ((0, more), (0, 0)), mode="edge")  # noqa: E731
    weights = jnp.maximum(kernel.log_weights, NOTHING)
    tokens = (
        pad(kernel.queries),
        pad(kernel.keys),
        pad(kernel.values),
        jnp.pad(weights, (0, more), constant_values=NOTHING),
    )
    split, everywhere = PartitionSpec(AXIS), PartitionSpec()
    body = partial(_one_device, kernel=(kernel.own, kernel.causal, kernel.unit), k=k)
    out = jax.shard_map(
        body,
        mesh=mesh,
        in_specs=(split, split, split, split, everywhere),
        out_specs=everywhere,
        check_vma=False,
    )(*tokens, kernel.beta)
    return jax.tree_util.tree_map(lambda a: a[:n], out)


def _one_device(q, keys, values, weights, beta, *, kernel, k: int) -> KernelSum:
    """k rounds: add the block that is here, hand it on to the right."""
    own, causal, unit = kernel
    here = jax.lax.axis_index(AXIS)
    right = [(r, (r + 1) % k) for r in range(k)]
    block = (keys, values, weights)
    total = Exact()(Kernel(q, keys, values, weights, beta, own, causal, unit))
    for turn in range(1, k):
        block = jax.lax.ppermute(block, AXIS, right)
        keys, values, weights = block
        part = Exact()(Kernel(q, keys, values, weights, beta, unit=unit))
        if causal:  # blocks that come around from behind hold later tokens
            later = turn > here
            part = part._replace(log_total=jnp.where(later, NOTHING, part.log_total))
            part = part._replace(log_scale=jnp.where(later, NOTHING, part.log_scale))
        total = _joined(total, part)
    gather = partial(jax.lax.all_gather, axis_name=AXIS, tiled=True)
    return jax.tree_util.tree_map(gather, total)


def _joined(one: KernelSum, two: KernelSum) -> KernelSum:
    """The sum of two parts, each with its own scale."""
    scale = jnp.maximum(one.log_scale, two.log_scale)
    factor = lambda part: _exp(part.log_scale - scale)[:, None]  # noqa: E731
    moment = factor(one) * one.moment + factor(two) * two.moment
    total = jnp.logaddexp(one.log_total, two.log_total)
    return KernelSum(total, scale, moment, one.log_own)


def _exp(difference: Array) -> Array:
    return jnp.exp(jax.lax.stop_gradient(difference))
