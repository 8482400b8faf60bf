"""Everything the page offers by name: paper figures and failures.

Failures worth seeing, as states.
"""

import functools
import json
import math
import pathlib

import pushforward
from pushforward import studies
from pushforward._files import write_atomically
from pushforward._references import PAPERS

SENTENCE = "The old bank by the river had no money left to lend."
MODEL_FILE = "9c5e0b7d4a1f4e0e8a6d2b3c00000001"  # in the folder `states`
WORDS = len(SENTENCE.split())
REFERENCES = (
    "geshkovski2023perspective",
    "geshkovski2023clusters",
    "geshkovski2024metastability",
    "karagodin2024causal",
    "mun2026phase",
)
ANGLES = (0.0, 0.0424903, 0.1699612, 0.339921, 0.5948604)  # each gap wider
STAIRS = [[k, [math.cos(a), math.sin(a)]] for k, a in enumerate(ANGLES)]

STORY: tuple[dict, ...] = (
    {"n": WORDS, "d": 3, "beta": 2.0, "t1": 20.0},
    {"n": WORDS, "d": 3, "beta": 2.0, "t1": 20.0, "V": [1.0, 1.0, -1.0]},
    {"n": 64, "d": 3, "beta": 9.0, "t1": 20.0},
    {"n": 64, "d": 3, "beta": 1.0, "t1": 20.0},
    {"n": 64, "d": 2, "beta": 20.0, "t1": 1e8, "clock": "log", "merge": True},
    {
        "model": "usa",
        "n": 5,
        "d": 2,
        "beta": 500.0,
        "t1": 1e20,
        "clock": "log",
        "merge": True,
        "frames": 401,
        "init": "equispaced",
        "moved": STAIRS,
    },
    {"n": 64, "d": 3, "beta": 2.0, "t1": 60.0, "model": "causal"},
    {"n": 64, "d": 3, "beta": 4.0, "t1": 40.0, "noise": 0.5, "solver": "heun"},
    {"n": 64, "d": 3, "beta": 1e4, "t1": 50.0},
    {"model": "recorded", "file": MODEL_FILE},
)


# Three pairs of tokens on the circle, a third of it apart; the pairs are not alike.
_PAIRS = {
    "n": 6,
    "d": 2,
    "beta": 100.0,
    "clock": "log",
    "init": "equispaced",
    "moved": [[1, [0.99, 0.14]], [3, [-0.6, 0.8]], [5, [-0.36, -0.93]]],
}
FAILURES = (
    {
        "id": "overflow",
        "title": "The naive exponential overflows",
        "claim": "e^(β⟨x,y⟩) is infinite in double precision from β = 710 on; here the "
        "largest exponent is taken out first, and β = 5000 is as good as β = 1.",
        "state": {"beta": 5000.0, "n": 32, "d": 2, "t1": 1000.0, "clock": "log"},
    },
    {
        "id": "slow-clock",
        "title": "The clock of the unprojected step runs slow",
        "claim": "Add, then normalize, with h = 0.5: a layer, not a solver; it is late "
        "by a factor of about 1.5. Compare with the solver set to adaptive.",
        "state": {
            "solver": "layers",
            "h": 0.5,
            "n": 2,
            "d": 2,
            "init": "orthonormal",
            "beta": 6.0,
            "t1": 60.0,
            "frames": 121,
        },
    },
    {
        "id": "frozen",
        "title": "Frozen at machine precision, not converged",
        "claim": "At β = 100 clusters pull each other with forces below what double "
        "precision resolves. Nothing moves, nothing has converged: let tokens merge.",
        "state": {**_PAIRS, "t1": 1000.0},
    },
    {
        "id": "frozen-merged",
        "title": "The same tokens, followed further",
        "claim": "With merging the same run goes on to one cluster, ages later.",
        "state": {**_PAIRS, "t1": 1e90, "merge": True, "frames": 301},
    },
    {
        "id": "float32",
        "title": "Single precision gives up earlier",
        "claim": "In float32 norms are off by up to 1e-7, in float64 by 1e-15: what "
        "moves tokens by less than that is lost.",
        "state": {
            "beta": 40.0,
            "d": 2,
            "t1": 1000.0,
            "clock": "log",
            "dtype": "float32",
        },
    },
)


# What has no study of its own.
MODEL = {
    "id": "trained-model",
    "title": "A trained model: MiniLM, six layers",
    "study": "gallery",
    "reference": "all-MiniLM-L6-v2",
    "claim": "The words of a sentence after each layer of a trained Transformer, "
    "scaled to length one: their mean cosine grows with depth, from 0.07 to 0.45.",
    "group": "figures",
    "state": {
        "model": "recorded",
        "file": MODEL_FILE,
        "view": {"projection": "pca-now", "color": "index"},
    },
}
PAPER = "geshkovski2023perspective"


def reference(key: str) -> str:
    """A paper as it is typeset: authors, title, year, number of the preprint."""
    _, authors, title, _, year, eprint = PAPERS[key]
    names = ", ".join(name.split(",")[0].strip() for name in authors.split(" and "))
    names = names.replace(", others", " et al.").replace("{\\'e}", "é")
    number = f", arXiv:{eprint}" if eprint else ""
    return f"{names}: {title} ({year}){number}"


@functools.cache
def all_presets() -> list[dict]:
    """Every preset: the studies' own, then the failures."""
    figures = [
        {
            "id": f"{study}-{preset.name}",
            "title": preset.title,
            "study": study,
            "reference": reference(paper),
            "claim": preset.claim,
            "group": "figures",
            "state": dict(preset.state),
        }
        for study, paper, preset in studies.all_presets()
    ]
    figures.sort(key=lambda entry: entry["id"] != "perspective-sphere")
    common = {"study": "gallery", "reference": reference(PAPER)}
    failures = [{**common, "group": "failures", **f} for f in FAILURES]
    return [*figures, MODEL, *failures]


def kept_presets(folder: pathlib.Path) -> list[dict]:
    """The same, as kept in a folder where no module has changed since: quicker."""
    package = pathlib.Path(pushforward.__file__).parent
    newest = max(module.stat().st_mtime for module in package.rglob("*.py"))
    stamp, path = [pushforward.__version__, newest], folder / "presets.json"
    try:
        kept = json.loads(path.read_bytes())
        if kept["stamp"] == stamp:
            return kept["presets"]
    except (OSError, ValueError, KeyError, TypeError):
        pass  # none yet, or torn
    kept = {"stamp": stamp, "presets": all_presets()}
    write_atomically(path, json.dumps(kept).encode())
    return kept["presets"]
