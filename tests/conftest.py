"""Strict numerics for every test: 64 bits, no silent rank or dtype promotion."""

import jax
import numpy as np
import pytest

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_numpy_rank_promotion", "raise")


def sine_data(n: int, d: int) -> np.ndarray:
    """The deterministic tokens of the notes: sin(1 + 3i + 7k + ik), normalised."""
    i, k = np.arange(n)[:, None], np.arange(d)[None, :]
    x = np.sin(1.0 + 3 * i + 7 * k + i * k)
    return x / np.linalg.norm(x, axis=1, keepdims=True)


@pytest.fixture
def sine():
    return sine_data
