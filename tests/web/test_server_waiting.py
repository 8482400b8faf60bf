"""What nobody may wait for in vain: news of a run, a turn, a connection, memory."""

import asyncio
import concurrent.futures
import json
import os
import socket
import time

import pytest
from explorer_client import Client, running
from starlette.websockets import WebSocket

from pushforward.web import _caps
from pushforward.web.computing import _process
from pushforward.web.computing._runs import Run, Runs
from pushforward.web.server import _serve
from pushforward.web.server._socket import Page
from pushforward.web.state._state import State

DONE = {"outcome": {"kind": "reached", "sentence": "at the end."}, "frames": 0}


class _Ears(WebSocket):
    """A socket in whose middle of a message the run ends."""

    def __init__(self, run):
        super().__init__({"type": "websocket"}, self.receive, self.send)
        self.run, self.heard = run, []

    async def send_text(self, text):
        kind = json.loads(text)["type"]
        self.heard.append(kind)
        if kind == "progress":
            self.run.done = DONE
            self.run.change()

    async def send_bytes(self, data):
        raise AssertionError("there are no frames")


def test_a_run_that_ends_while_the_page_is_told_of_progress_is_reported():
    async def told():
        run = Run("ab", State())
        run.latest = {"t": 1.0, "fraction": 0.5}
        ears = _Ears(run)
        page = Page(ears, object.__new__(Runs), lambda name: None)
        await asyncio.wait_for(page._stream(run, 1, []), 20)
        return ears.heard

    # in a thread: where a browser is open, this one has a loop already
    with concurrent.futures.ThreadPoolExecutor(1) as apart:
        heard = apart.submit(lambda: asyncio.run(told())).result()
    assert heard == ["accepted", "progress", "done"]


def _quiet(tmp_path, limit=60.0):
    """A worker whose process is never started: only the order of jobs is looked at."""
    made = _process.WorkerProcess(tmp_path, nice=0, limit=limit)
    made.current = (0, print)  # busy
    return made


def test_short_runs_are_not_held_up_by_long_ones(tmp_path):
    worker = _quiet(tmp_path)
    long = [State(n=2048, seed=k).seconds() for k in range(8)]
    short = State().seconds()
    assert short < 0.5 < 3.0 < long[0]
    for seconds in [*long, short]:
        worker.order("run", print, seconds=seconds)
    first = min(worker.waiting, key=lambda entry: entry.due)
    assert first.number == 9, "the ninth page is next"


def test_a_short_run_does_not_wait_for_a_long_one(tmp_path, monkeypatch):
    """It goes to the other process, if that rests; a long one never does."""
    worker, relief = _quiet(tmp_path), _quiet(tmp_path)
    runs = Runs(tmp_path / "runs", worker, relief)
    monkeypatch.setattr(relief, "_next", lambda: None)

    def sent(**given):
        run = Run("a" * 32, State(**given))
        runs._compute(run)
        return run.worker

    relief.current = None
    assert sent(seed=1) is worker, "what is computed is short"
    worker.takes = State(n=2048).seconds()
    assert sent(n=2048) is worker and sent(seed=2) is relief
    relief.current, relief.takes = (0, print), _caps.PICTURE_SECONDS  # a film
    assert sent(seed=3) is worker


def test_a_long_run_waits_no_longer_than_it_takes(tmp_path):
    worker = _quiet(tmp_path)
    worker.order("run", print, seconds=0.01)
    time.sleep(0.02)
    worker.order("run", print, seconds=0.01)
    worker.order("run", print, seconds=5.0)
    dues = [entry.due for entry in worker.waiting]
    assert dues == sorted(dues)


def test_a_worker_that_holds_too_much_memory_is_started_anew(
    client, server, monkeypatch
):
    state = {"n": 3, "t1": 0.5, "frames": 3}
    client.run(state)
    before = server.explorer.worker.process.pid
    assert _process.resident(before) > 2**20
    monkeypatch.setattr(_caps, "WORKER_BYTES", 2**20)
    answer = client.run({**state, "seed": 1})
    assert answer.end["type"] == "done"
    monkeypatch.undo()
    assert server.explorer.worker.process.pid != before
    after = server.explorer.worker.process.pid
    assert client.run({**state, "seed": 2}).end["type"] == "done"
    assert server.explorer.worker.process.pid == after


@pytest.mark.slow
def test_memory_is_flat_over_five_hundred_runs(client, server):
    """Of the worker and of the server; shapes change, so that programs pile up."""
    held = []
    for k in range(500):
        state = {"n": 3 + k % 40, "d": 2 + k % 2, "t1": 0.5, "frames": 3, "seed": k}
        assert client.run(state).end["type"] == "done"
        if k % 100 == 99:
            worker = _process.resident(server.explorer.worker.process.pid)
            held.append((worker + _process.resident(os.getpid())) / 2**20)
    assert max(held[1:]) - held[0] < 300, held


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: x\r\n"])
def test_a_connection_without_headers_is_closed(server, sent, monkeypatch):
    monkeypatch.setattr(_caps, "HEADER_SECONDS", 0.3)
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as caller:
        caller.sendall(sent)
        assert caller.recv(1) == b"", "closed by the server"


def test_four_hundred_half_open_connections_keep_nobody_out(server, monkeypatch):
    monkeypatch.setattr(_caps, "HEADER_SECONDS", 0.3)
    held = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(400)]
    try:
        for one in held:
            one.settimeout(60)
            assert one.recv(1) == b""
        guest = Client(server)
        assert guest.http.get("/api/about").status_code == 200
        guest.http.close()
    finally:
        for one in held:
            one.close()


def test_a_column_of_words_names_the_tokens(client):
    text = 'word,x,y,z\nthe,1,0,0\n"cat, sat",0,2,0\nhere,0,0,1\n'
    about = client.http.post(
        "/api/upload",
        files={"file": ("a.csv", text.encode())},
        headers={"X-Pushforward": "1"},
    ).json()
    assert (about["kind"], about["n"], about["d"]) == ("tokens", 3, 3)
    assert about["words"] == ["the", "cat, sat", "here"]
    state = {"init": "file", "file": about["file"], "t1": 0.5, "frames": 3}
    answer = client.run(state)
    assert answer.accepted["labels"] == ["the", "cat, sat", "here"]
    assert answer.frames[0].points[1].tolist() == [0.0, 1.0, 0.0]


def test_a_server_that_cannot_end_is_ended(tmp_path, monkeypatch):
    """Whatever its shutdown waits for, in vain here."""
    made = _serve.Server(root=tmp_path, warm=False)

    async def in_vain(sockets=None):
        await asyncio.Event().wait()

    monkeypatch.setattr(made.uvicorn, "shutdown", in_vain)
    monkeypatch.setattr(_caps, "LAST_SECONDS", 0.2)
    thread = running(made)
    made.stop()
    thread.join(60)
    assert not thread.is_alive()
    made.bound.close()
