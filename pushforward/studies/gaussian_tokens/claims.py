"""Every claim of the study."""

import functools

import numpy as np

import pushforward as pf
from pushforward.studies.gaussian_tokens import runs
from pushforward.studies.gaussian_tokens.study import (
    ASYMPTOTICS,
    Parameters,
    at_least,
    at_most,
    open_claim,
    paper,
    within,
)
from pushforward.theory import gaussian_tokens as theory

DERIVED = paper("derived here")


def moments(mu: pf.Particles) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of weighted tokens."""
    law = pf.Gaussian.from_particles(mu)
    return np.asarray(law.center), np.asarray(law.covariance)


@functools.cache
def finals() -> dict:
    """Ends of the runs that are fixed."""
    return {
        "line": runs.line(-1.0, 0.8).run().final,
        "plane": runs.plane().run().final,
        "rank one": runs.rank_one().run().final,
        "unnormalized": runs.line(-1.0, 0.8, pf.UnnormalizedAttention).run().final,
    }


def one_coordinate(p: Parameters):
    """s = s_0 / (1 - 2 va s_0 t): attention of the library on 30 nodes."""
    mean, covariance = moments(finals()["line"])
    claim = "d = 1, va = -1, s_0 = 0.8: variance of the tokens at t = 1"
    found = covariance[0, 0]
    return within(claim, paper("Gaussian case"), "theorem", found, 4 / 13, 1e-8)


def two_coordinates(p: Parameters):
    """dS/dt = V S A S + S A^T S V^T, dm/dt = V (I + S A) m."""
    mean, covariance = moments(finals()["plane"])
    law = theory.moments(1.0, runs.VALUES, runs.ATTENTION, runs.M_0, runs.S_0)
    gap = max(np.abs(mean - law.mean).max(), np.abs(covariance - law.covariance).max())
    claim = (
        "d = 2, general V and A, t = 1: 196 weighted tokens off the moment equations"
    )
    return at_most(claim, paper("Gaussian case"), "theorem", gap, 1e-8)


def gaussians_of_the_library(p: Parameters):
    """The third kind of measure: the same flow moves mean and covariance."""
    gaps = []
    for field in (runs.FIELD, runs.MASKED):
        mu = runs.gaussian(field).run().final
        law = theory.moments(1.0, runs.VALUES, runs.ATTENTION, runs.M_0, runs.S_0)
        gaps += [mu.center - law.mean, (mu.covariance - law.covariance).ravel()]
    claim = "N(m, S) under attention and under causal attention: off the equations"
    gap = np.abs(np.concatenate(gaps)).max()
    return at_most(claim, paper("Gaussian case"), "theorem", gap, 1e-9)


def gaussians_under_other_attentions(p: Parameters):
    """L2 and Sinkhorn attention act on Gaussians too, without blow-up."""
    laws = {
        "L2": theory.squared_distance_attention,
        "Sinkhorn": theory.sinkhorn_attention,
    }
    gap = max(
        abs(
            runs.gaussian_line(kind, v, 0.8).run().final.covariance.item()
            - law(1.0, v, 0.8)
        )
        for kind, law in laws.items()
        for v in (1.0, -1.0)
    )
    claim = "d = 1, V = 1 and -1, t = 1: variance of a Gaussian under L2 and Sinkhorn"
    return at_most(claim, paper("variants"), "theorem", gap, 1e-8)


def drawn_tokens(p: Parameters):
    """Independent tokens: off by the error of sampling."""
    _, covariance = moments(runs.drawn(p).run().final)
    law = theory.moments(1.0, runs.VALUES, runs.ATTENTION, runs.M_0, runs.S_0)
    gap = np.abs(covariance - law.covariance).max() / np.abs(law.covariance).max()
    claim = f"the same with {p.tokens} independent tokens: covariance, relative"
    bound = 5 / np.sqrt(p.tokens)
    return at_most(claim, paper("mean-field limit"), "theorem", gap, bound)


def rank_is_kept(p: Parameters):
    """S = Phi S_0 Phi^T."""
    values = np.linalg.eigvalsh(moments(finals()["rank one"])[1])
    claim = "a start of rank one: smaller over larger eigenvalue at t = 1"
    note = f"the larger is {values[1]:.3g}"
    return at_most(
        claim, paper("rank"), "theorem", abs(values[0] / values[1]), 1e-9, note
    )


def blow_up_time(p: Parameters):
    """V = I: 1 / lambda_max(S_0^{1/2} (A + A^T) S_0^{1/2})."""
    A = np.array([[0.3, 0.7], [-0.2, -0.5]])
    end = theory.blow_up(A, runs.S_0)
    law = theory.moments(0.999 * end, np.eye(2), A, runs.M_0, runs.S_0)
    largest = np.linalg.eigvalsh(law.covariance).max() * 0.001 * end
    just = np.linalg.eigvalsh(
        theory.moments(0.99 * end, np.eye(2), A, runs.M_0, runs.S_0).covariance
    ).max() * (0.01 * end)
    claim = "V = I: (T - t) lambda_max(S) at 0.999 T over that at 0.99 T, T = 2.50898"
    return within(claim, ASYMPTOTICS, "theorem", largest / just, 1.0, 0.02)


def limit_of_low_rank(p: Parameters):
    """A + A^T <= 0: the Schur complement on its kernel."""
    end = theory.covariance_by_identity(1e6, np.diag([-1.0, 0.0]), runs.S_0)
    claim = "V = I, A = diag(-1, 0): variance left on the kernel at t = 1e6"
    return within(claim, ASYMPTOTICS, "theorem", end[1, 1], 0.28, 1e-6)


def other_attentions(p: Parameters):
    """L2 and Sinkhorn attention grow like e^{2t} where softmax has blown up."""
    rates = [
        np.log(f(6.0, 1.0, 0.8) / f(5.0, 1.0, 0.8))
        for f in (theory.squared_distance_attention, theory.sinkhorn_attention)
    ]
    end = theory.blow_up([[1.0]], [[0.8]])
    far = max(rates, key=lambda rate: abs(rate - 2))
    claim = "V = I, s_0 = 0.8, t = 5 to 6: growth rate of the variance, farther one"
    note = f"softmax blows up at {end:g}"
    return within(claim, paper("variants"), "theorem", far, 2.0, 0.01, note)


def without_the_denominator(p: Parameters):
    """USA does not keep Gaussians: the fourth cumulant appears."""
    mu = finals()["unnormalized"]
    x, w = np.asarray(mu.points[:, 0]), np.asarray(mu.weights)
    x = x - w @ x
    excess = w @ x**4 / (w @ x**2) ** 2 - 3
    claim = "the same nodes under USA: excess kurtosis at t = 1, in absolute value"
    return at_least(claim, DERIVED, "experiment", abs(excess), 0.05, f"{excess:.3f}")


def reachability(p: Parameters):
    """Which Gaussians a Transformer can reach."""
    return open_claim(
        "every nondegenerate Gaussian is reached from every other",
        ASYMPTOTICS,
        "theorem",
        "the authors' constants were not available; control acts on tokens here",
    )


CLAIMS = (
    one_coordinate,
    two_coordinates,
    gaussians_of_the_library,
    gaussians_under_other_attentions,
    drawn_tokens,
    rank_is_kept,
    blow_up_time,
    limit_of_low_rank,
    other_attentions,
    without_the_denominator,
    reachability,
)
