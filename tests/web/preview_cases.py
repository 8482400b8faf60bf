"""Runs of the library for the tests of the page's preview, in web/page/test.

python tests/web/preview_cases.py
"""

import json
import pathlib

import numpy as np

import pushforward as pf
from pushforward.measures import components

TARGET = pathlib.Path(__file__).parents[2] / "web/page/test/preview.json"
STATE_TARGET = TARGET.with_name("states.json")
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
        "nGPT": ("sa", pf.UnitNorm(pf.Attention(4.0)), 3, 10),
        "LN-scaling": ("usa", pf.DepthNorm(_usa(2.0)), 3, 10),
        "a perceptron": ("sa", pf.Attention(2.0) + _relu(0.4, 3), 3, 10),
        "causal, a perceptron, nGPT": (
            "causal",
            pf.UnitNorm(pf.CausalAttention(2.0) + _relu(-0.7, 2)),
            2,
            10,
        ),
        "Pre-LN": ("sa", pf.PreNorm(pf.Attention(1.0)), 3, 10),
        "Peri-LN": ("causal", pf.PeriNorm(pf.CausalAttention(2.0)), 3, 10),
        "LN-scaling with lengths": ("usa", pf.DepthScaledNorm(_usa(2.0)), 3, 10),
        "Mix-LN": ("sa", pf.MixNorm(pf.Attention(1.0), 2.3), 2, 10),
    }


NORMS: dict[type, str] = {
    pf.UnitNorm: "unit",
    pf.DepthNorm: "depth",
    pf.PreNorm: "pre",
    pf.PeriNorm: "peri",
    pf.DepthScaledNorm: "scaled",
    pf.MixNorm: "mix",
}


def _usa(beta: float) -> pf.UnnormalizedAttention:
    return pf.UnnormalizedAttention(beta, log_scale=-abs(beta))


FLAT = ("pre", "peri", "scaled", "mix")


def _relu(c: float, d: int) -> pf.Perceptron:
    return pf.Perceptron(c * np.eye(d), np.eye(d))


def parts(field) -> tuple[str, float, list]:
    """The norm, the strength of the perceptron and the heads of a field."""
    norm = NORMS.get(type(field), "post")
    field = field if norm == "post" else field.field
    both = isinstance(field, pf.Sum)
    strength = float(field.fields[1].W[0, 0]) if both else 0.0
    field = field.fields[0] if both else field
    return norm, strength, list(getattr(field, "heads", [field]))


def rows(matrix) -> list | None:
    return None if matrix is None else np.asarray(matrix).tolist()


def case(name: str, model: str, field, d: int, n: int) -> dict:
    norm, perceptron, heads = parts(field)
    space: pf.spaces.AbstractSpace = pf.Circle() if d == 2 else pf.Sphere(d)
    mu = pf.Particles.uniform(space, n, key=pf.key_for(3, "tokens"))
    flat = norm in FLAT
    if flat:
        space = pf.Euclidean(d)
        mu = pf.Particles(space, mu.points)
    run = pf.flow(field, mu, T1, save=2)
    end = np.asarray(run.final.points)
    beta = float(heads[0].beta)
    return {
        "name": name,
        "model": model,
        "norm": norm,
        "perceptron": perceptron,
        "beta": beta,
        "d": d,
        "mass": np.asarray(mu.weights).tolist(),
        "heads": [{k: rows(getattr(h, k)) for k in "QKV"} for h in heads],
        "start": np.asarray(mu.points).tolist(),
        "velocity": np.asarray(field(0.0, mu)[0]).tolist(),
        "end": end.tolist(),
        "t1": T1,
        "change": float(getattr(field, "switch", 0.0)),
        "energy": None if flat else float(pf.InteractionEnergy(beta)(run.final)),
        "cosine": None if flat else float(pf.observables.mean_cosine(run.final)),
        "clusters": int(components(space, end, 0.05).max()) + 1,
        "radius": 0.05,
    }


STATES = 200
KINDS = {
    "sa": pf.Attention,
    "usa": _usa,
    "causal": pf.CausalAttention,
}


def _ends(field, space, starts: np.ndarray) -> np.ndarray:
    ends = [pf.flow(field, pf.Particles(space, x), T1, save=2).final for x in starts]
    return np.stack([np.asarray(end.points) for end in ends])


def random_states() -> list[dict]:
    """What the library says of states drawn at random, away from bifurcations.

    Two starts 1e-7 apart must end within 1e-5, and a radius ten percent larger or
    smaller must count the same clusters: of the others no two programs agree.
    """
    rng = np.random.default_rng(11)
    made: list[dict] = []
    while len(made) < STATES:
        model = list(KINDS)[len(made) % 3]
        d = 2 + len(made) % 2
        space = pf.Circle() if d == 2 else pf.Sphere(d)
        beta = float(
            np.round(rng.choice([rng.uniform(-3, 3), 10 ** rng.uniform(0, 2)]), 3)
        )
        x = rng.normal(size=(8, d))
        x = np.round(x / np.linalg.norm(x, axis=1, keepdims=True), 5)
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        near = x + 1e-7 * rng.normal(size=x.shape)
        near /= np.linalg.norm(near, axis=1, keepdims=True)
        one, other = _ends(KINDS[model](beta), space, np.stack([x, near]))
        counts = {int(components(space, one, r).max()) for r in (0.045, 0.05, 0.055)}
        if np.abs(one - other).max() > 1e-5 or len(counts) > 1:
            continue
        made.append(
            {
                "model": model,
                "beta": beta,
                "start": np.round(x, 5).tolist(),
                "end": np.round(one, 6).tolist(),
                "clusters": counts.pop() + 1,
            }
        )
    return made


def states_text() -> str:
    """The file of random states, one per line."""
    rows = [json.dumps(one, separators=(",", ":")) for one in random_states()]
    return "[\n" + ",\n".join(rows) + "\n]\n"


def text() -> str:
    """The file of the page's tests."""
    made = [case(name, *parts) for name, parts in cases().items()]
    return "[\n" + ",\n".join(json.dumps(one) for one in made) + "\n]\n"


if __name__ == "__main__":
    TARGET.write_text(text())
    STATE_TARGET.write_text(states_text())
