"""Factorizations from several threads: jaxlib alone lets them wait for ever."""

import faulthandler
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np

from pushforward.experiments import _ensemble


def test_two_threads_that_factorize_come_to_an_end(sine):
    x = np.stack([sine(64, 16)] * 8)
    triangle = _ensemble.one_shape(jax.vmap(lambda x: jnp.linalg.qr(x)[1]))
    faulthandler.dump_traceback_later(300, exit=True)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: np.asarray(triangle(x)), range(400)))
    faulthandler.cancel_dump_traceback_later()
    want = np.linalg.qr(x[0])[1]
    for r in found:
        np.testing.assert_allclose(np.abs(r[3]), np.abs(want), atol=1e-13)


def test_only_programs_that_factorize_wait(monkeypatch):
    taken = []

    class Seen:
        def __enter__(self):
            taken.append(1)

        def __exit__(self, *_):
            pass

    monkeypatch.setattr(_ensemble, "TURN", Seen())
    square = _ensemble.one_shape(jax.vmap(lambda x: x @ x))
    assert square(np.ones((2, 3, 3)))[0, 0, 0] == 3 and taken == []
    _ensemble.one_shape(jax.vmap(jnp.linalg.eigvalsh))(np.ones((2, 3, 3)))
    assert taken == [1]
