"""How the explorer's server holds up: `python -m benchmarks.web`.

A server in a process of its own, pages as plain sockets in this one. A page that
plays at a rate draws a frame, waits, and acknowledges; the figure is the frames per
second of the slowest page. Every figure is one line of JSON.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from websockets.asyncio.client import connect

STATE = {"n": 64, "frames": 201}


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


async def measure(served: Served, rounds: int) -> None:
    async def say(what: str, value: float, unit: str) -> None:
        print(json.dumps({"what": what, "value": round(value, 3), "unit": unit}))

    start = time.perf_counter()
    while not served.warm():
        await asyncio.sleep(0.2)
    await say("warm after", time.perf_counter() - start, "s")
    first = await page(served, STATE, 0.0)
    await say("first frame of the default run, warm", first["first"], "s")
    firsts = [
        (await page(served, {**STATE, "beta": 2.0 + k}, 0.0)) for k in range(rounds)
    ]
    median = sorted(one["first"] for one in firsts)[rounds // 2]
    await say("first frame of a new run, warm, median", median, "s")
    again = await page(served, STATE, 0.0)
    await say("first frame of a known run", again["first"], "s")
    for count, rate in ((16, 30.0), (64, 10.0), (16, 0.0), (64, 0.0)):
        what = f"{count} pages at {rate:g} fps" if rate else f"{count} pages, no pause"
        await say(f"{what}, slowest", await pages(served, count, rate, STATE), "fps")
    waiting = await stalled(served, 4)
    value = await pages(served, 16, 30.0, STATE)
    await say("16 pages at 30 fps beside 4 that stall, slowest", value, "fps")
    for socket in waiting:
        socket.transport.abort()
    large = {"n": 4096, "t1": 2.0, "frames": 101}
    await page(served, large, 0.0)
    await say("n = 4096, known run", (await page(served, large, 0.0))["fps"], "fps")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        served = Served(root)
        try:
            asyncio.run(measure(served, options.rounds))
        finally:
            served.process.terminate()
            served.process.wait(20)


if __name__ == "__main__":
    main()
