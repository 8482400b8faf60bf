"""The GULP distances that their authors publish, from their other published matrices.

    PUSHFORWARD_PEERS=FOLDER python -m benchmarks.published

FOLDER holds a checkout of github.com/sgstepaniants/GULP. It saves distances between
networks and not the activations behind them, so that no program can compute them again
from the start. What the theory says between them can be checked, on every pair:

- CKA and CKA' give |S_ab|^2 and the product |S_a| |S_b|, hence |S_a| of every network
  (`one factor`: how far the products are from being products), and with them
  lambda^2 d^2 up to a relative error of order 1 / lambda (`lambda = 1e4, 1e2`);
- without ridge d^2 = k_a + k_b - 2 sum of rho^2, which the mean squared CCA gives where
  the widths are known (`lambda = 0`).
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

FOLDERS = {
    "ImageNet, pretrained": "imagenet_experiments/distances/train/pretrained",
    "ImageNet, untrained": "imagenet_experiments/distances/train/untrained",
    "MNIST": "mnist_experiments/distances/widthdepth",
    "CIFAR": "cifar_experiments/distances/10000",
}
WIDTH = re.compile(r"fc_cifar_\d+_(\d+)_\d+")  # the only names that tell it


def compared(folder: Path) -> dict[str, float]:
    """Relative differences, the largest over all pairs."""
    read = {
        name: np.load(folder / f"{name}.npy")
        for name in ("lin_cka_dist", "lin_cka_prime_dist", "mean_sq_cca_e2e")
    }
    cka, prime = read["lin_cka_dist"], read["lin_cka_prime_dist"]
    i, j = np.nonzero(np.isfinite(cka) & np.isfinite(prime))
    cross = 1 - prime[i, j]
    product = cross / (1 - cka[i, j])
    pairs = np.zeros((len(i), len(cka)))
    pairs[np.arange(len(i)), i] = pairs[np.arange(len(i)), j] = 1
    logs = np.linalg.lstsq(pairs, np.log(product), rcond=None)[0]
    own = np.exp(2 * logs)
    found = {
        "pairs": float(len(i)),
        "one factor": worst(np.exp(pairs @ logs), product),
    }
    for lam in (1e4, 1e2):
        saved = np.load(folder / f"predictor_dist_{lam}.npy")[i, j]
        expected = (own[i] + own[j] - 2 * cross) / lam**2
        found[f"lambda = {lam:g}"] = worst(expected, saved)
    names = np.load(folder / "stats.npz")["model_names"]
    widths = [WIDTH.match(str(name)) for name in names]
    if all(widths):
        k = np.array([int(width[1]) for width in widths if width])
        shared = (1 - read["mean_sq_cca_e2e"][i, j]) * np.minimum(k[i], k[j])
        saved = np.load(folder / "predictor_dist_0.0.npy")[i, j]
        off = np.abs((k[i] + k[j] - 2 * shared) / saved - 1)
        found["lambda = 0"] = float(off.max())
        found["lambda = 0, median"] = float(np.median(off))
    return found


def worst(expected: np.ndarray, saved: np.ndarray) -> float:
    """The largest relative difference."""
    return float(np.abs(expected / saved - 1).max())


def tables(peers: Path) -> Iterator[tuple[str, dict[str, float]]]:
    """Every family of networks whose matrices are saved."""
    for name, folder in FOLDERS.items():
        yield name, compared(peers / "GULP" / folder)


if __name__ == "__main__":
    for label, row in tables(Path(os.environ["PUSHFORWARD_PEERS"])):
        told = "  ".join(f"{key} {value:.2g}" for key, value in row.items())
        print(f"{label:22s} {told}")
