"""Phase diagrams: one statistic over a grid of parameters, computed once and kept.

Open `_sweep.py` first; `_cells.py` keeps what is done, `_engine.py` does the rest.
"""

from pushforward.sweeps._design import Design as Design
from pushforward.sweeps._picture import picture as picture
from pushforward.sweeps._result import SweepResult as SweepResult
from pushforward.sweeps._sweep import cost as cost
from pushforward.sweeps._sweep import sweep as sweep
