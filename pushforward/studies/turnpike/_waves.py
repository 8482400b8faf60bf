"""Claims on the wave equation: with tracking, with less, and without."""

import numpy as np

from pushforward.control.classical.wave import (
    Gradient,
    NoTracking,
    Position,
    PositionAndVelocity,
    grid_frequencies,
    leapfrog_dirichlet,
    wave_hamiltonian,
    wave_null_control,
)
from pushforward.studies._claims import Claim
from pushforward.studies.turnpike.study import PAPER, Parameters, at_most, paper, within
from pushforward.theory import turnpike as theory

HEAT_AND_WAVE = paper("heat and wave equations")
UNTRACKED = paper("wave without tracking")


def wave_rates(p: Parameters) -> Claim:
    """Every mode of the controlled wave decays at its own rate."""
    n = 50
    spectrum = np.linalg.eigvals(wave_hamiltonian(n, Gradient(), omega=(0.0, 1.0)))
    found = np.sort(spectrum.real[spectrum.real > 0])
    exact = np.sort(np.repeat(theory.wave_rate(grid_frequencies(n)), 2))
    gap = np.max(np.abs(found - exact))
    return at_most("wave, largest error of a rate", HEAT_AND_WAVE, "theorem", gap, 1e-9)


def wave_cloud(p: Parameters) -> Claim:
    """With tracking of energy type the travelling modes sit at sqrt(|omega|)/2."""
    spectrum = np.linalg.eigvals(
        wave_hamiltonian(p.wave_nodes, PositionAndVelocity(), omega=p.wave_share)
    )
    low = np.abs(spectrum.imag) < 0.5 * np.max(np.abs(spectrum.imag))
    bulk = np.mean(np.abs(spectrum.real[low]))
    exact = theory.wave_cloud(p.wave_share[1] - p.wave_share[0])
    return within(
        "wave, bulk of the spectrum",
        HEAT_AND_WAVE,
        "theorem",
        bulk,
        exact,
        2e-3,
    )


def no_tracking(p: Parameters) -> Claim:
    """Without tracking the Hamiltonian spectrum lies on the imaginary axis."""
    spectrum = np.linalg.eigvals(wave_hamiltonian(p.wave_nodes, NoTracking()))
    return at_most(
        "no tracking: largest |Re|",
        PAPER,
        "identity",
        np.max(np.abs(spectrum.real)),
        2e-12,
    )


def weak_tracking(p: Parameters) -> Claim:
    """Tracking y in L2 only leaves no uniform gap for waves."""
    spectrum = np.linalg.eigvals(wave_hamiltonian(100, Position()))
    gap = np.min(np.abs(spectrum.real))
    return within("tracking y alone: min |Re|", PAPER, "experiment", gap, 0.0016, 5e-5)


def periodic_control(p: Parameters) -> Claim:
    """Without tracking the null control of a wave is periodic, no turnpike."""
    n, t1 = 100, 6
    times = np.arange(t1 * n + 1) / n
    y0 = np.sin(np.pi * np.linspace(0, 1, n + 1))
    before, now = leapfrog_dirichlet(y0, theory.wave_null_control(times, t1))
    left = max(np.max(np.abs(now)), n * np.max(np.abs(now - before)[1:-1]))
    return at_most(
        "null-controlled wave: what is left at T = 6",
        UNTRACKED,
        "theorem",
        left,
        2e-12,
    )


def grid_null_control(p: Parameters) -> Claim:
    """Discrete null controls converge at Courant number one."""
    cost = wave_null_control(100, 1.0, 5.0).cost
    bad = wave_null_control(100, 0.9, 5.0).cost
    return within(
        "null-control cost, 100 nodes",
        PAPER,
        "experiment",
        cost,
        1.0054,
        1e-3,
        f"at Courant number 0.9 the same costs {bad:.2g}",
    )
