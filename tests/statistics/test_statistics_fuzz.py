"""Any small input gives a finite answer or one of our errors, never a warning."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from pushforward.errors import InputError, NumericalError
from pushforward.statistics import (
    GromovWasserstein,
    QuasiLikelihood,
    align_covariances,
    cca,
    cka,
    gulp,
    match,
    procrustes,
)
from pushforward.statistics.tables.tables import FeatureTable

ANY = st.floats(allow_nan=True, allow_infinity=True, width=64)
TAME = st.one_of(st.floats(-1e3, 1e3), st.sampled_from([0.0, 1.0, 1e200, 1e-200]))
SHAPES = array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5)
FEW = settings(max_examples=150, deadline=None, derandomize=True)


@FEW
@given(arrays(float, SHAPES, elements=ANY), arrays(float, SHAPES, elements=ANY), ANY)
def test_comparisons_of_anything(A, B, lam):
    for compare in (lambda: gulp(A, B, lam).distance, lambda: procrustes(A, B)):
        try:
            assert np.all(np.isfinite(compare()))
        except InputError:
            pass


@FEW
@given(
    arrays(float, st.tuples(st.just(6), st.integers(1, 8)), elements=TAME),
    arrays(float, st.tuples(st.just(6), st.integers(1, 8)), elements=TAME),
)
def test_comparisons_of_matrices_are_bounded(A, B):
    try:
        squared = gulp(A, B, [0.0, 1e-8, 1.0]).squared
    except InputError:
        return
    assert np.all(squared >= -1e-6) and np.all(squared <= 2 * 6 + 1e-6)
    assert 0.0 <= procrustes(A, B) <= 2.0 + 1e-9
    rho = cca(A, B).correlations
    assert np.all((rho >= 0) & (rho <= 1))
    try:
        assert -1e-9 <= cka(A, B).value <= 1 + 1e-9
    except InputError:
        pass


@FEW
@given(arrays(float, (4, 4), elements=ANY), arrays(float, (4, 4), elements=TAME))
def test_alignment_of_anything_is_a_permutation(A, B):
    with np.errstate(all="ignore"):  # these sums overflow, not ours
        lefts = (A, A + A.T, B @ B.T)
    for left in lefts:
        right = np.where(np.isfinite(left), left, 0.0)[::-1, ::-1]
        for objective in (GromovWasserstein(), QuasiLikelihood(ridge=0.1)):
            try:
                found = align_covariances(left, right, objective=objective)
            except InputError:
                continue
            assert sorted(found.labels) == [0, 1, 2, 3] and np.isfinite(found.value)


@settings(FEW, max_examples=40)
@given(
    arrays(float, 5, elements=st.floats(100, 100.05)),
    arrays(float, 5, elements=st.sampled_from([0.0, 1.0, 1.0000001, 2.0, 9.0])),
    arrays(float, (4, 5), elements=TAME),
    arrays(float, (3, 5), elements=TAME),
)
def test_matching_of_degenerate_tables_is_one_to_one(mz, rt, left, right):
    ids = tuple("abcde")
    try:
        A = FeatureTable(ids, mz, rt, left, "A")
        B = FeatureTable(ids, mz[::-1].copy(), rt, right, "B")
        found = match(A, B)
    except (InputError, NumericalError):
        return
    assert np.all(np.isfinite(found.coupling)) and np.all(np.isfinite(found.score))
    for side in (0, 1):
        assert len(set(found.matches[:, side])) == len(found.matches)
