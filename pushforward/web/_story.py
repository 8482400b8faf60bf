"""The states of the story, chapter by chapter; its words stand in the page.

The first chapter gives each word of a sentence a random direction; the last shows the
same words in the layers of a trained model, recorded by `web/page/record.py`.
"""

import math

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
