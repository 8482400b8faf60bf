"""Phase diagrams the server knows: on disk, or growing row by row."""

import json
import pathlib

from pushforward._files import write_atomically
from pushforward.errors import InputError
from pushforward.web import _caps
from pushforward.web.computing._phase import Diagram
from pushforward.web.computing._process import WorkerProcess

MOST_WAITING = 8


class Growing:
    """A diagram and the rows that are there."""

    def __init__(self, diagram: Diagram):
        self.about = diagram.as_json()
        columns, rows = (len(axis.values) for axis in diagram.axes)
        self.values: list[list] = [[None] * columns for _ in range(rows)]
        self.running, self.error = True, ""

    def as_json(self) -> dict:
        """What the page polls for."""
        there = sum(row[0] is not None for row in self.values)
        done = there / len(self.values)
        answer = {**self.about, "values": self.values, "running": self.running}
        return {**answer, "done": done, **({"error": self.error} if self.error else {})}


class Diagrams:
    """All diagrams of a server."""

    def __init__(self, root: pathlib.Path, worker: WorkerProcess):
        self.root, self.worker = root, worker
        self.known: dict[str, Growing] = {}
        root.mkdir(parents=True, exist_ok=True)

    def get(self, diagram: Diagram) -> dict:
        """The diagram as far as it is, started if it is new."""
        name = diagram.name
        stored = self.root / f"{name}.json"
        if name not in self.known and stored.is_file():
            try:
                found = json.loads(stored.read_bytes())
                if found["x"] == diagram.as_json()["x"]:
                    return found
            except (ValueError, KeyError, OSError):
                pass  # torn or of another version: computed again
        if name not in self.known:
            if len(self.worker.waiting) >= MOST_WAITING:
                raise InputError("too many phase diagrams wait. Ask again in a minute.")
            self.known[name] = Growing(diagram)
            self._start(diagram, self.known[name])
        return self.known[name].as_json()

    def _start(self, diagram: Diagram, growing: Growing) -> None:
        def listen(message: dict, payload: bytes) -> None:
            if message["type"] == "row":
                growing.values[message["row"]] = message["values"]
                return
            growing.running = False
            if message["type"] == "done":
                text = json.dumps(growing.as_json()).encode()
                write_atomically(self.root / f"{diagram.name}.json", text)
            else:
                growing.error = message.get("message", "stopped")
                self.known.pop(diagram.name, None)

        self.worker.order(
            "phase",
            listen,
            seconds=_caps.PICTURE_SECONDS,
            kind=diagram.kind,
            statistic=diagram.statistic,
            n=diagram.n,
            d=diagram.d,
        )
