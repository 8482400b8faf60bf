"""The Chromium of the tests; what is missing is named with its remedy."""

import os
import shutil

import pytest

FLAGS = (
    "--no-sandbox",
    "--headless",
    "--disable-background-networking",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
)


def found():
    """Playwright's interface and the path of Chromium, or a failure that says how."""
    try:
        from playwright import sync_api
    except ModuleNotFoundError:
        pytest.fail("Playwright is missing: pip install 'pushforward[dev]'")
    path = os.environ.get("PUSHFORWARD_CHROMIUM") or shutil.which("chromium")
    if path is None:
        pytest.fail("Chromium is missing: apt-get install chromium")
    return sync_api, path
