"""Random experiments over everything that can be part of a run.

`experiment(seed)` draws one. Shapes are few (six tokens, d of 2 or 3), so that many
runs compile little; numbers are any floats, the odd ones among them.
"""

import hashlib
import math

import diffrax
import jax
import numpy as np
import own_parts as own

import pushforward as pf
from pushforward import observables as seen
from pushforward.errors import PushforwardError

N, T1 = 6, 0.5
ODD = (0.0, -0.0, 5e-324, 1e-300, 0.1 + 0.2, 1 / 3, math.pi, 2.0**-60, 2.0)
PRODUCT = pf.Product([pf.Circle(), pf.Euclidean(1)])
FLAT = (
    "PreNorm MixNorm PeriNorm DepthScaledNorm DepthNorm HardRelaxation LinearAttention"
).split()


class Draw:
    """What a random experiment is made of, in dimension d, on a sphere or flat."""

    def __init__(self, rng, d, flat, folder):
        self.rng, self.d, self.flat, self.folder = rng, d, flat, folder

    def one(self, choices):
        return choices[self.rng.integers(len(choices))]

    def made(self, *makers):
        """What one of these functions makes; only that one is called."""
        return self.one(makers)()

    def maybe(self, make, chance=0.5):
        return make() if self.rng.random() < chance else None

    def number(self, low=0.1, high=2.0):
        """A float with all its digits, or an integer that means one."""
        if self.rng.random() < 0.2:
            return 1
        return float(self.rng.uniform(low, high))

    def array(self, *shape):
        """Normal entries, one of them odd; now and then in single precision."""
        made = self.rng.normal(size=shape)
        made.flat[self.rng.integers(made.size)] = self.one(ODD)
        return made.astype(np.float32) if self.rng.random() < 0.1 else made

    def matrices(self):
        made = {name: self.maybe(lambda: self.array(self.d, self.d)) for name in "QKV"}
        return {name: value for name, value in made.items() if value is not None}

    def sums(self):
        circle = self.d == 2 and not self.flat
        return self.made(
            lambda: pf.Auto(self.one([1e-10, 1e-6])),
            lambda: pf.Exact(self.one([None, 3])),
            lambda: pf.Ring(1),
            lambda: pf.Nystrom(4, tol=0.5, check=2, seed=int(self.rng.integers(9))),
            lambda: pf.Spectral(1e-8) if circle else pf.Exact(2),
        )

    def activation(self):
        return self.one([jax.nn.relu, jax.nn.gelu, jax.nn.tanh, own.bent])

    def attention(self):
        return pf.Attention(self.number(), **self.matrices())

    def field(self, depth=0):
        name = self.one(LEAVES if depth else LEAVES + NESTED)
        if name in FLAT and not self.flat:
            name = "UnitNorm" if depth == 0 else "Attention"
        if name == "UnitNorm" and self.flat:
            name = "PreNorm"
        return getattr(self, name)()

    def Attention(self):
        return pf.Attention(self.number(), **self.matrices(), sums=self.sums())

    def UnnormalizedAttention(self):
        return pf.UnnormalizedAttention(
            self.number(), **self.matrices(), log_scale=-self.number()
        )

    def CausalAttention(self):
        return pf.CausalAttention(self.number(), **self.matrices())

    def DistanceAttention(self):
        return pf.DistanceAttention(self.number(), **self.matrices())

    def LinearAttention(self):
        return pf.LinearAttention(self.number(), **self.matrices())

    def SinkhornAttention(self):
        return pf.SinkhornAttention(self.number())

    def Linear(self):
        return pf.Linear(self.array(self.d, self.d), self.maybe(self.mean))

    def HardAttention(self):
        return pf.HardAttention(**self.matrices(), tie=self.one([1e-12, 1e-9]))

    def HardRelaxation(self):
        return pf.HardRelaxation(**self.matrices())

    def RescaledAttention(self):
        if not self.flat:
            return self.Attention()
        return pf.RescaledAttention(**self.matrices(), beta=self.number())

    def RescaledPerceptron(self):
        if not self.flat:
            return self.Perceptron()
        attention = pf.RescaledAttention(V=self.array(self.d, self.d))
        W = self.maybe(lambda: self.array(self.d, self.d))
        return pf.RescaledPerceptron(attention, W, self.activation())

    def PositionAttention(self):
        values = [0.0, *self.array(2).tolist(), -math.inf]
        bias = self.made(
            lambda: pf.Alibi(self.number()),
            lambda: pf.ByLag(values),
            lambda: pf.Window(3),
        )
        return pf.PositionAttention(self.number(), bias, **self.matrices())

    def DecayingAttention(self):
        modes = 3 if self.d == 2 and not self.flat else None
        return pf.DecayingAttention(
            self.number(), self.number(), log_scale=-1.0, modes=modes
        )

    def Perceptron(self):
        b = self.maybe(lambda: self.array(4))
        A = self.array(4, self.d)
        return pf.Perceptron(self.array(self.d, 4), A, b, self.activation())

    def energy(self):
        return pf.InteractionEnergy(self.number(), sums=pf.Exact())

    def functional(self):
        return self.made(
            self.energy,
            lambda: -self.energy(),
            lambda: self.energy() + self.number() * self.energy(),
            lambda: pf.PerceptronPotential(self.array(4), self.array(4, self.d)),
            lambda: pf.SinkhornEnergy(self.number()),
        )

    def GradientFlow(self):
        metric = self.made(
            pf.Wasserstein,
            pf.FisherRao,
            lambda: pf.WassersteinFisherRao(self.number(), self.number()),
            lambda: pf.SoftmaxWeighted(self.number()),
        )
        return pf.GradientFlow(self.functional(), metric)

    def Pull(self):
        target = jax.numpy.asarray(self.array(self.d))
        strength = jax.numpy.asarray(float(self.number()))
        bend = self.one([own.bent, jax.nn.tanh])
        return own.Pull(target, strength, bend, self.one(["up", 'say "no"\n\\ é']))

    def Doubled(self):
        return own.Doubled(float(self.number()), own.bent)

    def Heads(self):
        return pf.Heads([self.attention() for _ in range(2)])

    def Background(self):
        atoms = pf.Sphere(self.d).project(jax.numpy.asarray(self.array(2, self.d)))
        weights = self.maybe(lambda: self.rng.uniform(0.1, 0.5, 2))
        return pf.Background(self.attention(), atoms, weights)

    def Sum(self):
        return self.field(1) + self.field(1)

    def Multiple(self):
        return self.one([0.7, -1.0]) * self.field(1)

    def Switched(self):
        return pf.Switched([self.field(1), self.field(1)], [0.0, 0.3, 1.0])

    def PreNorm(self):
        return pf.PreNorm(self.field(1))

    def MixNorm(self):
        return pf.MixNorm(self.field(1), 0.3)

    def PeriNorm(self):
        return pf.PeriNorm(self.field(1))

    def DepthScaledNorm(self):
        return pf.DepthScaledNorm(self.field(1))

    def DepthNorm(self):
        return pf.DepthNorm(self.field(1))

    def UnitNorm(self):
        return pf.UnitNorm(self.field(1), self.number())

    def Wrapped(self):
        return own.Wrapped(self.field(1), (1, 2))

    def RandomHeads(self):
        return pf.RandomHeads(self.attention(), 2)

    def WeightsFromFile(self):
        path = self.folder / f"weights{self.d}.npz"
        np.savez(path, V=np.stack([np.eye(self.d), -np.eye(self.d)]))
        return pf.WeightsFromFile(self.attention(), path)

    def noise(self):
        return self.made(
            lambda: pf.Brownian(self.number()),
            lambda: pf.CommonNoise(self.number()),
            lambda: pf.Brownian(self.number()) + pf.CommonNoise(self.number()),
            lambda: own.Shake(jax.numpy.asarray(float(self.number()))),
            lambda: pf.GramNoise(self.number(), 0.1, draws=2),
            lambda: pf.RandomWeights(self.number(), 0.1, heads=2, head_dimension=2),
        )

    def solver(self, noise):
        if isinstance(noise, pf.GramNoise | pf.RandomWeights):
            return pf.Layers(0.125)
        fixed = [pf.Heun(0.1), pf.Layers(0.125), pf.LieTrotter(0.1)]
        fixed += [pf.Heun(1 / 7, max_steps=3), None]
        scheme = self.one([None, diffrax.Bosh3(), diffrax.Dopri5()])
        free = [pf.Adaptive(), pf.Adaptive(1e-6, 1e-9, scheme=scheme, max_steps=500)]
        return self.one(fixed if noise is not None else fixed + free)

    def start(self):
        if self.flat:
            return self.made(
                lambda: pf.Uniform(N, self.d, "euclidean", side=self.number()),
                lambda: pf.Scaled(pf.Uniform(N, self.d, "euclidean"), self.number()),
                lambda: pf.Normal(N, self.d, "euclidean", mean=self.mean()),
                lambda: pf.Clustered(N, self.d, "euclidean", centers=2),
                lambda: pf.Given(pf.Euclidean(self.d), self.array(N, self.d)),
                lambda: self.from_file("euclidean"),
            )
        return self.made(
            lambda: pf.Uniform(N, self.d),
            lambda: pf.Clustered(N, self.d, centers=3, scale=self.number()),
            lambda: pf.Clustered(N, self.d, centers=self.array(2, self.d)),
            lambda: pf.VonMisesFisher(N, self.d, self.number(), self.maybe(self.mean)),
            lambda: self.given(pf.Circle() if self.d == 2 else pf.Sphere(self.d)),
            lambda: pf.Moved(pf.Uniform(N, self.d), [1, 4], self.array(2, self.d)),
            lambda: pf.UnequalWeights(pf.Uniform(N, self.d)),
            lambda: self.from_file("sphere"),
            lambda: pf.Equispaced(N) if self.d == 2 else pf.Orthonormal(2, self.d),
            lambda: own.Arc(N) if self.d == 2 else self.given(PRODUCT),
        )

    def given(self, space):
        points = space.project(jax.numpy.asarray(self.array(N, self.d)))
        return pf.Given(
            space, points, self.maybe(lambda: self.rng.dirichlet([1.0] * N))
        )

    def mean(self):
        return self.array(self.d)

    def from_file(self, space):
        path = self.folder / f"tokens{self.d}.npy"
        np.save(path, np.sin(1.0 + np.arange(N * self.d)).reshape(N, self.d))
        return pf.FromFile(path, space)

    def observe(self):
        names = [name for name in LOOKED_AT if not (self.flat and name in ON_SPHERES)]
        chosen = self.rng.permutation(names)[: self.rng.integers(4)]
        return {str(name): LOOKED_AT[name](self) for name in chosen}

    def save(self, merging):
        times = self.one([3, [0.125, 0.25, T1], np.array([0.25, 0.375])])
        times = self.one([times, times, pf.LogTimes(0.1, 3)])
        if merging and self.rng.random() < 0.3:
            return pf.ArcLength(0.3)
        return times if self.rng.random() < 0.8 else pf.OnlyObservables(times)


# By the names that they get in the experiment.
LOOKED_AT = {
    "clusters": lambda draw: seen.ClusterCount(draw.number()),
    "largest mass": lambda draw: seen.LargestMass(0.1),
    "pairs": lambda draw: seen.ClosePairs(draw.number()),
    "energy": lambda draw: pf.InteractionEnergy(draw.number()),
    'half.of "it"': lambda draw: 0.5 * draw.functional(),
    "cosine": lambda draw: seen.mean_cosine,
    "cosines": lambda draw: seen.pair_cosines,
    "rank": lambda draw: seen.effective_rank,
    "absorbed": lambda draw: seen.Absorption([0, 1], 0.5),
    "gap": lambda draw: seen.limit_set_gap,
    "hull": lambda draw: seen.hull_volume,
    "height": lambda draw: own.height,
    "above": lambda draw: own.Above(draw.number()),
    "order": lambda draw: seen.order_parameter,
    "margin": lambda draw: seen.hemisphere_margin,
    "inside": lambda draw: seen.in_hemisphere,
    "mode": lambda draw: seen.Mode(2),
}
ON_SPHERES = ("order", "margin", "inside", "mode")
LEAVES = (
    "Attention UnnormalizedAttention CausalAttention HardAttention HardRelaxation "
    "RescaledAttention RescaledPerceptron PositionAttention DecayingAttention "
    "Perceptron GradientFlow Pull Doubled DistanceAttention LinearAttention "
    "SinkhornAttention Linear RandomHeads"
).split()
NESTED = (
    "Heads Background Sum Multiple Switched PreNorm MixNorm PeriNorm DepthScaledNorm "
    "DepthNorm UnitNorm Wrapped WeightsFromFile"
).split()


def experiment(seed, folder):
    """The random experiment of a seed; files that it reads lie in `folder`."""
    rng = np.random.default_rng(seed)
    kind = rng.random()
    for share, make in ((0.08, density), (0.12, gaussian), (0.16, with_momentum)):
        if kind < share:
            return make(rng, folder)
    draw = Draw(rng, int(rng.choice([2, 3])), rng.random() < 0.35, folder)
    noise = draw.maybe(draw.noise, 0.3)
    merge = None
    if noise is None and rng.random() < 0.15:
        merge = pf.Merge(draw.one([1e-6, 1e-3]))
    return pf.Experiment(
        draw.start(),
        draw.attention() if merge else draw.field(),
        t1=math.inf if merge and rng.random() < 0.2 else T1,
        t0=0.0 if rng.random() < 0.8 else -0.25,
        save=draw.save(merge is not None),
        solver=None if merge else draw.solver(noise),
        merge=merge,
        noise=noise,
        observe=draw.observe(),
        until=draw.maybe(lambda: own.Above(draw.number()), 0.1),
        seed=int(rng.integers(2**32)),
        dtype="float32" if rng.random() < 0.15 else "float64",
    )


def density(rng, folder):
    """A density on the circle."""
    draw = Draw(rng, 2, False, folder)
    energy = pf.InteractionEnergy(draw.number())
    field = draw.one([pf.Attention(draw.number()), pf.GradientFlow(-energy)])
    return pf.Experiment(
        draw.made(
            lambda: pf.UniformDensity(2, 8, k=2, amplitude=draw.number(0.01, 0.1)),
            lambda: pf.GivenDensity(
                pf.Fourier(2), [1.0, 0.1, 0.2, *rng.normal(0, 0.1, 2)]
            ),
        ),
        field,
        T1,
        save=3,
        noise=draw.maybe(lambda: pf.Brownian(draw.number())),
        solver=draw.one([None, pf.Heun(0.1)]),
        observe={
            "order": seen.order_parameter,
            "mode": seen.Mode(1),
            "entropy": pf.Entropy(),
            "free energy": pf.FreeEnergy(draw.number(), draw.number()),
        },
    )


def gaussian(rng, folder):
    """A Gaussian of the plane."""
    draw = Draw(rng, 2, True, folder)
    F = rng.normal(size=(2, 2))
    return pf.Experiment(
        pf.GivenGaussian(draw.mean(), F @ F.T),
        draw.made(draw.attention, draw.LinearAttention, draw.Linear),
        T1,
        save=3,
        solver=draw.one([None, pf.Heun(0.1)]),
    )


def with_momentum(rng, folder):
    """Tokens that have velocities."""
    draw = Draw(rng, 3, False, folder)
    friction = draw.made(lambda: pf.Friction(draw.number()), lambda: pf.Nesterov(3.0))
    return pf.Experiment(
        pf.AtRest(pf.Uniform(N, 3)),
        pf.Momentum(draw.attention(), friction),
        T1,
        save=3,
        solver=draw.one([None, pf.Heun(0.1)]),
    )


def digest(experiment):
    """The bits of a run, or what it was refused with."""
    try:
        run = experiment.run()
    except PushforwardError as error:
        return f"{type(error).__name__}: {error}"
    parts = (run.times, run.measures, run.final, run.observed, run.status)
    found = hashlib.sha256()
    for leaf in jax.tree_util.tree_leaves(parts):
        array = np.asarray(leaf)
        found.update(f"{array.shape}{array.dtype}".encode() + array.tobytes())
    return f"{found.hexdigest()} {run.outcome}"


def parts(folder):
    """One of every field, and many of everything else that is drawn."""
    rng = np.random.default_rng(0)
    for d, flat in ((2, False), (3, False), (3, True)):
        draw = Draw(rng, d, flat, folder)
        for name in LEAVES + NESTED:
            if flat or name not in FLAT:
                yield getattr(draw, name)()
        for _ in range(16):
            yield from (draw.start(), draw.noise(), draw.solver(None), draw.sums())
            yield from (draw.save(True), draw.PositionAttention(), draw.GradientFlow())
        yield from (draw.start() for _ in range(40))
        yield from (make(draw) for make in LOOKED_AT.values())
    for _ in range(6):
        yield from (density(rng, folder).start, gaussian(rng, folder).start)
        moving = with_momentum(rng, folder)
        yield from (moving.start, moving.field)
    yield from density(rng, folder).observe.values()
    yield pf.Merge(1e-5)
    yield pf.MomentumLayers(0.1, 0.9, 0.5)
