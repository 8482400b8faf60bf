"""The mean-field density that starts where the tokens of a state do."""

from typing import Any

import numpy as np

import pushforward as pf
from pushforward.errors import InputError
from pushforward.experiments import GIVEN
from pushforward.web._experiment import experiment_of
from pushforward.web._state import State

DENSITY = "density"  # what a page asks for
SPREAD = {2: (48, 0.12), 3: (16, 0.3)}  # d: modes, and how wide each token is spread


def mean_field(state: State) -> pf.Experiment:
    """The run of a state with each token spread a little: a density, for infinite n.

    Fields that have no rule on a density say so when it is run.
    """
    if state.d not in SPREAD or state.model in ("recorded", "rescaled", GIVEN):
        raise InputError("`measure` is a density on the circle and on S^2 only.")
    if state.init == "file":
        raise InputError("`measure` is a density of tokens that are drawn, not given.")
    experiment = experiment_of(state)
    modes, width = SPREAD[state.d]
    rho = pf.Density.from_particles(experiment.measure, modes, bandwidth=width)
    start = pf.GivenDensity(rho.basis, np.round(np.asarray(rho.coefficients), 9))
    given: dict[str, Any] = {
        "solver": None,
        "merge": None,
        "dtype": "float64",
        "observe": {},
    }
    return experiment.vary(start=start, **given)
