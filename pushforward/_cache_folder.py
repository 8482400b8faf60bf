"""Where what can be made or fetched again is kept."""

import os
import pathlib


def cache_folder() -> pathlib.Path:
    """PUSHFORWARD_CACHE, or XDG_CACHE_HOME/pushforward, or ~/.cache/pushforward."""
    own = os.environ.get("PUSHFORWARD_CACHE")
    if own:
        return pathlib.Path(own)
    home = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(home) / "pushforward"
