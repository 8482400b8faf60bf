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
for n, d, beta, causal, own in [
    (37, 3, 9.0, False, True), (64, 2, 100.0, True, True), (50, 5, -2.0, False, True),
    (41, 3, 4.0, False, False),
]:
    x = rng.normal(size=(n, d)); x /= np.linalg.norm(x, axis=1, keepdims=True)
    w = np.log(rng.dirichlet(np.ones(n)))
    def average(method, x):
        kernel = Kernel(x, x, x, w, jax.numpy.asarray(beta), own=own, causal=causal,
                        unit=own)
        out = method(kernel)
        return out.average(), out.log_total
    for a, b in zip(jax.jit(lambda x: average(Ring(), x))(x), average(Exact(), x)):
        assert np.allclose(a, b, rtol=1e-12, atol=1e-13), (n, d, np.abs(a - b).max())
    loss = lambda method: jax.grad(lambda x: (average(method, x)[0] ** 3).sum())(x)
    assert np.allclose(loss(Ring()), loss(Exact()), rtol=1e-9, atol=1e-11)
mu = pf.Particles.uniform(pf.Sphere(3), 40, key=jax.random.key(0))
one = pf.flow(pf.Attention(4.0), mu, 2.0, save=3)
four = pf.flow(pf.Attention(4.0, sums=pf.Ring()), mu, 2.0, save=3)
assert np.allclose(one.points, four.points, atol=1e-9)
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
