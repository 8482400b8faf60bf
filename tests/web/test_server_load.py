"""Many pages at once, and one that does not read: nobody waits for anybody.

No speed is asserted here, only that every page gets every frame while another one
stalls; frames per second are measured by `python -m benchmarks.web`.
"""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from explorer_client import HEADER, send
from websockets.asyncio.client import connect

from pushforward.web import _caps

STATE = {"n": 12, "t1": 6.0, "frames": 61}


async def page(client, wait: float = 0.0) -> int:
    """Frames that a page gets when it draws one every `wait` seconds."""
    frames = 0
    async with connect(
        f"ws://{client.host}/api/socket",
        origin=client.origin,
        additional_headers={"Cookie": client.cookie},
        max_size=None,
        proxy=None,
    ) as socket:
        await socket.send(json.dumps({"type": "run", "id": 5, "state": STATE}))
        while True:
            message = await asyncio.wait_for(socket.recv(), 60)
            if isinstance(message, str):
                if json.loads(message)["type"] == "done":
                    return frames
                continue
            frames += 1
            k = HEADER.unpack_from(message)[2]
            assert k == frames - 1, "in order, none left out"
            if k % 8 == 7:
                ack = {"type": "ack", "id": 5, "frame": k}
                await socket.send(json.dumps(ack))
            await asyncio.sleep(wait)


def apart(work):
    """Run a coroutine in a thread: a browser test may have a loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


async def together(client, count: int, wait: float) -> list[int]:
    return await asyncio.gather(*(page(client, wait) for _ in range(count)))


def test_sixteen_pages_get_every_frame_while_one_stalls(client):
    client.run(STATE)
    with client.socket() as stalled:
        send(stalled, type="run", id=9, state=STATE)  # and never acknowledges
        assert apart(together(client, 16, 1 / 200)) == [61] * 16


def test_sixty_four_pages_get_every_frame(client):
    assert apart(together(client, 64, 0.0)) == [61] * 64


def test_a_page_that_only_asks_cannot_fill_the_memory(client, server):
    """It asks again and again and reads nothing: what waits for it stays bounded."""
    client.run(STATE)
    with client.socket(max_queue=1, close_timeout=1) as socket:
        for k in range(2 * int(_caps.RUNS_PER_SECOND)):
            send(socket, type="run", id=k, state=STATE)
        again = client.run({**STATE, "seed": 1})
        assert len(again.frames) == 61, "others are served"
    assert server.explorer.runs.kept


@pytest.mark.slow
def test_two_hundred_sockets(client):
    """Beyond the cap sockets are refused; those inside go on."""

    async def many() -> list:
        pages = (page(client, 0.01) for _ in range(200))
        return await asyncio.gather(*pages, return_exceptions=True)

    found = apart(many())
    served = [f for f in found if f == 61]
    assert len(served) >= _caps.SOCKETS - 8
    assert all(f == 61 or isinstance(f, Exception) for f in found)
    assert client.http.get("/api/about").status_code == 200
