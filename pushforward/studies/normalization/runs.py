"""The runs behind figures and claims, as experiments."""

import numpy as np

import pushforward as pf
from pushforward.studies import Preset, shown
from pushforward.studies.normalization.study import BETA, N, Parameters

ATTENTION = pf.Attention(BETA)
# scheme of the theory -> (field, whether tokens stay on the sphere)
FIELDS = {
    "post": (ATTENTION, True),
    "pre": (pf.PreNorm(ATTENTION), False),
    "mix": (pf.MixNorm(ATTENTION, 2.0), False),
    "peri": (pf.PeriNorm(ATTENTION), False),
    "unit": (pf.UnitNorm(ATTENTION), True),
    "depth scaled": (pf.DepthScaledNorm(ATTENTION), False),
    "depth": (pf.DepthNorm(ATTENTION), True),
}
SHOWN = {
    "pre": ("gap", "fields_follow_the_laws"),
    "sine-pre": ("tokens_in_general",),
    "fast-ngpt": ("end_of_ngpt_as_printed", "end_of_ngpt"),
}


def experiments(p: Parameters) -> dict[str, pf.Experiment]:
    """Orthogonal tokens under each scheme, and tokens without symmetry."""
    named = {name.replace(" ", "-"): orthogonal(name, p.end) for name in FIELDS}
    sines = {f"sine-{name.replace(' ', '-')}": sine(name) for name in FIELDS}
    return named | sines | {"fast-ngpt": fast_ngpt()}


def orthogonal(scheme: str, end: float) -> pf.Experiment:
    """16 orthogonal unit tokens, beta = 2."""
    field, round_ = FIELDS[scheme]
    start = pf.Orthonormal(N, N, "sphere" if round_ else "euclidean")
    save = pf.LogTimes(0.1, 25)
    return pf.Experiment(start, field, end, save=save, solver=pf.Adaptive(1e-8))


def fast_ngpt() -> pf.Experiment:
    """16 orthogonal unit tokens under nGPT with alpha = 2, to one cluster."""
    start, field = pf.Orthonormal(N, N), pf.UnitNorm(ATTENTION, 2.0)
    return pf.Experiment(start, field, 8.0, save=161, solver=pf.Adaptive(1e-11, 1e-12))


def sine(scheme: str) -> pf.Experiment:
    """8 tokens in R^3 with rows of sin(1 + 3i + 7k + ik), normalized; beta = 4."""
    i, k = np.arange(8)[:, None], np.arange(3)
    x = np.sin(1 + 3 * i + 7 * k + i * k)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    field, round_ = FIELDS[scheme]
    start = pf.Given(pf.Sphere(3) if round_ else pf.Euclidean(3), x)
    solver = pf.Adaptive(1e-11, 1e-12)
    made = pf.Experiment(start, field, 5.0, save=[1.0, 5.0], solver=solver)
    return made.vary(**{_beta_name(scheme): 4.0})


def _beta_name(scheme: str) -> str:
    return "field.beta" if scheme == "post" else "field.field.beta"


TOKENS, SHOWN_BETA = 24, 1.0
WORDS = {
    "pre": (
        "Pre-LN: tokens leave the sphere",
        "Lengths grow to 36 at t = 40, and long vectors turn slowly: 1 - the mean "
        "cosine of directions is 0.012 then. Post-LN is below 0.00001 at t = 10.",
    ),
    "peri": (
        "Peri-LN: every token grows at unit speed",
        "The output of each layer is normalized as well: lengths are nearly 1 + t, and "
        "directions gather no faster than under Pre-LN in the end.",
    ),
    "mix": (
        "Mix-LN: Post-LN first, Pre-LN from t = 2",
        "Tokens stay on the sphere until t = 2, and leave it from then on.",
    ),
}


def in_the_explorer() -> dict[str, pf.Experiment]:
    """Spread unit vectors of R^3 under each scheme whose radius moves."""
    x = np.random.default_rng(0).normal(size=(TOKENS, 3))
    x = np.round(x / np.linalg.norm(x, axis=1, keepdims=True), 4)
    attention, start = pf.Attention(SHOWN_BETA), pf.Given(pf.Euclidean(3), x)
    fields = {
        "pre": pf.PreNorm(attention),
        "peri": pf.PeriNorm(attention),
        "mix": pf.MixNorm(attention, 2.0),
    }
    return {name: pf.Experiment(start, f, 40.0, save=161) for name, f in fields.items()}


def states(p: Parameters) -> tuple[Preset, ...]:
    """One preset per scheme."""
    runs = in_the_explorer()
    return tuple(
        Preset(name, title, claim, shown(runs[name], color="start"))
        for name, (title, claim) in WORDS.items()
    )
