"""The states of the story, step by step; its words and questions stand in the page."""

import math

ANGLES = (0.0, 0.0424903, 0.1699612, 0.339921, 0.5948604)  # each gap wider

STORY: tuple[dict, ...] = (
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
        "moved": [[k, [math.cos(a), math.sin(a)]] for k, a in enumerate(ANGLES)],
    },
    {"n": 64, "d": 3, "beta": 2.0, "t1": 60.0, "model": "causal"},
    {"n": 64, "d": 3, "beta": 9.0, "t1": 20.0, "model": "hardmax"},
    {"n": 64, "d": 3, "beta": 1e4, "t1": 50.0},
    {"n": 64, "d": 256, "beta": 1.0, "t1": 12.0},
)
