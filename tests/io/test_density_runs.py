"""Runs of densities on disk: bitwise, taken up again, and open to others."""

import jax
import numpy as np
import pytest

import pushforward as pf
from pushforward.errors import StoreError

FIELD, E = pf.Attention(2.0), pf.InteractionEnergy(2.0)
OPTIONS = dict(save=5, observe={"E": E, "mean": lambda rho: rho.mean()})


def lean():
    return pf.Density.uniform(pf.Circle(), 24).perturbed(1, 0.1)


def stop_at(t_stop):
    def progress(t, rho, steps):
        if t >= t_stop:
            raise KeyboardInterrupt

    return progress


def same(a, b):
    assert type(a.final) is type(b.final) and repr(a.final) == repr(b.final)
    np.testing.assert_array_equal(a.measures.coefficients, b.measures.coefficients)
    np.testing.assert_array_equal(a.final.coefficients, b.final.coefficients)
    np.testing.assert_array_equal(a.times, b.times)
    for name in {*a.observed, *b.observed}:
        np.testing.assert_array_equal(a.observed[name], b.observed[name])
    assert a.outcome == b.outcome
    for name in ("steps", "rejected", "status"):
        assert int(getattr(a, name)) == int(getattr(b, name))
    assert repr(a.field) == repr(b.field)


@pytest.fixture(scope="module")
def whole():
    return pf.flow(FIELD, lean(), 1.0, **OPTIONS)


def test_saved_and_loaded_bitwise(whole, tmp_path):
    whole.save(tmp_path / "run")
    same(pf.load(tmp_path / "run"), whole)


def test_interrupted_loaded_and_resumed_bitwise(whole, tmp_path):
    path = tmp_path / "run"
    pf.flow(FIELD, lean(), 1.0, **OPTIONS, store=path, progress=stop_at(0.6))
    part = pf.load(path)
    assert 0 < len(part) < 5 and part.outcome.kind == "interrupted"
    told = []
    rest = pf.flow(
        FIELD, lean(), 1.0, **OPTIONS, store=path, progress=lambda *a: told.append(a)
    )
    assert len(told) == 5 - len(part)
    same(rest, whole)
    same(pf.load(path), whole)


def test_noise_and_its_key_are_resumed_bitwise(tmp_path):
    noise = pf.Brownian(0.2) + pf.CommonNoise(0.1)
    options = dict(save=4, noise=noise, key=jax.random.key(3), solver=pf.Heun(0.05))
    whole = pf.flow(FIELD, lean(), 0.6, **options)
    pf.flow(
        FIELD, lean(), 0.6, **options, store=tmp_path / "run", progress=stop_at(0.3)
    )
    same(pf.io.resumption(tmp_path / "run").flow(), whole)


def test_another_density_is_another_run(tmp_path):
    pf.flow(FIELD, lean(), 0.2, save=2, store=tmp_path / "run")
    with pytest.raises(StoreError, match="another run"):
        pf.flow(FIELD, lean().perturbed(2, 0.1), 0.2, save=2, store=tmp_path / "run")


def test_xarray_opens_it(whole, tmp_path):
    xarray = pytest.importorskip("xarray")
    whole.save(tmp_path / "run")
    with xarray.open_zarr(tmp_path / "run") as data:
        assert data["coefficients"].dims == ("time", "mode")
        assert data["values"].dims == ("time", "node")
        np.testing.assert_array_equal(data["values"][2], whole[2].values)
