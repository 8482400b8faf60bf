"""Failures worth seeing, and the eight steps of the story, as states."""

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
            "model": "layer",
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
        "claim": "In float32 the norm drifts by 1e-7 and plateaus freeze at smaller β.",
        "state": {
            "beta": 40.0,
            "d": 2,
            "t1": 1000.0,
            "clock": "log",
            "dtype": "float32",
        },
    },
)

STORY = (
    {
        "title": "A prompt is a cloud of tokens",
        "claim": "Each token is a point on a sphere; depth is time. Will they spread "
        "out, or come together? Press play.",
        "state": {"beta": 1.0, "t1": 10.0},
    },
    {
        "title": "At β = 0 everyone follows the mean",
        "claim": "Attention is uniform, and all tokens go to one point. How fast?",
        "state": {"beta": 0.0, "t1": 10.0},
    },
    {
        "title": "Larger β: attention looks nearby",
        "claim": "At β = 9 tokens listen to their neighbors first. How many clusters "
        "will there be at t = 20?",
        "state": {"beta": 9.0},
    },
    {
        "title": "On the circle one sees all of it",
        "claim": "Angles against time, β = 25. Which two clusters merge first?",
        "state": {"beta": 25.0, "d": 2, "t1": 100.0, "clock": "log"},
    },
    {
        "title": "Plateaus: clusters that live e^β long",
        "claim": "At β = 100 with merging, time runs over eighty decades. How many "
        "clusters are there at t = 1e10?",
        "state": {
            "beta": 100.0,
            "d": 2,
            "n": 64,
            "t1": 1e88,
            "clock": "log",
            "merge": True,
            "frames": 301,
        },
    },
    {
        "title": "A decoder: look only back",
        "claim": "With a causal mask token 1 never moves. Where do the others end?",
        "state": {"model": "causal", "n": 32, "t1": 200.0, "clock": "log"},
    },
    {
        "title": "The value matrix decides the shape",
        "claim": "V = -I repels. Where do twelve tokens come to rest?",
        "state": {"V": "minus", "n": 12, "beta": 5.0, "t1": 400.0, "clock": "log"},
    },
    {
        "title": "Noise against attention",
        "claim": "Every token also shakes. Is there still a cluster at σ = 0.6?",
        "state": {"noise": 0.6, "solver": "heun", "h": 0.02, "beta": 4.0, "t1": 20.0},
    },
)
