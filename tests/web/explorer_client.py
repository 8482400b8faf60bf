"""A client of the explorer's server for tests: plain sockets, nothing of the page."""

import dataclasses
import json
import struct
import threading

import httpx
import numpy as np
from websockets.sync.client import connect

HEADER = struct.Struct("<4s5I7d")
NAMES = ("t", "log10_t", "energy", "clusters", "largest", "cosine", "arc")


@dataclasses.dataclass
class Frame:
    """One binary frame, decoded from the contract and not from the server's code."""

    id: int
    k: int
    flags: int
    numbers: dict
    points: np.ndarray
    labels: np.ndarray
    masses: np.ndarray | None
    cosines: np.ndarray | None

    @classmethod
    def read(cls, data: bytes) -> "Frame":
        magic, id_, k, n, shown, flags, *numbers = HEADER.unpack_from(data)
        assert magic == b"PF01"
        at = HEADER.size

        def take(dtype, count):
            nonlocal at
            found = np.frombuffer(data, dtype, count, at)
            at += found.nbytes
            return found

        points = take("<f4", n * shown).reshape(n, shown)
        labels = take("<u2", n)
        masses = take("<f4", n) if flags & 2 else None
        cosines = take("<f4", 64) if flags & 4 else None
        assert at == len(data)
        named = dict(zip(NAMES, numbers, strict=True))
        return cls(id_, k, flags, named, points, labels, masses, cosines)


@dataclasses.dataclass
class Answer:
    """Everything a run sent."""

    accepted: dict
    frames: list
    end: dict

    def column(self, name: str) -> np.ndarray:
        return np.array([frame.numbers[name] for frame in self.frames])


class Client:
    """A page that has traded the token."""

    def __init__(self, server):
        self.server, self.origin = server, server.origin
        self.host = self.origin.removeprefix("http://")
        self.http = httpx.Client(base_url=self.origin, timeout=120.0)
        answer = self.http.get("/", params={"token": server.token})
        assert answer.status_code == 303, answer.text
        self.cookie = "; ".join(f"{k}={v}" for k, v in self.http.cookies.items())

    def socket(self, **options):
        headers = {"Cookie": self.cookie, **options.pop("headers", {})}
        return connect(
            f"ws://{self.host}/api/socket",
            origin=options.pop("origin", self.origin),
            additional_headers=headers,
            max_size=None,
            proxy=None,
            **options,
        )

    def run(self, state: dict, request: int = 1) -> Answer:
        with self.socket() as socket:
            return follow(socket, state, request)


def send(socket, **message) -> None:
    socket.send(json.dumps(message))


def follow(socket, state: dict, request: int = 1) -> Answer:
    """Ask for a run and acknowledge frames until it ends."""
    send(socket, type="run", id=request, state=state)
    accepted, frames = {}, []
    while True:
        message = socket.recv(timeout=120)
        if isinstance(message, bytes):
            frames.append(Frame.read(message))
            if frames[-1].k % 8 == 7:
                send(socket, type="ack", id=request, frame=frames[-1].k)
            continue
        found = json.loads(message)
        if found.get("id") != request:
            continue
        if found["type"] == "accepted":
            accepted = found
        elif found["type"] in ("done", "error"):
            return Answer(accepted, frames, found)


def running(server):
    """Serve in a thread; returns when the server answers."""
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    for _ in range(600):
        if server.uvicorn.started:
            return thread
        threading.Event().wait(0.05)
    raise RuntimeError("the server did not start")
