"""The life of clusters: from mergers and from frames."""

import dataclasses

import numpy as np
import pytest

from pushforward.errors import InputError
from pushforward.observables import cluster_life
from pushforward.observables._life import life_from_labels, life_from_merges

WEIGHTS = np.array([0.1, 0.2, 0.3, 0.4])


def family():
    """0 and 1 at log t = 1, then 2 and 3 into them at 5 together."""
    absorbed, into = np.array([1, 2, 3]), np.array([0, 0, 0])
    return life_from_merges(np.array([1.0, 5.0, 5.0]), absorbed, into, WEIGHTS, 9.0)


def test_births_masses_and_parents_from_mergers():
    life = family()
    assert life.events.tolist() == [1.0, 5.0]
    assert life.counts.tolist() == [4, 3, 1]
    pair, all_of_it = life.lives[4], life.lives[5]
    assert (pair.birth, pair.death, pair.parents) == (1.0, 5.0, (0, 1))
    assert pair.mass == pytest.approx(0.3)
    assert pair.log_lifetime == pytest.approx(np.log(np.exp(5) - np.exp(1)))
    assert all_of_it.mass == pytest.approx(1.0)
    assert set(all_of_it.parents) == {4, 2, 3}
    assert all_of_it.death == np.inf


def test_plateaus():
    short, middle, last = family().plateaus()
    assert (short.count, short.start, short.end) == (4, -np.inf, 1.0)
    assert (middle.count, middle.start, middle.end) == (3, 1.0, 5.0)
    assert middle.masses == pytest.approx((0.4, 0.3, 0.3))
    assert (last.count, last.end) == (1, 9.0)
    assert [p.count for p in family().plateaus(decades=1.74)] == [4]


def test_coincident_tokens_were_one_cluster_from_the_start():
    absorbed, into = np.array([1]), np.array([0])
    life = life_from_merges(np.array([-np.inf]), absorbed, into, WEIGHTS, 2.0)
    assert life.counts.tolist() == [3]
    assert sorted(c.mass for c in life.lives) == pytest.approx([0.3, 0.3, 0.4])


def test_frames_tell_the_same_story():
    labels = np.array([[0, 1, 2, 3], [0, 0, 1, 2], [0, 0, 1, 2], [0, 0, 0, 0]])
    weights = np.tile(WEIGHTS, (4, 1))
    life = life_from_labels(np.array([-np.inf, 1.0, 3.0, 5.0]), labels, weights)
    expected = family()
    assert life.counts.tolist() == expected.counts.tolist()
    for a, b in zip(life.lives, expected.lives, strict=True):
        assert dataclasses.replace(a, parents=(), mass=0) == dataclasses.replace(
            b, parents=(), mass=0
        )
        assert set(a.parents) == set(b.parents)
        assert a.mass == pytest.approx(b.mass)


def test_clusters_may_split():
    labels = np.array([[0, 0, 1], [0, 1, 2]])
    life = life_from_labels(np.array([-np.inf, 1.0]), labels, np.full((2, 3), 1 / 3))
    assert life.counts.tolist() == [2, 3]
    assert [c.parents for c in life.lives[2:]] == [(0,), (0,)]
    assert life.lives[1].death == np.inf  # the third token is what it was


class Run:
    merges = None


def test_radius_is_needed_without_merging():
    with pytest.raises(InputError, match="`radius` is needed for a flow without"):
        cluster_life(Run())
    Run.merges = object()
    with pytest.raises(InputError, match="`radius` must be left out"):
        cluster_life(Run(), 0.1)
    Run.merges = None
