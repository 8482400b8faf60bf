"""One system over several devices gives what one device gives."""

import os
import socket
import subprocess
import sys

import pytest

import pushforward as pf
from pushforward.errors import InputError

SETUP = """
import jax, numpy as np, pushforward as pf
from pushforward.sums import Exact, Kernel, Ring
"""

COMPARE = (
    SETUP
    + """
assert jax.device_count() == 4
rng = np.random.default_rng(0)
for n, d, beta, causal in [(37, 3, 9.0, False), (64, 2, 100.0, True)]:
    x = rng.normal(size=(n, d)); x /= np.linalg.norm(x, axis=1, keepdims=True)
    w = np.log(rng.dirichlet(np.ones(n)))
    @jax.jit
    def both(x):
        def run(x, method):
            kernel = Kernel(x, x, x, w, jax.numpy.asarray(beta), own=True,
                            causal=causal, unit=True)
            out = method(kernel)
            return (out.average() ** 3).sum(), (out.average(), out.log_total)
        found = [jax.value_and_grad(run, has_aux=True)(x, m) for m in (Ring(), Exact())]
        return [(value, *aux, slope) for (value, aux), slope in found]
    for a, b in zip(*both(x)):
        assert np.allclose(a, b, rtol=1e-11, atol=1e-12), (n, np.abs(a - b).max())
mu = pf.Particles.uniform(pf.Sphere(3), 37, key=jax.random.key(0))
layer = dict(save=2, solver=pf.Layers(0.25))
one = pf.flow(pf.Attention(4.0), mu, 1.0, **layer)
four = pf.flow(pf.Attention(4.0, sums=pf.Ring()), mu, 1.0, **layer)
assert np.allclose(one.points, four.points, rtol=0, atol=1e-13)
print("equal")
"""
)

PROCESS = (
    SETUP
    + """
import sys
jax.config.update("jax_cpu_collectives_implementation", "gloo")
jax.distributed.initialize("127.0.0.1:" + sys.argv[1], 2, int(sys.argv[2]))
assert jax.device_count() == 2 and jax.local_device_count() == 1
x = np.random.default_rng(0).normal(size=(30, 3))
x /= np.linalg.norm(x, axis=1, keepdims=True)
w = np.full(30, -np.log(30.0))
def average(x, method):
    kernel = Kernel(x, x, x, w, jax.numpy.asarray(9.0), own=True, unit=True)
    return method(kernel).average()
ring = jax.jit(lambda x: average(x, Ring()))(x)
e = np.exp(9.0 * (x @ x.T - 1))
exact = (e - np.diag(np.diag(e))) @ x / e.sum(axis=1, keepdims=True)
assert np.allclose(ring.addressable_data(0), exact, atol=1e-13)
print("equal")
"""
)


def started(code, *arguments, devices=1):
    flags = f"--xla_force_host_platform_device_count={devices}"
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        env=os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_four_devices_agree_with_one():
    process = started(COMPARE, devices=4)
    text, _ = process.communicate(timeout=300)
    assert text.strip().endswith("equal"), text


def test_two_processes_agree_with_the_formula():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    both = [started(PROCESS, port, str(rank)) for rank in range(2)]
    for process in both:
        text, _ = process.communicate(timeout=300)
        assert text.strip().endswith("equal"), text


def test_more_devices_than_there_are():
    mu = pf.Particles.equispaced(pf.Circle(), 5)
    with pytest.raises(InputError, match="`devices` is 64"):
        pf.Attention(1.0, sums=pf.Ring(64))(0.0, mu)
