"""One folder per paper: figures and claims.

A study is a package with `study.py` (a frozen dataclass `Parameters` with the class
methods `quick()` and `full()`, and `TITLE`, `PAPER`), `figures.py` (`FIGURES`: name ->
(compute, draw); `compute(parameters)` returns a dict of arrays, `draw(data)` returns a
matplotlib figure), `claims.py` (`CLAIMS`: a tuple of functions of the parameters, each
returning a `Claim`) and `README.md`. Optional: `presets.py` with `states(parameters)`,
a tuple of `Preset`s; the explorer offers them by name, with the paper as reference.
"""

from pushforward.studies._claims import Claim as Claim
from pushforward.studies._claims import at_least as at_least
from pushforward.studies._claims import at_most as at_most
from pushforward.studies._claims import open_claim as open_claim
from pushforward.studies._claims import within as within
from pushforward.studies._presets import Preset as Preset
from pushforward.studies._presets import all_presets as all_presets
from pushforward.studies._presets import presets as presets
from pushforward.studies._runner import draw as draw
from pushforward.studies._runner import names as names
from pushforward.studies._runner import parameters as parameters
from pushforward.studies._runner import verify as verify
