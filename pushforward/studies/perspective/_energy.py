"""The interaction energy: who climbs it, how fast, and where it is smallest."""

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

import pushforward as pf
from pushforward import theory
from pushforward.studies import Claim
from pushforward.studies.perspective import runs
from pushforward.studies.perspective._ensemble import (
    attention,
    seen,
)
from pushforward.studies.perspective.study import Parameters, at_least, paper, within

BETA = 3.0  # of the identities
BETAS = (1.0, 4.0, 9.0, 16.0)  # of the flows


def _cloud(p: Parameters) -> pf.Particles:
    key = pf.key_for(p.seed, "energy identities")
    return pf.Particles.uniform(pf.Sphere(4), 20, key=key)


def _rate(mu: pf.Particles, v, energy: Callable) -> float:
    """The derivative of an energy when the points of mu move with velocity v."""
    return float(jax.jvp(lambda x: energy(mu.moved(x)), (mu.points,), (v,))[1])


def dissipation(p: Parameters) -> Claim:
    """SA: dE/dt = (1/n) sum_i Z_i |dx_i/dt|^2, Z_i the mean of e^{beta <x_i, x_j>}."""
    mu = _cloud(p)
    v = pf.Attention(BETA)(0.0, mu).v
    x = np.asarray(mu.points)
    Z = np.exp(BETA * x @ x.T).mean(axis=1)
    predicted = float(np.mean(Z * np.sum(np.asarray(v) ** 2, axis=1)))
    measured = _rate(mu, v, pf.InteractionEnergy(BETA).plain)
    claim, where = str(dissipation.__doc__), paper("gradient structure of SA")
    return within(claim, where, "identity", measured, predicted, 1e-10 * predicted)


def dissipation_unnormalized(p: Parameters) -> Claim:
    """USA: dE/dt = (1/n) sum_i |dx_i/dt|^2."""
    mu = _cloud(p)
    v = pf.UnnormalizedAttention(BETA)(0.0, mu).v
    predicted = float(np.mean(np.sum(np.asarray(v) ** 2, axis=1)))
    measured = _rate(mu, v, pf.InteractionEnergy(BETA).plain)
    claim, where = (
        str(dissipation_unnormalized.__doc__),
        paper("gradient structure of USA"),
    )
    return within(claim, where, "identity", measured, predicted, 1e-10 * predicted)


def gradient_flow(p: Parameters) -> Claim:
    """SA is gradient ascent of E in the metric that weights |v|^2 by Z."""
    mu = _cloud(p)
    E, metric = pf.InteractionEnergy(BETA), pf.SoftmaxWeighted(BETA)
    # E is 2 beta e^{-beta} times the energy of the paper, and so is Z without 2 beta.
    ascent = pf.GradientFlow(-E, metric)(0.0, mu).v / (2 * BETA)
    gap = float(jnp.max(jnp.abs(ascent - pf.Attention(BETA)(0.0, mu).v)))
    claim, where = str(gradient_flow.__doc__), paper("gradient structure of SA")
    return within(claim, where, "identity", gap, 0.0, 1e-12)


def gradient_flow_unnormalized(p: Parameters) -> Claim:
    """USA is Wasserstein gradient ascent of E."""
    mu = _cloud(p)
    ascent = pf.GradientFlow(-pf.InteractionEnergy(BETA))(0.0, mu).v
    ascent = ascent * np.exp(BETA) / (2 * BETA)
    gap = float(jnp.max(jnp.abs(ascent - pf.UnnormalizedAttention(BETA)(0.0, mu).v)))
    claim, where = (
        str(gradient_flow_unnormalized.__doc__),
        paper("gradient structure of USA"),
    )
    return within(claim, where, "identity", gap, 0.0, 1e-12)


def gradient_flow_indefinite(p: Parameters) -> Claim:
    """SA with V = Q^T K symmetric, even indefinite, dissipates sum_i Z_i |v_i|^2."""
    mu, beta = _cloud(p), 1.5
    G = jax.random.normal(pf.key_for(p.seed, "indefinite B"), (4, 4))
    B = (G + G.T) / 2

    def energy(mu: pf.Particles):
        x = mu.points
        return jnp.exp(beta * x @ B @ x.T).sum() / (2 * beta)

    v = pf.Attention(beta, Q=B, V=B)(0.0, mu).v
    x = np.asarray(mu.points)
    Z = np.exp(beta * x @ np.asarray(B) @ x.T).sum(axis=1)
    predicted = float(Z @ np.sum(np.asarray(v) ** 2, axis=1))
    values = ", ".join(f"{a:.2f}" for a in np.linalg.eigvalsh(np.asarray(B)))
    note = f"eigenvalues of V: {values}"
    claim, where = (
        str(gradient_flow_indefinite.__doc__),
        paper("gradient structure of SA"),
    )
    measured, tolerance = _rate(mu, v, energy), 1e-10 * predicted
    return within(claim, where, "identity", measured, predicted, tolerance, note)


def no_net_rotation(p: Parameters) -> Claim:
    """USA turns nothing: sum_i x_i wedge dx_i/dt = 0."""
    mu = _cloud(p)
    x, v = np.asarray(mu.points), np.asarray(pf.UnnormalizedAttention(BETA)(0.0, mu).v)
    moment = x.T @ v
    gap = float(np.abs(moment - moment.T).max())
    claim, where = str(no_net_rotation.__doc__), paper("gradient structure of USA")
    note = f"against {np.abs(moment).max():.3g} without the antisymmetric part"
    return within(claim, where, "identity", gap, 0.0, 1e-12, note)


@functools.lru_cache
def along_flow(p: Parameters) -> dict[str, np.ndarray]:
    """2 beta e^{-beta} E along SA, n = 32 tokens on S^2, four temperatures."""
    return _climbed(p, attention(BETAS))


@functools.lru_cache
def along_flow_unnormalized(p: Parameters) -> dict[str, np.ndarray]:
    """The same along USA, whose clock is multiplied by e^{-beta}."""
    return _climbed(p, [pf.UnnormalizedAttention(b, log_scale=-b) for b in BETAS])


def _climbed(p: Parameters, fields) -> dict[str, np.ndarray]:
    one = runs.climbing(p)
    x = seen([one.vary(field=field) for field in fields])
    cosines = x @ x.swapaxes(-2, -1)
    beta = np.array(BETAS)[:, None, None, None]
    energy = np.exp(beta * (cosines - 1)).mean(axis=(2, 3))
    return {"times": np.asarray(one.save), "betas": np.array(BETAS), "energy": energy}


def monotone(p: Parameters) -> Claim:
    """E increases along SA: smallest increment between saved times, beta = 1 to 16."""
    steps = np.diff(along_flow(p)["energy"], axis=1)
    claim, where = str(monotone.__doc__), paper("gradient structure of SA")
    note = "in the scale 2 beta e^{-beta} E of at most one; -1e-9 is the solver's share"
    return at_least(claim, where, "theorem", steps.min(), -1e-9, note)


def above_uniform(p: Parameters) -> Claim:
    """Prop 3.4: no measure met along SA has less energy than the uniform one."""
    run = along_flow(p)
    least = np.array([theory.uniform.scaled_energy(b, 3) for b in run["betas"]])
    ratio = float((run["energy"] / least[:, None]).min())
    claim, where = str(above_uniform.__doc__), paper("proposition 3.4")
    note = "smallest ratio to the energy of the uniform measure"
    return at_least(claim, where, "theorem", ratio, 1.0, note)


def _quadrature(degree: int) -> tuple[np.ndarray, np.ndarray]:
    """Points and weights on S^2 that integrate polynomials of this degree exactly."""
    z, w = np.polynomial.legendre.leggauss(degree // 2 + 1)
    phi = 2 * np.pi * np.arange(degree + 1) / (degree + 1)
    r = np.sqrt(1 - z**2)[:, None]
    x = np.stack([r * np.cos(phi), r * np.sin(phi), z[:, None] + 0 * phi], axis=-1)
    weights = np.repeat(w / w.sum() / len(phi), len(phi))
    return x.reshape(-1, 3), weights


def uniform_energy(p: Parameters) -> Claim:
    """The energy of the uniform measure on S^2 at beta = 4, by quadrature."""
    x, w = _quadrature(28)
    measured = float(pf.InteractionEnergy(4.0).plain(pf.Particles(pf.Sphere(3), x, w)))
    claim, where = str(uniform_energy.__doc__), paper("proposition 3.4")
    predicted = float(theory.uniform.energy(4.0, 3))
    return within(claim, where, "identity", measured, predicted, 1e-11)


def uniform_minimizes(p: Parameters) -> Claim:
    """Prop 3.4: tilting the uniform measure by a degree k <= 6 raises E."""
    beta, eps = 4.0, 0.1
    x, w = _quadrature(34)
    E = pf.InteractionEnergy(beta)
    base = float(E.plain(pf.Particles(pf.Sphere(3), x, w)))
    legendre = np.polynomial.legendre.legval
    rises, predicted = [], []
    for k, c in enumerate(theory.stability.funk_hecke(beta, 3, 6)[1:], start=1):
        tilt = 1 + eps * legendre(x[:, 2], np.eye(7)[k])
        mu = pf.Particles(pf.Sphere(3), x, w * tilt / (w @ tilt))
        rises.append((float(E.plain(mu)) - base) / eps**2)
        predicted.append(c / (2 * beta) / (2 * k + 1))  # |P_k|^2 averages to 1/(2k+1)
    k = int(np.argmin(rises))
    claim, where = str(uniform_minimizes.__doc__), paper("proposition 3.4")
    worst = np.max(np.abs(np.array(rises) / predicted - 1))
    note = f"smallest rise, at k = {k + 1}; largest relative error over k {worst:.2g}"
    numbers = rises[k], predicted[k], 1e-6 * predicted[k]
    return within(claim, where, "theorem", *numbers, note)


def sampling_bias(p: Parameters) -> Claim:
    """Mean energy of n = 16 uniform tokens on S^2, beta = 4: the finite-n bias."""
    draws = 10 * p.draws
    key = pf.key_for(p.seed, "sampling bias")

    @jax.jit
    def energy(key):
        mu = pf.Particles.uniform(pf.Sphere(3), 16, key=key)
        return pf.InteractionEnergy(4.0).plain(mu)

    energies = np.asarray(jax.vmap(energy)(jax.random.split(key, draws)))
    error = 4 * energies.std(ddof=1) / np.sqrt(draws)
    predicted = float(theory.uniform.sample_energy(4.0, 3, 16))
    uniform = float(theory.uniform.energy(4.0, 3))
    note = f"{draws} draws, four standard errors; the uniform measure has {uniform:.4f}"
    claim, where = str(sampling_bias.__doc__), paper("interaction energy")
    mean = energies.mean()
    return within(claim, where, "identity", mean, predicted, error, note)


CLAIMS = (
    dissipation_unnormalized,
    dissipation,
    gradient_flow_unnormalized,
    gradient_flow,
    gradient_flow_indefinite,
    no_net_rotation,
    monotone,
    above_uniform,
    uniform_energy,
    uniform_minimizes,
    sampling_bias,
)
