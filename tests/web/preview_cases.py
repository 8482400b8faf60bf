"""Runs of the library for the tests of the page's preview: web/page/test/preview.json.

python tests/web/preview_cases.py
"""

import json
import pathlib

import numpy as np

import pushforward as pf
from pushforward.measures import components

TARGET = pathlib.Path(__file__).parents[2] / "web/page/test/preview.json"
T1 = 20.0


def weights(seed: int, d: int, scale: float) -> np.ndarray:
    return scale * np.random.default_rng(seed).standard_normal((d, d))


def cases() -> dict[str, tuple]:
    """Model, field, dimension and number of tokens."""
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    two = [
        pf.Attention(2.0, Q=weights(s, 3, 0.6), K=weights(s + 1, 3, 0.6), V=-np.eye(3))
        for s in (0, 4)
    ]
    return {
        "SA on the sphere": ("sa", pf.Attention(9.0), 3, 16),
        "SA on the circle, far": ("sa", pf.Attention(-2.0), 2, 12),
        "SA in eight dimensions": ("sa", pf.Attention(1.0), 8, 10),
        "SA, large beta": ("sa", pf.Attention(400.0), 3, 12),
        "USA": ("usa", pf.UnnormalizedAttention(4.0, log_scale=-4.0), 3, 16),
        "causal": ("causal", pf.CausalAttention(3.0), 3, 12),
        "SA with V": ("sa", pf.Attention(2.0, V=np.diag([1.0, 0.5, -1.0])), 3, 12),
        "SA that turns": ("sa", pf.Attention(1.0, V=turn), 2, 8),
        "two heads with Q, K, V": ("sa", pf.Heads(two), 3, 10),
    }


def rows(matrix) -> list | None:
    return None if matrix is None else np.asarray(matrix).tolist()


def case(name: str, model: str, field, d: int, n: int) -> dict:
    space = pf.Circle() if d == 2 else pf.Sphere(d)
    mu = pf.Particles.uniform(space, n, key=pf.key_for(3, "tokens"))
    run = pf.flow(field, mu, T1, save=2)
    end = np.asarray(run.final.points)
    heads = field.heads if isinstance(field, pf.Heads) else [field]
    beta = float(heads[0].beta)
    return {
        "name": name,
        "model": model,
        "beta": beta,
        "d": d,
        "mass": np.asarray(mu.weights).tolist(),
        "heads": [{k: rows(getattr(h, k)) for k in "QKV"} for h in heads],
        "start": np.asarray(mu.points).tolist(),
        "velocity": np.asarray(field(0.0, mu)[0]).tolist(),
        "end": end.tolist(),
        "t1": T1,
        "energy": float(pf.InteractionEnergy(beta)(run.final)),
        "cosine": float(pf.observables.mean_cosine(run.final)),
        "clusters": int(components(space, end, 0.05).max()) + 1,
        "radius": 0.05,
    }


def text() -> str:
    """The file of the page's tests."""
    made = [case(name, *parts) for name, parts in cases().items()]
    return "[\n" + ",\n".join(json.dumps(one) for one in made) + "\n]\n"


if __name__ == "__main__":
    TARGET.write_text(text())
