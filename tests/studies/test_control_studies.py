"""Studies of optimal control: quick claims, and the picture of the square."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from pushforward import studies
from pushforward.errors import InputError
from pushforward.plot.control import square_snapshots
from pushforward.studies.sparsity import claims as sparsity
from pushforward.studies.sparsity.study import Parameters as SparsityParameters
from pushforward.studies.turnpike import claims as turnpike
from pushforward.studies.turnpike import figures
from pushforward.studies.turnpike.study import Parameters as TurnpikeParameters


@pytest.mark.parametrize("claim", turnpike.CLAIMS, ids=lambda c: c.__name__)
def test_turnpike_claims_hold(claim):
    found = claim(TurnpikeParameters.quick())
    assert found.holds, found


@pytest.mark.parametrize(
    "claim", (sparsity.plain_distance, sparsity.logistic, sparsity.proximal_map)
)
def test_sparsity_claims_hold(claim):
    found = claim(SparsityParameters.quick())
    assert found.holds, found


@pytest.mark.slow
@pytest.mark.parametrize("name", ("sparsity", "large_time"))
def test_all_claims_hold(name):
    for claim, _ in studies.verify(name):
        assert claim.holds, claim


def test_the_square_settles_and_is_drawn():
    pytest.importorskip("skfem")
    data = figures.compute_square(TurnpikeParameters.quick())
    start, _, middle, _ = data["states"]
    assert start.max() <= 0.1
    assert middle.max() > 1  # the target is one, the right half is not controlled
    assert min(distance.min() for _, distance in data["runs"]) < 1e-4
    drawn = figures.draw_square(data)
    assert isinstance(drawn, Figure)
    # the maps show x to the right: heat is on the left, where the control acts
    image = np.asarray(drawn.axes[2].images[0].get_array())
    half = image.shape[1] // 2
    assert image[:, :half].sum() > 1.5 * image[:, -half:].sum()


def test_snapshots_want_one_row_per_title():
    with pytest.raises(InputError, match=r"`states` must be \(2, 4\)"):
        square_snapshots(np.zeros((4, 2)), np.zeros((3, 4)), ["a", "b"])
