"""Attention at zero temperature: cells of the vertices, and Frank-Wolfe layers."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

import pushforward as pf
from pushforward import theory
from pushforward.studies import Claim
from pushforward.studies.clusters._systems import TIGHT, Path, followed
from pushforward.studies.clusters.study import (
    Parameters,
    at_most,
    frank_wolfe,
    paper,
    within,
)

ANGLES = 2 * np.pi * np.arange(5) / 5
PENTAGON = np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)
IDENTITY = np.eye(3)
HARD = pf.HardRelaxation(IDENTITY, IDENTITY, IDENTITY)
BETAS = (50.0, 200.0, 800.0)
STEP = 0.1
TIMES = np.linspace(0.0, 4.0, 21)


def same(x):
    """The activation of a linear perceptron."""
    return x


@functools.lru_cache
def start(p: Parameters) -> np.ndarray:
    """The vertices of a pentagon, then tokens uniform in the disk inside it."""
    key = pf.key_for(p.seed, "hardmax")
    radius, angle = np.asarray(jax.random.uniform(key, (2, p.tokens - 5)))
    polar = 0.8 * np.sqrt(radius) * np.exp(2j * np.pi * angle)
    return np.vstack([PENTAGON, np.stack([polar.real, polar.imag], axis=1)])


@functools.lru_cache
def relaxed(p: Parameters) -> Path:
    """Hardmax tokens to t = 4."""
    return followed(HARD, start(p), TIMES, solver=TIGHT)


def closed_form(p: Parameters) -> Claim:
    """Hardmax: z(t) = e^-t z(0) + (1 - e^-t) v, v the vertex of the cell of z(0)."""
    run = relaxed(p)
    exact = theory.polytope.hardmax_tokens(4.0, start(p))
    error = np.abs(run.end - exact).max()
    note = f"a pentagon with {p.tokens - 5} tokens inside, t = 4"
    claim, where = str(closed_form.__doc__), frank_wolfe("cells")
    return at_most(claim, where, "theorem", error, 1e-7, note)


def cells_kept(p: Parameters) -> Claim:
    """Hardmax: every token stays in the cell of its vertex."""
    run = relaxed(p)
    cells = [theory.polytope.hardmax_cells(z, PENTAGON) for z in run.points]
    share = np.mean(np.array(cells) == cells[0])
    note = f"share of {p.tokens} tokens at {len(run.times)} times"
    claim, where = str(cells_kept.__doc__), frank_wolfe("cells")
    return within(claim, where, "theorem", share, 1, 0, note)


def voronoi(p: Parameters) -> Claim:
    """Cells of vertices at one level of <B v, v> are Voronoi cells of the B-norm."""
    A = np.array([[1.0, 0.5], [0.0, 0.8]])
    key = pf.key_for(p.seed, "voronoi")
    x = np.asarray(jax.random.normal(key, (2000, 2)))
    vertices = PENTAGON @ np.linalg.inv(A).T  # |A v| = 1
    cells = theory.polytope.hardmax_cells(x, vertices, A.T @ A)
    near = np.linalg.norm((x[:, None] - vertices) @ A.T, axis=-1).argmin(axis=1)
    claim, where = str(voronoi.__doc__), frank_wolfe("cells")
    note = "share of 2000 points whose nearest vertex is that of the cell"
    return within(claim, where, "identity", np.mean(cells == near), 1, 0, note)


@functools.lru_cache
def softmax_errors() -> np.ndarray:
    """Distance of softmax tokens at t = 1 from the hardmax ones, per beta."""
    turned = ANGLES + 0.5  # away from the bisectors, where two vertices tie
    inside = 0.5 * np.stack([np.cos(turned), np.sin(turned)], axis=1)
    z = np.vstack([PENTAGON, inside])
    exact = theory.polytope.hardmax_tokens(1.0, z)
    stay = pf.Perceptron(-jnp.eye(3), jnp.eye(3), None, same)
    fields = (pf.Attention(beta, *[IDENTITY] * 3) + stay for beta in BETAS)
    ends = (followed(f, z, (0.0, 1.0), solver=TIGHT).end for f in fields)
    return np.array([np.abs(end - exact).max() for end in ends])


def softmax_limit(p: Parameters) -> Claim:
    """Softmax tends to hardmax: dz = sum_j P_ij (z_j - z_i) dt at beta = 800."""
    errors = softmax_errors()
    note = "distance at t = 1 to the closed form, five vertices and five tokens inside"
    claim, where = str(softmax_limit.__doc__), paper("section 3, proof")
    return at_most(claim, where, "theorem", errors[-1], 1e-6, note)


def softmax_order(p: Parameters) -> Claim:
    """The distance from softmax to hardmax falls as beta grows (50, 200, 800)."""
    errors = softmax_errors()
    ratio = (errors[1:] / errors[:-1]).max()
    note = "largest ratio of errors; they are " + ", ".join(f"{e:.1e}" for e in errors)
    claim, where = str(softmax_order.__doc__), paper("section 3, proof")
    return at_most(claim, where, "theorem", ratio, 0.1, note)


def layers(p: Parameters) -> Claim:
    """Frank-Wolfe layers x + gamma (v - x): the gap to v shrinks by 1 - gamma each."""
    run = followed(HARD, start(p), (0.0, 2.0), solver=pf.Layers(STEP))
    follow = PENTAGON[theory.polytope.hardmax_cells(start(p), PENTAGON)]
    exact = follow + (1 - STEP) ** 20 * (start(p) - follow)
    error = np.abs(run.end - exact).max()
    note = f"20 layers, gamma = {STEP:g}"
    claim, where = str(layers.__doc__), frank_wolfe("update")
    return at_most(claim, where, "identity", error, 1e-12, note)


def repulsive(p: Parameters) -> Claim:
    """Q^T K = -I: hardmax layers contract all tokens to one cluster."""
    field = pf.HardRelaxation(-IDENTITY, IDENTITY, IDENTITY)
    run = followed(field, start(p), (0.0, 1.0, 2.0, 4.0), solver=pf.Layers(0.01))
    size = np.linalg.norm(run.points, axis=-1).max(axis=1)
    note = "largest |x| over times 0, 1, 2, 4: " + ", ".join(f"{s:.4f}" for s in size)
    claim, where = str(repulsive.__doc__), frank_wolfe("B negative")
    return at_most(claim, where, "theorem", size[-1] / size[0], 0.05, note)


CLAIMS = (
    closed_form,
    cells_kept,
    voronoi,
    softmax_limit,
    softmax_order,
    layers,
    repulsive,
)
