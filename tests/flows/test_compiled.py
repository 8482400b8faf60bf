"""A process that compiles for ever must forget in time."""

import jax
import jax.numpy as jnp
import pytest

from pushforward import _compiler


@pytest.mark.slow
@pytest.mark.skipif(not _compiler.MAPS.exists(), reason="only Linux has this limit")
def test_room_is_made_when_maps_run_short(monkeypatch):
    def maps():
        return _compiler.MAPS.read_bytes().count(b"\n")

    monkeypatch.setattr(_compiler, "MOST_MAPS", maps() + 10_000)
    assert not _compiler.make_room()
    for n in range(2, 40):
        jax.jit(lambda x: jnp.sin(x) @ x.T)(jnp.ones((n, 3)))
    before = maps()
    monkeypatch.setattr(_compiler, "MOST_MAPS", before // 2)
    assert _compiler.make_room()
    assert maps() < before
