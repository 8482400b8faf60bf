"""The explorer without a server: `python -m benchmarks.site FOLDER`.

FOLDER is what `pushforward site FOLDER` wrote. It is opened from the disk in headless
Chromium, which draws in software and has no network; whatever the page asks for beyond
the folder is counted. Every figure is one line of JSON.
"""

import argparse
import base64
import json
import os
import pathlib
import shutil
import time
from urllib.parse import unquote, urlparse

from benchmarks.web import FLAGS, WATCH, say

LIVE = {"n": 1024, "beta": 5.0, "seed": 7, "frames": 201}  # recorded nowhere
COMPLETE = "() => !!window.pushforward && pushforward.complete()"
PATIENCE = 120.0  # seconds for one run on a machine with other work


def outside(url: str, folder: pathlib.Path) -> bool:
    """Whether a request leaves the folder; data and blobs are the page's own."""
    parts = urlparse(url)
    if parts.scheme in ("data", "blob"):
        return False
    inside = pathlib.Path(unquote(parts.path)).is_relative_to(folder)
    return parts.scheme != "file" or not inside


class Opened:
    """The folder in a page, offline, with what it asks for and complains about."""

    def __init__(self, browser, folder: pathlib.Path, state: dict | None = None):
        self.context = browser.new_context(viewport={"width": 1280, "height": 800})
        self.context.set_offline(True)
        self.page = self.context.new_page()
        self.left: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda r: self._asked(r.url, folder))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.add_init_script(WATCH)
        text = json.dumps(state or {})
        link = base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
        address = (folder / "index.html").as_uri()
        self.page.goto(address + (f"#s={link}" if state else ""))

    def _asked(self, url: str, folder: pathlib.Path) -> None:
        if outside(url, folder):
            self.left.append(url)

    def until(self, what: str, argument=None) -> float:
        """Seconds until something is true of the page."""
        start = time.perf_counter()
        while not self.page.evaluate(what, argument):
            if time.perf_counter() - start > PATIENCE:
                raise TimeoutError(f"{what} of {argument}: {self.complaints}")
            self.page.wait_for_timeout(50)
        return time.perf_counter() - start


def presets(opened: Opened) -> list[str]:
    """Choose every preset and play it; those that did not move."""
    opened.until(COMPLETE)
    opened.until("() => document.querySelectorAll('#preset option').length > 10")
    names = opened.page.evaluate(
        "() => [...document.querySelectorAll('#preset option')].map(o => o.value)"
    )
    stuck, slowest = [], 0.0
    for name in filter(None, names):
        opened.page.select_option("#preset", name)
        try:
            chosen = "(id) => pushforward.state().preset === id"
            waited = opened.until(chosen, name) + opened.until(COMPLETE)
            opened.page.evaluate("() => pushforward.goto(0)")
            opened.page.click("#play")
            opened.until("() => pushforward.frame() > 0")
        except TimeoutError:
            stuck.append(name)
            continue
        slowest = max(slowest, waited)
    say("site: presets that play", len(names) - 1 - len(stuck), "presets")
    say("site: slowest preset, chosen to complete", slowest, "s")
    return stuck


def live(opened: Opened) -> None:
    """A run that was not recorded: frames computed and pictures drawn per second."""
    opened.until("() => !!window.pushforward && pushforward.frames() > 1")
    start, first = time.perf_counter(), opened.page.evaluate("pushforward.frames()")
    opened.page.evaluate(
        """() => {
          globalThis.turns = [];
          const turn = (now) => { turns.push(now); requestAnimationFrame(turn); };
          requestAnimationFrame(turn);
        }"""
    )
    opened.page.wait_for_timeout(3000)
    found = opened.page.evaluate(
        "() => ({turns, frames: pushforward.frames(), cost: pushforward.cost()})"
    )
    seconds = time.perf_counter() - start
    turns = found["turns"]
    say("site: n = 1024, frames computed", (found["frames"] - first) / seconds, "/s")
    drawn = 1000 * (len(turns) - 1) / (turns[-1] - turns[0])
    say("site: n = 1024, live, pictures", drawn, "fps")
    say("site: n = 1024, the page's own work per picture", found["cost"], "ms")
    opened.until(COMPLETE)
    whole = time.perf_counter() - start
    say("site: n = 1024, all 201 frames computed after", whole, "s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright

    path = os.environ.get("PUSHFORWARD_CHROMIUM") or shutil.which("chromium")
    if path is None:
        raise SystemExit("Chromium is missing: apt-get install chromium")
    with sync_playwright() as playwright:
        firsts = []
        for _ in range(options.rounds):  # a new browser each time
            browser = playwright.chromium.launch(
                executable_path=path, args=FLAGS.split()
            )
            opened = Opened(browser, options.folder)
            opened.until("() => !!seen.first")
            firsts.append(opened.page.evaluate("() => seen.first") / 1000)
            browser.close()
        say("site: first picture, median", sorted(firsts)[len(firsts) // 2], "s")
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS.split())
        live(Opened(browser, options.folder, LIVE))
        opened = Opened(browser, options.folder)
        stuck = presets(opened)
        say("site: requests that left the folder", len(opened.left), "requests")
        print(json.dumps({"stuck": stuck, "errors": opened.complaints[:5]}))
        browser.close()


if __name__ == "__main__":
    main()
