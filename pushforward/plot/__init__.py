"""The only folder that draws: pictures and films of measures and what they do."""

import importlib
from typing import TYPE_CHECKING, Any

from pushforward.plot._attention_map import attention_matrix as attention_matrix
from pushforward.plot._colors import ByCluster as ByCluster
from pushforward.plot._colors import ByStart as ByStart
from pushforward.plot._colors import wheel as wheel
from pushforward.plot._cosines import cosine_histograms as cosine_histograms
from pushforward.plot._film import film as film
from pushforward.plot._globe import Camera as Camera
from pushforward.plot._movie import movie as movie
from pushforward.plot._phase import phase_diagram as phase_diagram
from pushforward.plot._principal import projection as projection
from pushforward.plot._rainbow import rainbow as rainbow
from pushforward.plot._rainbow import series as series
from pushforward.plot._ring import circle as circle
from pushforward.plot._saving import save as save
from pushforward.plot._sphere import frames as frames
from pushforward.plot._sphere import sphere as sphere
from pushforward.plot._summary import summary as summary

if TYPE_CHECKING:
    from pushforward.plot import probing as probing


def __getattr__(name: str) -> Any:
    """Pictures of trained models come when asked for, with all of `probe`."""
    if name != "probing":
        raise AttributeError(f"module 'pushforward.plot' has no attribute {name!r}")
    return importlib.import_module("pushforward.plot.probing")
