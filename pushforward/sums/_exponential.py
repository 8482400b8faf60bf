"""2^t by a polynomial: twice as fast on a CPU as the compiler's exponential."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

LOG2_E = 1.4426950408889634

# Near-minimax polynomials of 2^r on [-1/2, 1/2], highest power first; relative errors
# 3e-18 and 2e-9, so that rounding decides: 2.2e-16 and 8e-8 were measured.
_FLOAT64 = (
    4.4558179083360645e-10,
    7.074194297288521e-09,
    1.0178057087733941e-07,
    1.3215432535912375e-06,
    1.5252733841556773e-05,
    0.00015403530463724353,
    0.001333355814640647,
    0.009618129107587256,
    0.055504108664821625,
    0.24022650695910158,
    0.6931471805599453,
    1.0,
)
_FLOAT32 = (
    0.0001546144469856913,
    0.0013400428177615838,
    0.009618056678524637,
    0.05550327226670302,
    0.24022650922288757,
    0.6931472067028326,
    1.0,
)


@jax.custom_jvp
def exp2(t: Float[Array, "..."]) -> Float[Array, "..."]:
    """2^t for t at most 1023 (float32: 127); zero where it would be subnormal."""
    if t.dtype not in (jnp.float32, jnp.float64):
        return jnp.exp2(t)
    return jax.lax.platform_dependent(t, cpu=_polynomial, default=jnp.exp2)


@exp2.defjvp
def _exp2_jvp(primals, tangents):
    (t,), (dt,) = primals, tangents
    value = exp2(t)
    return value, np.log(2.0).astype(t.dtype) * value * dt


def _polynomial(t: Array) -> Array:
    wide = t.dtype == jnp.float64
    bits, mantissa, least = (
        (jnp.int64, 52, -1022.0) if wide else (jnp.int32, 23, -126.0)
    )
    k = jax.lax.round(t, jax.lax.RoundingMethod.TO_NEAREST_EVEN)
    r = t - k
    p = jnp.zeros_like(r)
    for c in _FLOAT64 if wide else _FLOAT32:
        p = p * r + jnp.asarray(c, t.dtype)
    # The low bits of 1.5 2^mantissa + k are the integer k: no conversion is needed,
    # which matters because float64 to int64 is slow before AVX-512.
    raised = k + jnp.asarray(1.5 * 2.0**mantissa, t.dtype)
    exponent = jax.lax.shift_left(
        jax.lax.bitcast_convert_type(raised, bits), jnp.asarray(mantissa, bits)
    )
    scaled = jax.lax.bitcast_convert_type(
        jax.lax.bitcast_convert_type(p, bits) + exponent, t.dtype
    )
    return jnp.where(t < least, jnp.zeros((), t.dtype), scaled)
