"""The runs behind figures and claims, as experiments.

Of an ensemble there is one system: another has another `field.beta`, and replica r the
seed raised by r.
"""

import numpy as np

import pushforward as pf
from pushforward import theory
from pushforward.observables import mean_cosine, order_parameter
from pushforward.studies.perspective._ensemble import PRECISE, PROBABILITY
from pushforward.studies.perspective.study import Parameters

N = 32  # tokens of figures 3 to 5
T1 = 30.0
SNAPSHOTS = (2.5, 18.0, 30.0)
PLATEAU_TIMES = (0.0, 5.0, 10.0, 20.0, 30.0)
FRONT_TIMES = np.linspace(0.0, 18.0, 73)
NOISY = 200
# name: (n, beta, the cosines between different vertices with their multiplicities)
SOLIDS: dict[str, tuple[int, float, dict[float, int]]] = {
    "tetrahedron": (4, 2.0, {-1 / 3: 3}),
    "octahedron": (6, 2.0, {0.0: 4, -1.0: 1}),
    "icosahedron": (12, 5.0, {5**-0.5: 5, -(5**-0.5): 5, -1.0: 1}),
}
SHOWN = {
    "phase-8": ("figure-3-phase-diagrams",),
    "plateaus-beta-4": ("figure-4-plateaus",),
    "layers-0.1": ("layers-run-slow", "layers_run_slow"),
    "icosahedron": ("codes",),
    "energy": ("energy", "monotone", "above_uniform"),
    "pre-norm": ("layer-norms",),
    "noise-1": ("noise_below",),
    "noise-4": ("noise_above",),
}


def experiments(p: Parameters) -> dict[str, pf.Experiment]:
    """One system of every ensemble, and the single runs."""
    return {
        **{f"phase-{d}": phase(p, d) for d in p.phase_dimensions},
        **{f"shares-{d}": shares(p, d) for d in (2, 8)},
        "front": front(p),
        "plateaus-beta-4": circle(p, 4.0),
        "plateaus-beta-9": circle(p, 9.0),
        **{name: repelled(p, name) for name in SOLIDS},
        "energy": climbing(p),
        "two-tokens": clock(),
        **{f"layers-{h}": clock(h) for h in (0.1, 0.05)},
        "pre-norm": pre_norm(),
        **{f"noise-{kappa:g}": noisy(p, kappa) for kappa in (1.0, 4.0)},
    }


def phase(p: Parameters, d: int) -> pf.Experiment:
    """Figure 3 in dimension d."""
    times = np.linspace(0.0, T1, p.phase_frames)
    return _uniform(p, d, T1, times, PROBABILITY)


def shares(p: Parameters, d: int) -> pf.Experiment:
    """The claims on figures 3 and 4."""
    return _uniform(p, d, T1, np.array(PLATEAU_TIMES), PROBABILITY)


def front(p: Parameters) -> pf.Experiment:
    """n = 32 tokens in dimension 1024, finely in time."""
    return _uniform(p, 1024, FRONT_TIMES[-1], FRONT_TIMES, PROBABILITY)


def circle(p: Parameters, beta: float) -> pf.Experiment:
    """Figure 4."""
    times = np.unique(np.concatenate([np.linspace(0, T1, 121), SNAPSHOTS]))
    return _uniform(p, 2, T1, times, PRECISE, beta)


def climbing(p: Parameters) -> pf.Experiment:
    """SA on S^2; along USA the clock is multiplied by e^{-beta}."""
    return _uniform(p, 3, 40.0, np.linspace(0.0, 40.0, 81), PRECISE)


def _uniform(p: Parameters, d: int, t1, times, solver, beta=4.0) -> pf.Experiment:
    start, field = pf.Uniform(N, d), pf.Attention(beta)
    return pf.Experiment(start, field, t1, save=times, solver=solver, seed=p.seed)


def repelled(p: Parameters, name: str) -> pf.Experiment:
    """V = -I. Only the limit matters: a fixed step will do."""
    n, beta, _ = SOLIDS[name]
    start, field, step = pf.Uniform(n, 3), (-1.0) * pf.Attention(beta), pf.Heun(0.2)
    return pf.Experiment(start, field, 400.0, save=2, solver=step, seed=p.seed)


def clock(h: float | None = None) -> pf.Experiment:
    """Two tokens at a right angle, beta = 6: exactly, or in layers of step h."""
    exact = float(theory.two_tokens.merging_time(6.0))
    return pf.Experiment(
        pf.Orthonormal(2, 2),
        pf.Attention(6.0),
        45.0,
        save=np.sort(np.append(np.linspace(0.0, 45.0, 181), exact)) if not h else 451,
        solver=pf.Layers(h) if h else PRECISE,
        observe={"cosine": mean_cosine},
    )


def pre_norm() -> pf.Experiment:
    """n = 16 orthonormal tokens, beta = 2, with Pre-LN."""
    times = np.concatenate([[0.0], np.geomspace(0.5, 1000.0, 40)])
    times[np.argmin(np.abs(times - 100.0))] = 100.0
    start, field = pf.Orthonormal(16, 16, "euclidean"), pf.PreNorm(pf.Attention(2.0))
    return pf.Experiment(start, field, 1000.0, save=times, solver=PRECISE)


def noisy(p: Parameters, kappa: float) -> pf.Experiment:
    """Noisy tokens on the circle, beta = 0."""
    return pf.Experiment(
        pf.Uniform(NOISY, 2),
        pf.UnnormalizedAttention(0.0),
        30.0,
        save=np.linspace(0.0, 30.0, 61),
        solver=pf.Heun(0.1),
        noise=pf.Brownian(np.sqrt(2 / kappa)),
        observe={"r": order_parameter},
        seed=p.seed,
    )
