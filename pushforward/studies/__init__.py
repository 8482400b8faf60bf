"""One folder per paper: figures and claims.

A study is a package with `study.py` (a frozen dataclass `Parameters` whose defaults are
quick, with a class method `full()`, and `TITLE`, `PAPER`), `figures.py` (`FIGURES`:
name -> (compute, draw); `compute(parameters)` returns a dict of arrays, `draw(data)`
returns a matplotlib figure), `claims.py` (`CLAIMS`: a tuple of functions of the
parameters, each returning a `Claim`) and `README.md`. Optional: `FILMS` in
`figures.py`, name -> film(path, parameters), which writes one; `runs.py` with
`experiments(parameters)`, the runs behind figures and claims by name, `SHOWN`: name of
an experiment -> its figures, and functions of its claims, and `states(parameters)`, a
tuple of `Preset`s, which the explorer offers by name with the paper as reference.
`_runner.py` finds and runs them. A study without flows says why in `NO_RUNS` of its
`study.py`, where its `states` are, too.
"""

from pushforward.studies._claims import Claim as Claim
from pushforward.studies._claims import at_least as at_least
from pushforward.studies._claims import at_most as at_most
from pushforward.studies._claims import decide as decide
from pushforward.studies._claims import open_claim as open_claim
from pushforward.studies._claims import place as place
from pushforward.studies._claims import rate as rate
from pushforward.studies._claims import refuted as refuted
from pushforward.studies._claims import slack as slack
from pushforward.studies._claims import statements as statements
from pushforward.studies._claims import within as within
from pushforward.studies._runner import AbstractParameters as AbstractParameters
from pushforward.studies._runner import Preset as Preset
from pushforward.studies._runner import all_presets as all_presets
from pushforward.studies._runner import draw as draw
from pushforward.studies._runner import experiment_of as experiment_of
from pushforward.studies._runner import experiments as experiments
from pushforward.studies._runner import films as films
from pushforward.studies._runner import names as names
from pushforward.studies._runner import parameters as parameters
from pushforward.studies._runner import part as part
from pushforward.studies._runner import presets as presets
from pushforward.studies._runner import shown as shown
from pushforward.studies._runner import verify as verify
