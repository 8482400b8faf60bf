"""How the explorer holds up: `python -m benchmarks.web`.

A server in a process of its own, pages as plain sockets in this one. A page that
plays at a rate draws a frame, waits, and acknowledges; the figure is the frames per
second of the slowest page. Then the real page in headless Chromium, which draws in
software: from the start of the navigation to the first pixels on the canvas, read
back by the page itself, and frames per second while it plays. Every figure is one line
of JSON.
"""

import argparse
import asyncio
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from websockets.asyncio.client import connect

STATE = {"n": 64, "frames": 201}
LARGE = {"n": 4096, "t1": 2.0, "frames": 101}
FLAGS = (
    "--no-sandbox --headless --disable-background-networking "
    "--use-angle=swiftshader --enable-unsafe-swiftshader"
)
# Notes when the stage says that it has drawn, and how many of its pixels are not empty.
# It runs before the browser shows the frame: WebGL's buffer still holds the picture.
WATCH = """
const seen = globalThis.seen = {};
new MutationObserver(() => {
  const stage = document.querySelector("#stage");
  if (!stage) return;
  if (stage.dataset.drawn && !seen.webgl) seen.webgl = performance.now();
  if (!stage.dataset.ready || seen.first) return;
  const copy = document.createElement("canvas");
  copy.width = copy.height = 64;
  const paper = copy.getContext("2d");
  for (const canvas of stage.querySelectorAll(".pf-canvas, .pf-sketch")) {
    paper.drawImage(canvas, 0, 0, 64, 64);
  }
  const pixels = paper.getImageData(0, 0, 64, 64).data;
  let filled = 0;
  for (let i = 3; i < pixels.length; i += 4) filled += pixels[i] > 0;
  if (filled > 100) seen.first = performance.now();
}).observe(document, {subtree: true, childList: true, attributes: true});
"""
TURNS = """() => {
  globalThis.turns = [];
  const turn = (now) => { turns.push(now); requestAnimationFrame(turn); };
  requestAnimationFrame(turn);
  document.querySelector("#play").click();
}"""


class Served:
    """A server and the cookie of its owner."""

    def __init__(self, root: str):
        start = "from pushforward.cli import main; main()"
        words = [sys.executable, "-c", start, "explore", "--json", "--no-browser"]
        self.process = subprocess.Popen(
            [*words, "--port", "0"],
            stdout=subprocess.PIPE,
            env={**os.environ, "XDG_CACHE_HOME": root},
            text=True,
        )
        assert self.process.stdout is not None
        self.address = json.loads(self.process.stdout.readline())["address"]
        self.origin = self.address.split("/?")[0]

        class Stay(urllib.request.HTTPRedirectHandler):
            def redirect_request(self, *arguments):
                return None

        opener = urllib.request.build_opener(Stay)
        for _ in range(200):
            try:
                opener.open(self.address)
            except urllib.error.HTTPError as answer:
                self.cookie = answer.headers["set-cookie"].split(";")[0]
                break
            except OSError:
                time.sleep(0.1)

    def warm(self) -> bool:
        """Whether the usual shapes are compiled."""
        ask = urllib.request.Request(
            f"{self.origin}/api/about", headers={"Cookie": self.cookie}
        )
        with urllib.request.urlopen(ask) as answer:
            return json.load(answer)["warm"]

    def socket(self):
        return connect(
            self.origin.replace("http", "ws") + "/api/socket",
            origin=self.origin,
            additional_headers={"Cookie": self.cookie},
            max_size=None,
            proxy=None,
        )


async def page(served: Served, state: dict, rate: float) -> dict:
    """One page that plays at `rate` frames per second, or as fast as it can."""
    async with served.socket() as socket:
        start = time.perf_counter()
        await socket.send(json.dumps({"type": "run", "id": 1, "state": state}))
        first, frames, size = None, 0, 0
        while True:
            message = await socket.recv()
            if isinstance(message, str):
                if json.loads(message)["type"] in ("done", "error"):
                    break
                continue
            if first is None:
                first = time.perf_counter()
            frames, size = frames + 1, size + len(message)
            if frames % 4 == 0:
                ack = {"type": "ack", "id": 1, "frame": frames - 1}
                await socket.send(json.dumps(ack))
            if rate:
                late = first + frames / rate - time.perf_counter()
                await asyncio.sleep(max(late, 0.0))
        assert first is not None
        seconds = max(time.perf_counter() - first, 1e-9)
        return {"first": first - start, "fps": frames / seconds, "bytes": size}


async def pages(served: Served, count: int, rate: float, state: dict) -> float:
    """Frames per second of the slowest of many pages."""
    found = await asyncio.gather(*(page(served, state, rate) for _ in range(count)))
    return min(one["fps"] for one in found)


async def stalled(served: Served, count: int) -> list:
    """Pages that ask and never read."""
    made = []
    for _ in range(count):
        socket = await served.socket().__aenter__()
        await socket.send(json.dumps({"type": "run", "id": 1, "state": STATE}))
        socket.transport.pause_reading()
        made.append(socket)
    return made


def say(what: str, value: float, unit: str) -> None:
    """One figure."""
    line = {"what": what, "value": round(value, 3), "unit": unit}
    print(json.dumps(line), flush=True)


async def measure(served: Served, rounds: int) -> None:
    """The server alone."""
    start = time.perf_counter()
    while not served.warm():
        await asyncio.sleep(0.2)
    say("warm after", time.perf_counter() - start, "s")
    first = await page(served, STATE, 0.0)
    say("first frame of the default run, warm", first["first"], "s")
    firsts = [
        (await page(served, {**STATE, "beta": 2.0 + k}, 0.0)) for k in range(rounds)
    ]
    median = sorted(one["first"] for one in firsts)[rounds // 2]
    say("first frame of a new run, warm, median", median, "s")
    again = await page(served, STATE, 0.0)
    say("first frame of a known run", again["first"], "s")
    for count, rate in ((16, 30.0), (64, 10.0), (16, 0.0), (64, 0.0)):
        what = f"{count} pages at {rate:g} fps" if rate else f"{count} pages, no pause"
        say(f"{what}, slowest", await pages(served, count, rate, STATE), "fps")
    waiting = await stalled(served, 4)
    value = await pages(served, 16, 30.0, STATE)
    say("16 pages at 30 fps beside 4 that stall, slowest", value, "fps")
    for socket in waiting:
        socket.transport.abort()
    await page(served, LARGE, 0.0)
    say("n = 4096, known run", (await page(served, LARGE, 0.0))["fps"], "fps")


async def soak(served: Served, count: int) -> None:
    """Memory of the server and of its two workers over many different runs."""
    held = resident(served.process.pid)
    for k in range(count + 1):
        if k and k % max(count // 10, 1) == 0:
            for name, size in zip(("server", "workers"), held, strict=True):
                say(f"{name} holds after {k} runs", size / 2**20, "MiB")
        d, model = 2 + k % 2, ("sa", "usa", "causal")[k % 3]
        state = {"n": 8 + k % 120, "d": d, "model": model, "beta": 1 + 0.01 * k}
        await page(served, {**state, "t1": 5.0, "frames": 51}, 0.0)
        held = resident(served.process.pid)


def resident(server: int) -> tuple[int, int]:
    """Bytes that a process and its children hold."""
    size = os.sysconf("SC_PAGE_SIZE")
    sizes = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has just ended
        if int(stat.parent.name) == server or int(fields[1]) == server:
            sizes[int(stat.parent.name)] = int(fields[21]) * size
    mine = sizes.pop(server, 0)
    return mine, sum(sizes.values())


def opened(browser, served: Served, state: dict):
    """A page of its own, 1280 x 800, that has the cookie and opens a state."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.request.get(served.address, max_redirects=0)
    made = context.new_page()
    made.add_init_script(WATCH)
    link = base64.urlsafe_b64encode(json.dumps(state).encode()).decode().rstrip("=")
    made.goto(f"{served.origin}/#s={link}")
    while not made.evaluate("() => seen.first && seen.webgl"):
        made.wait_for_timeout(100)
    return made


def in_browser(served: Served, rounds: int) -> None:
    """The page itself: its first picture, and how it plays."""
    from playwright.sync_api import sync_playwright

    path = os.environ.get("PUSHFORWARD_CHROMIUM") or shutil.which("chromium")
    if path is None:
        raise SystemExit("Chromium is missing: apt-get install chromium")
    with sync_playwright() as playwright:
        firsts, awake = [], []
        for _ in range(rounds):  # a browser of its own each time: nothing is warm in it
            browser = playwright.chromium.launch(
                executable_path=path, args=FLAGS.split()
            )
            seen = opened(browser, served, STATE).evaluate("() => seen")
            firsts.append(seen["first"] / 1000)
            awake.append(seen["webgl"] / 1000)
            browser.close()
        median = rounds // 2
        say("page: first picture, new browser, median", sorted(firsts)[median], "s")
        say("page: first picture, new browser, slowest", max(firsts), "s")
        say("page: WebGL has drawn, new browser, median", sorted(awake)[median], "s")
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS.split())
        for state in (STATE, {**STATE, "d": 2}, LARGE):
            plays(opened(browser, served, state), state)
        browser.close()


def plays(made, state: dict) -> None:
    """Frames per second and the page's own work, over three seconds of playing."""
    while not made.evaluate("() => pushforward.complete()"):
        made.wait_for_timeout(100)
    made.evaluate("() => pushforward.goto(0)")
    made.wait_for_timeout(1500)
    made.evaluate(TURNS)
    made.wait_for_timeout(3000)
    found = made.evaluate(
        "() => ({turns, frame: pushforward.frame(), cost: pushforward.cost()})"
    )
    turns = found["turns"]
    what = f"page: n = {state['n']}, d = {state.get('d', 3)}, playing"
    assert found["frame"] > 0, "the play head moved"
    say(what, 1000 * (len(turns) - 1) / (turns[-1] - turns[0]), "fps")
    say(f"{what}, head moved", found["frame"] / 3.0, "frames/s")
    say(f"{what}, the page's own work per picture", found["cost"], "ms")
    made.context.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--soak", type=int, default=0, help="only runs, and memory")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        served = Served(root)
        try:
            if options.soak:
                asyncio.run(soak(served, options.soak))
                return
            asyncio.run(measure(served, options.rounds))
            in_browser(served, options.rounds)
        finally:
            served.process.terminate()
            served.process.wait(20)


if __name__ == "__main__":
    main()
