"""One browser for all tests of the page; what is missing is named with its remedy."""

import os
import pathlib

import page_hand
import pytest
import real_browser

ROOT = pathlib.Path(__file__).parents[3]


@pytest.fixture(scope="session")
def built():
    """The page as built; without it nothing here means anything."""
    folder = os.environ.get("PUSHFORWARD_STATIC")
    static = pathlib.Path(folder) if folder else ROOT / "pushforward/web/static"
    if not (static / "index.html").is_file():
        pytest.fail("The page is not built: cd web/page && npm ci && npm run build")
    return static


@pytest.fixture(scope="session")
def browser():
    """A real Chromium that draws in software."""
    api, path = real_browser.found()
    with api.sync_playwright() as playwright:
        flags = list(real_browser.FLAGS)
        made = playwright.chromium.launch(executable_path=path, args=flags)
        yield made
        made.close()


@pytest.fixture
def opened(browser, server, built):
    """Open the page with a state; at the end console, requests and errors are clean."""
    hands = []

    def go(state=None, wait=True, **context):
        hand = page_hand.Hand(browser, server, **context)
        hands.append(hand)
        return hand.open(state or {}, wait)

    yield go
    for hand in hands:
        hand.close()
    complaints = [line for hand in hands for line in hand.complaints]
    assert complaints == []
