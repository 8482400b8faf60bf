"""The layers of a trained model for the story: `python web/page/record.py`.

Writes pushforward/web/server/states. The words of a sentence span few dimensions in all
layers together; in those the states are small and every cosine is exact.
"""

import json
import pathlib

import numpy as np

from pushforward import probe
from pushforward.web.state._presets import MODEL_FILE, SENTENCE

FOLDER = pathlib.Path(__file__).parents[2] / "pushforward/web/server/states"
MODEL = "minilm"


def main() -> None:
    """Record, rotate into the span, write."""
    names, points = probe.run(probe.load_model(MODEL), SENTENCE).words(probe.Rms())
    layers, n, d = points.shape
    unit = points / np.linalg.norm(points, axis=-1, keepdims=True)
    flat = unit.reshape(-1, d)
    rotated = flat @ np.linalg.svd(flat, full_matrices=False)[2].T
    assert np.allclose(rotated @ rotated.T, flat @ flat.T, atol=1e-5)
    about = {
        "kind": "hidden",
        "n": n,
        "d": rotated.shape[1],
        "frames": layers,
        "layers": layers,
        "width": d,
        "name": "all-MiniLM-L6-v2",
        "note": "",
        "words": list(names),
        "outcome": {
            "kind": "recorded",
            "sentence": "the words of a sentence after each of the "
            f"{layers - 1} layers of all-MiniLM-L6-v2, scaled to length one; "
            "not the result of a flow.",
        },
    }
    FOLDER.mkdir(exist_ok=True)
    np.savez_compressed(
        FOLDER / f"{MODEL_FILE}.npz",
        points=rotated.reshape(layers, n, -1).astype(np.float32),
        times=np.arange(layers, dtype=float),
    )
    text = json.dumps(about, indent=1) + "\n"
    (FOLDER / f"{MODEL_FILE}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
