"""Uploads and stored runs by name, in one folder; a name is a hash of the content."""

import hashlib
import io
import json
import pathlib

import numpy as np

import pushforward as pf
from pushforward._files import write_atomically
from pushforward.errors import InputError
from pushforward.web import _caps
from pushforward.web.server import _uploads
from pushforward.web.state._given import as_tokens
from pushforward.web.state._state import FILE

PULLS = ("pull_source", "pull_share")  # of a trained model: who moved each token
SHIPPED = pathlib.Path(__file__).parent / "states"  # with the package, for the story


def shipped(name: str) -> dict | None:
    """What is known of a file that comes with the package."""
    path = SHIPPED / f"{name}.json"
    known = FILE.fullmatch(name) and path.is_file()
    return json.loads(path.read_bytes()) if known else None


class Files:
    """What was dropped on the page, or named on the command line."""

    def __init__(self, root: pathlib.Path):
        self.root = root
        root.mkdir(parents=True, exist_ok=True)

    def about(self, name: str) -> dict | None:
        """What is known of a file; None where it is not there."""
        if not FILE.fullmatch(name):
            return None
        for shipped in SHIPPED.glob(f"{name}.*"):
            mine, data = self.root / shipped.name, shipped.read_bytes()
            if not mine.is_file() or mine.read_bytes() != data:  # of another version
                write_atomically(mine, data)
        try:
            return json.loads((self.root / f"{name}.json").read_bytes())
        except (OSError, ValueError):
            return None

    def upload(self, filename: str, data: bytes) -> dict:
        """Keep an upload; what the page is told about it."""
        about, arrays = _uploads.read(filename, data)
        name = hashlib.sha256(data).hexdigest()[:32]
        shown = pathlib.PurePath(filename.replace("\\", "/")).name[:80]
        return self._keep(name, {**about, "name": shown}, arrays)

    def recorded(self, run: pf.Trajectory, shown: str) -> dict:
        """Keep a run, so that the page can show its frames."""
        last = as_tokens(run.final)
        flat = isinstance(last.space, pf.Euclidean)
        points, weights = _drawn(run)
        frames, n, _ = points.shape
        if points.nbytes > _caps.RUN_BYTES or frames > _caps.MOST_FRAMES or n >= 2**16:
            raise InputError(
                f"`run` has {frames} frames of {n} tokens, "
                f"{points.nbytes / 1e6:.0f} MB: the page takes {_caps.MOST_FRAMES} "
                "frames, 65535 tokens and 256 MB. Save fewer "
                "frames, or look at numbers with: pushforward show RUN"
            )
        ended = run.outcome or pf.Outcome("recorded", "not the result of a flow.")
        about = {
            "kind": "hidden",
            "n": last.n,
            "d": last.d,
            "frames": len(run),
            "space": "euclidean" if flat else "sphere",
            "name": shown[:80],
            "note": "",
            "steps": int(run.steps),
            "rejected": int(run.rejected),
            "beta": beta_of(run.field),
            "outcome": {"kind": ended.kind, "sentence": ended.message},
        }
        pulls = {k: np.asarray(run.observed[k]) for k in PULLS if k in run.observed}
        known = [points, weights, *pulls.values()]
        name = hashlib.sha256(b"".join(a.tobytes() for a in known)).hexdigest()[:32]
        arrays = {"points": points, "times": np.asarray(run.times), "weights": weights}
        arrays |= pulls
        return self._keep(name, about, arrays)

    def _keep(self, name: str, about: dict, arrays: dict[str, np.ndarray]) -> dict:
        buffer = io.BytesIO()
        if about["kind"] == "tokens":
            np.save(buffer, arrays["points"], allow_pickle=False)
            write_atomically(self.root / f"{name}.npy", buffer.getvalue())
        else:
            np.savez(buffer, **arrays)  # type: ignore[arg-type]
            write_atomically(self.root / f"{name}.npz", buffer.getvalue())
        write_atomically(self.root / f"{name}.json", json.dumps(about).encode())
        self._tidy()
        return {"file": name, **about}

    def _tidy(self) -> None:
        """Only the newest files are kept."""
        kept = [p for p in self.root.glob("*.json") if FILE.fullmatch(p.stem)]
        kept.sort(key=lambda p: p.stat().st_mtime, reverse=True)
        for old in kept[_caps.UPLOADS :]:
            for path in self.root.glob(f"{old.stem}.np*"):
                path.unlink(missing_ok=True)
            old.unlink(missing_ok=True)


def _drawn(run: pf.Trajectory) -> tuple[np.ndarray, np.ndarray]:
    """Points (t, n, d) and weights (t, n) of what is drawn of every frame."""
    if as_tokens(run.final) is run.final:
        return np.asarray(run.points), np.asarray(run.weights)
    frames = [as_tokens(run[k]) for k in range(len(run))]
    return np.stack([mu.points for mu in frames]), np.stack(
        [mu.weights for mu in frames]
    )


def beta_of(field) -> float:
    """The inverse temperature of a field, or one."""
    found = getattr(field, "beta", None)
    return 1.0 if found is None or np.ndim(found) else float(found)
