"""Bad input gets a clear error: the argument, the value, and what to do."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pushforward as pf
from pushforward.errors import InputError, PushforwardError

S3 = pf.Sphere(3)
EYE = np.eye(3)
MU = pf.Particles(S3, EYE)
SA = pf.Attention(2.0)
NAN_ROWS = np.where(np.arange(3)[:, None] == 1, np.nan, EYE)
KEY = jax.random.key(0)

# What is called, and the words that the message must contain.
CASES = {
    "NaN in points": (
        lambda: pf.Particles(S3, NAN_ROWS),
        ["points", "1 of 3", "row 1", "Remove"],
    ),
    "infinity in points": (
        lambda: pf.Particles(S3, np.where(EYE[:, 2:] > 0, np.inf, EYE)),
        ["points", "row 2"],
    ),
    "NaN in weights": (
        lambda: pf.Particles(S3, EYE, [0.5, np.nan, 0.5]),
        ["weights", "row 1"],
    ),
    "NaN beta": (lambda: pf.Attention(np.nan), ["beta", "nan", "finite"]),
    "NaN in Q": (lambda: pf.Attention(1.0, Q=NAN_ROWS), ["Q", "row 1"]),
    "infinite V": (
        lambda: pf.Attention(1.0, V=np.full((3, 3), np.inf)),
        ["V", "row 0"],
    ),
    "infinite beta": (lambda: pf.Attention(np.inf), ["beta", "inf", "HardAttention"]),
    "infinite beta, numpy": (
        lambda: pf.Attention(np.float64(np.inf)),
        ["beta", "inf", "HardAttention"],
    ),
    "infinite beta, jax": (
        lambda: pf.UnnormalizedAttention(jnp.array(jnp.inf)),
        ["beta", "inf", "HardAttention"],
    ),
    "minus infinite beta": (lambda: pf.CausalAttention(-np.inf), ["beta", "-inf"]),
    "NaN time": (lambda: pf.flow(SA, MU, np.nan), ["t1", "nan", "finite"]),
    "infinite time": (lambda: pf.flow(SA, MU, np.inf), ["t1", "inf", "finite"]),
    "NaN in save": (
        lambda: pf.flow(SA, MU, 1.0, save=[0.0, np.nan, 1.0]),
        ["save", "nan", "finite"],
    ),
    "zero vector": (
        lambda: pf.Particles(S3, EYE * [[1], [0], [1]]),
        ["points", "row 1", "Particles.normalized"],
    ),
    "zero vector, normalized": (
        lambda: pf.Particles.normalized(S3, EYE * [[1], [0], [1]]),
        ["points", "row 1", "Remove"],
    ),
    "off the sphere": (
        lambda: pf.Particles(S3, 1.001 * EYE),
        ["points", "3 of 3", "0.001", "Particles.normalized"],
    ),
    "no points": (
        lambda: pf.Particles(S3, np.zeros((0, 3))),
        ["points", "(0, 3)", "n >= 1"],
    ),
    "empty list": (lambda: pf.Particles(S3, []), ["points", "(n, 3)", "(0,)"]),
    "d = 1": (lambda: pf.Sphere(1), ["d", "1", "Sphere(3)"]),
    "d not whole": (lambda: pf.Sphere(2.5), ["d", "2.5", "integer"]),
    "d True": (lambda: pf.Euclidean(True), ["d", "True", "integer"]),
    "wrong dimension": (
        lambda: pf.Particles(S3, np.eye(4)),
        ["points", "(n, 3)", "(4, 4)"],
    ),
    "transposed": (
        lambda: pf.Particles(S3, np.ones((3, 5)) / np.sqrt(3)),
        ["points", "(3, 5)", "points.T"],
    ),
    "angles": (
        lambda: pf.Particles(pf.Circle(), np.zeros(4)),
        ["points", "(4,)", "Circle().points"],
    ),
    "words": (
        lambda: pf.Particles(S3, [["a", "b", "c"]]),
        ["points", "numbers", "'a'"],
    ),
    "ragged": (
        lambda: pf.Particles(S3, [[1.0, 0, 0], [1.0, 0]]),
        ["points", "numbers"],
    ),
    "complex": (lambda: pf.Particles(S3, EYE * 1j), ["points", "real", ".real"]),
    "not a space": (lambda: pf.Particles(3, EYE), ["space", "3", "Sphere(3)"]),
    "n = 0": (lambda: pf.Particles.uniform(S3, 0, key=KEY), ["n", "0", "at least 1"]),
    "too many orthonormal": (
        lambda: pf.Particles.orthonormal(S3, 4),
        ["n", "4", "Sphere(4)"],
    ),
    "equispaced on S^2": (
        lambda: pf.Particles.equispaced(S3, 4),
        ["circle", "Sphere(3)", "Circle()"],
    ),
    "von Mises off the sphere": (
        lambda: pf.Particles.vonmises_fisher(
            pf.Euclidean(3), 4, mean=[1.0, 0, 0], kappa=1.0, key=KEY
        ),
        ["space", "Euclidean(3)"],
    ),
    "kappa = 0": (
        lambda: pf.Particles.vonmises_fisher(
            S3, 4, mean=[1.0, 0, 0], kappa=0.0, key=KEY
        ),
        ["kappa", "0", "uniform"],
    ),
    "negative scale": (
        lambda: pf.Particles.gaussian(S3, 4, scale=-1.0, key=KEY),
        ["scale", "-1", "positive"],
    ),
    "centers": (
        lambda: pf.Particles.clustered(S3, 4, centers=np.eye(2), key=KEY),
        ["centers", "(k, 3)", "(2, 2)"],
    ),
    "no file": (
        lambda: pf.Particles.from_file(S3, "nowhere.npy"),
        ["nowhere.npy", "path"],
    ),
    "negative weights": (
        lambda: pf.Particles(S3, EYE, [0.7, 0.7, -0.4]),
        ["weights", "-0.4", "negative"],
    ),
    "weights of zero sum": (
        lambda: pf.Particles(S3, EYE, [0.0, 0.0, 0.0]),
        ["weights", "sum to one", "0"],
    ),
    "weights of zero sum, normalized": (
        lambda: pf.Particles.normalized(S3, EYE, [0.0, 0.0, 0.0]),
        ["weights", "0", "sum"],
    ),
    "weights of sum two": (
        lambda: pf.Particles(S3, EYE, [1.0, 0.5, 0.5]),
        ["weights", "2", "weights / weights.sum()"],
    ),
    "weights of wrong shape": (
        lambda: pf.Particles(S3, EYE, [0.5, 0.5]),
        ["weights", "(3,)", "(2,)"],
    ),
    "time backward": (lambda: pf.flow(SA, MU, -1.0), ["t1", "-1", "(-1.0) * field"]),
    "times not increasing": (
        lambda: pf.flow(SA, MU, 1.0, save=[0.5, 0.2]),
        ["save", "increasing", "0.2"],
    ),
    "times outside": (
        lambda: pf.flow(SA, MU, 1.0, save=[0.5, 2.0]),
        ["save", "[0, 1]", "2"],
    ),
    "one frame": (lambda: pf.flow(SA, MU, 1.0, save=1), ["save", "1", "at least 2"]),
    "save a word": (lambda: pf.flow(SA, MU, 1.0, save="often"), ["save", "'often'"]),
    "time a word": (lambda: pf.flow(SA, MU, "late"), ["t1", "'late'", "number"]),
    "log times": (
        lambda: pf.flow(SA, MU, 1.0, save=pf.LogTimes(2.0)),
        ["first", "2", "t1 - t0"],
    ),
    "negative step": (lambda: pf.Heun(-0.1), ["h", "-0.1", "positive"]),
    "zero layers": (lambda: pf.Layers(0.0), ["h", "0", "positive"]),
    "negative tolerance": (
        lambda: pf.Adaptive(rtol=-1e-3),
        ["rtol", "-0.001", "positive"],
    ),
    "no steps": (lambda: pf.Heun(0.1, max_steps=0), ["max_steps", "0"]),
    "no noise": (lambda: pf.Brownian(0.0), ["sigma", "0", "leave `noise` out"]),
    "noise without key": (
        lambda: pf.flow(SA, MU, 1.0, noise=pf.Brownian(0.1)),
        ["noise", "key", "jax.random.key"],
    ),
    "noise with adaptive steps": (
        lambda: pf.flow(
            SA, MU, 1.0, noise=pf.Brownian(0.1), key=KEY, solver=pf.Adaptive()
        ),
        ["solver", "Heun"],
    ),
    "field is a number": (lambda: pf.flow(2.0, MU, 1.0), ["field", "2.0", "Attention"]),
    "measure is an array": (
        lambda: pf.flow(SA, EYE, 1.0),
        ["mu", "ndarray", "Particles(Sphere"],
    ),
    "solver is a word": (
        lambda: pf.flow(SA, MU, 1.0, solver="rk4"),
        ["solver", "'rk4'", "Adaptive"],
    ),
    "solver is a class": (
        lambda: pf.flow(SA, MU, 1.0, solver=pf.Adaptive),
        ["solver", "Adaptive()"],
    ),
    "noise is a number": (
        lambda: pf.flow(SA, MU, 1.0, noise=0.1, key=KEY),
        ["noise", "0.1", "Brownian"],
    ),
    "observe is a function": (
        lambda: pf.flow(SA, MU, 1.0, observe=pf.InteractionEnergy(1.0)),
        ["observe", "dict"],
    ),
    "until is a number": (
        lambda: pf.flow(SA, MU, 1.0, until=0.999),
        ["until", "0.999", "function"],
    ),
    "progress is a number": (
        lambda: pf.flow(SA, MU, 1.0, progress=3),
        ["progress", "3"],
    ),
    "Q of another dimension": (
        lambda: pf.flow(pf.Attention(1.0, Q=np.eye(4)), MU, 1.0),
        ["Q", "(4, 4)", "3"],
    ),
    "V of another dimension": (
        lambda: pf.flow(pf.Attention(1.0, V=np.eye(2)), MU, 1.0),
        ["V", "(2, 2)", "3"],
    ),
    "Q and K do not match": (
        lambda: pf.Attention(1.0, Q=np.ones((2, 3)), K=np.ones((4, 3))),
        ["Q", "K", "(2, 3)", "(4, 3)"],
    ),
    "V not square": (
        lambda: pf.Attention(1.0, V=np.ones((2, 3))),
        ["V", "(2, 3)", "square"],
    ),
    "Q not a matrix": (lambda: pf.Attention(1.0, Q=2.0), ["Q", "matrix", "jnp.eye"]),
    "perceptron shapes": (
        lambda: pf.Perceptron(np.eye(3), np.ones((2, 3))),
        ["(d, h)", "(3, 3)", "(2, 3)"],
    ),
    "perceptron output bias": (
        lambda: pf.Perceptron(np.eye(3), np.eye(3), c=np.ones(2)),
        ["c", "(3,)", "(2,)", "row of `W`"],
    ),
    "perceptron output bias in a wrong place": (
        lambda: pf.Perceptron(np.eye(3), np.eye(3), None, np.ones(3)),
        ["activation", "jnp.tanh", "c=..."],
    ),
    "perceptron of another dimension": (
        lambda: pf.flow(pf.Perceptron(np.eye(2), np.eye(2)), MU, 1.0),
        ["A", "(2, 2)", "3"],
    ),
    "beta is a vector": (
        lambda: pf.Attention([1.0, 2.0]),
        ["beta", "one number", "(2,)"],
    ),
    "beta is a word": (lambda: pf.Attention("hot"), ["beta", "numbers", "'hot'"]),
    "beta is nothing": (lambda: pf.Attention(None), ["beta", "numbers", "None"]),
    "no heads": (lambda: pf.Heads([]), ["heads", "()", "Heads([Attention"]),
    "heads of numbers": (lambda: pf.Heads([1.0]), ["heads", "1.0"]),
    "empty sum": (lambda: pf.Sum([]), ["fields", "()"]),
    "field plus number": (lambda: SA + 1.0, ["field", "1.0"]),
    "multiple of nothing": (lambda: pf.Multiple(2.0, 3.0), ["field", "3.0"]),
    "switch times": (
        lambda: pf.Switched([SA, SA], [0.0, 1.0]),
        ["times", "2 fields", "(2,)"],
    ),
    "switch backward": (
        lambda: pf.Switched([SA, SA], [0.0, 2.0, 1.0]),
        ["times", "increase"],
    ),
    "empty product": (lambda: pf.Product([]), ["factors", "[]", "Sphere(3)"]),
    "radius": (lambda: MU.merge(-0.1), ["radius", "-0.1", "geodesic"]),
    "time outside": (
        lambda: pf.flow(SA, MU, 1.0, save=2).at(3.0),
        ["t", "[0, 1]", "3"],
    ),
    "no frames kept": (
        lambda: pf.flow(SA, MU, 1.0, save=pf.OnlyObservables(2)).points,
        ["observables", "final"],
    ),
    "chunk": (lambda: pf.Exact(chunk=0), ["chunk", "0"]),
    "until inside jit": (
        lambda: jax.jit(
            lambda b: pf.flow(pf.Attention(b), MU, 1.0, until=lambda m: True).points
        )(1.0),
        ["until", "jit"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_message_names_argument_value_and_fix(case):
    call, words = CASES[case]
    with pytest.raises(InputError) as caught:
        call()
    message = str(caught.value)
    for word in words:
        assert word in message, f"{word!r} is not in: {message}"
    assert message.endswith((".", ")", "]")) and len(message) < 400
    assert isinstance(caught.value, PushforwardError) and isinstance(
        caught.value, ValueError
    )


def test_legal_extremes():
    """What looks odd and is allowed: beta < 0, beta = 0, n = 1, equal tokens."""
    for beta in (-3.0, 0.0, 1e6, -1e6):
        v = pf.Attention(beta)(0.0, MU).v
        assert np.isfinite(v).all()
    assert pf.Particles(S3, EYE[:1]).n == 1
    same = pf.Particles(S3, np.repeat(EYE[:1], 4, axis=0))
    np.testing.assert_allclose(pf.Attention(4.0)(0.0, same).v, 0.0, atol=1e-16)


def test_points_are_never_normalized_silently():
    x = EYE * (1 + 5e-7)  # within rounding of the input format: taken as given
    np.testing.assert_array_equal(pf.Particles(S3, x).points, x)
    y = pf.Particles.normalized(S3, 7.0 * EYE).points
    np.testing.assert_allclose(y, EYE, atol=1e-16)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.npy", b"not numpy"),
        ("a.npz", b"PK\x03\x04 torn"),
        ("a.csv", b"x,y,z\n1,0,0\n"),
        ("a.txt", b"1 0 0\n1 0\n"),
        ("a.parquet", b"?"),
        ("empty.npy", b""),
    ],
)
def test_files_that_cannot_be_read(name, content, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=name.split(".")[1]):
        pf.Particles.from_file(S3, path)


def test_files_are_never_unpickled(tmp_path):
    path = tmp_path / "evil.npy"
    np.save(path, np.array([{"code": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError):
        pf.Particles.from_file(S3, path)


@pytest.mark.parametrize("suffix", ["npy", "npz", "csv", "txt"])
def test_files_that_can_be_read(suffix, tmp_path):
    path = tmp_path / f"points.{suffix}"
    if suffix == "npy":
        np.save(path, EYE)
    elif suffix == "npz":
        np.savez(path, points=EYE, weights=[0.2, 0.3, 0.5])
    else:
        np.savetxt(path, EYE, delimiter="," if suffix == "csv" else " ")
    mu = pf.Particles.from_file(S3, path)
    np.testing.assert_array_equal(mu.points, EYE)
    if suffix == "npz":
        np.testing.assert_allclose(mu.weights, [0.2, 0.3, 0.5])
