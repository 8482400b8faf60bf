"""The only folder that draws: pictures and films of measures and what they do.

Open `style.py` first: how every figure looks. `runs` has pictures of tokens; the other
files each draw one subject, from `control.py` to `probing.py`; `_saving.py` writes.
"""

import importlib
from typing import TYPE_CHECKING, Any

from pushforward.plot._saving import film as film
from pushforward.plot._saving import save as save
from pushforward.plot.runs._colors import ByCluster as ByCluster
from pushforward.plot.runs._colors import ByStart as ByStart
from pushforward.plot.runs._colors import wheel as wheel
from pushforward.plot.runs._globe import Camera as Camera
from pushforward.plot.runs._movie import movie as movie
from pushforward.plot.runs._pairs import attention_matrix as attention_matrix
from pushforward.plot.runs._pairs import cosine_histograms as cosine_histograms
from pushforward.plot.runs._phase import phase_diagram as phase_diagram
from pushforward.plot.runs._principal import projection as projection
from pushforward.plot.runs._rainbow import rainbow as rainbow
from pushforward.plot.runs._rainbow import series as series
from pushforward.plot.runs._sphere import circle as circle
from pushforward.plot.runs._sphere import frames as frames
from pushforward.plot.runs._sphere import sphere as sphere
from pushforward.plot.runs._summary import summary as summary

if TYPE_CHECKING:
    from pushforward.plot import probing as probing


def __getattr__(name: str) -> Any:
    """Pictures of trained models come when asked for, with all of `probe`."""
    if name != "probing":
        raise AttributeError(f"module 'pushforward.plot' has no attribute {name!r}")
    return importlib.import_module("pushforward.plot.probing")
