"""Where the built page lies."""

import os
import pathlib


def static_folder() -> pathlib.Path:
    """The folder in the package; PUSHFORWARD_STATIC names another, for developers."""
    given = os.environ.get("PUSHFORWARD_STATIC")
    return pathlib.Path(given) if given else pathlib.Path(__file__).parent / "static"
