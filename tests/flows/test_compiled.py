"""A process that compiles for ever must forget in time."""

import jax
import jax.numpy as jnp
import pytest

from pushforward import _compiled


@pytest.mark.slow
@pytest.mark.skipif(not _compiled.MAPS.exists(), reason="only Linux has this limit")
def test_room_is_made_when_maps_run_short(monkeypatch):
    def maps():
        return _compiled.MAPS.read_bytes().count(b"\n")

    monkeypatch.setattr(_compiled, "MOST_MAPS", maps() + 10_000)
    assert not _compiled.make_room()
    for n in range(2, 40):
        jax.jit(lambda x: jnp.sin(x) @ x.T)(jnp.ones((n, 3)))
    before = maps()
    monkeypatch.setattr(_compiled, "MOST_MAPS", before // 2)
    assert _compiled.make_room()
    assert maps() < before
