"""Every public call of the library with one set of arguments that works."""

import inspect

import jax
import numpy as np

import pushforward as pf
from pushforward import control, fields, functionals, observables, statistics, transport
from pushforward.sweeps import Design
from pushforward.theory import kinetic, polytope

EYE = np.eye(3)
S3 = pf.Sphere(3)
MU = pf.Particles(S3, EYE)
RING = pf.Particles.equispaced(pf.Circle(), 3)
SA = pf.Attention(2.0)
E = pf.InteractionEnergy(2.0)
KEY = jax.random.key(0)
SHORT = pf.Adaptive(max_steps=20)
SQUARE = np.array([[1.0, 0.2], [0.2, 1.0]])
LINE = np.array([[0.1], [0.5], [0.9]])
X = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.3], [0.5, 0.5]])
A3 = np.ones(3) / 3
RUN = pf.flow(SA, MU, 1.0, save=3, solver=SHORT)

# name: (call, arguments); the fuzz replaces one argument or two.
TARGETS: dict[str, tuple] = {}


def target(name, call, /, **arguments):
    TARGETS[name] = call, arguments


def of_package():
    for name in ("Sphere", "Euclidean"):
        target(name, getattr(pf, name), d=3)
    target("Product", pf.Product, factors=[S3, pf.Circle()])
    target("Particles", pf.Particles, space=S3, points=EYE, weights=None)
    target("Particles.normalized", pf.Particles.normalized, space=S3, points=EYE)
    for name in ("uniform", "gaussian", "orthonormal", "clustered"):
        make = getattr(pf.Particles, name)
        known = {"space": S3, "n": 3, "key": KEY, "centers": 2, "scale": 0.1}
        target(f"Particles.{name}", make, **required(make, known))
    target("Particles.equispaced", pf.Particles.equispaced, space=pf.Circle(), n=3)
    target(
        "vonmises_fisher", pf.Particles.vonmises_fisher,
        space=S3, n=3, mean=EYE[0], kappa=2.0, key=KEY,
    )  # fmt: skip
    target("merge", lambda radius: MU.merge(radius), radius=0.1)
    target("from_file", pf.Particles.from_file, space=S3, path="nowhere.npy")
    target("Exact", pf.Exact, chunk=2)
    target("Auto", pf.Auto, tol=1e-8)
    target("Nystrom", pf.Nystrom, rank=2, tol=1e-8, check=2, seed=0)
    target("Spectral", pf.Spectral, tol=1e-8)
    of_fields()
    for name in ("Heun", "Layers", "LieTrotter"):
        target(name, getattr(pf, name), h=0.1, max_steps=10)
    target("MomentumLayers", pf.MomentumLayers, gamma=0.1, b=0.9, mu=0.9, max_steps=10)
    target("Adaptive", pf.Adaptive, rtol=1e-8, atol=1e-8, scheme=None, max_steps=10)
    target("Brownian", pf.Brownian, sigma=0.1)
    target("Merge", pf.Merge, radius=0.1)
    target("ArcLength", pf.ArcLength, step=0.1)
    target("cite", lambda x: pf.cite(x), x="Attention")
    target("key_for", pf.key_for, seed=1, purpose="fuzz")
    target("load", pf.load, path="nowhere")
    target("at", RUN.at, t=0.5)
    target(
        "flow", pf.flow, field=SA, mu=MU, t1=1.0, t0=0.0, save=3, solver=SHORT,
        merge=None, noise=None, observe={"E": E}, until=None, key=None, store=None,
    )  # fmt: skip


def of_densities_and_noise():
    for name in ("Fourier", "Harmonics"):
        target(name, getattr(pf, name), resolution=4)
    target("Zonal", pf.Zonal, d=4, resolution=4)
    target(
        "Density",
        pf.Density,
        basis=pf.Fourier(2),
        coefficients=[1.0, 0.1, 0.0, 0.1, 0.0],
    )
    target("Density.sample", pf.Density(pf.Fourier(2)).sample, n=5, key=KEY)
    gaussian = {"center": np.zeros(2), "covariance": SQUARE}
    for name in ("Gaussian", "GivenGaussian"):
        target(name, getattr(pf, name), **gaussian)
    target("Gaussian.sample", pf.Gaussian(**gaussian).sample, n=5, key=KEY)
    target("Gaussian.quadrature", pf.Gaussian(**gaussian).quadrature, nodes=3)
    target("AtRest", pf.AtRest, start=pf.Uniform(3, 3))
    target("CommonNoise", pf.CommonNoise, sigma=0.1)
    target("NoiseSum", pf.NoiseSum, terms=[pf.Brownian(0.1), pf.CommonNoise(0.1)])
    target("GramNoise", pf.GramNoise, beta=1.0, sigma=0.5, draws=4, head_dimension=2)
    target("RandomWeights", pf.RandomWeights, beta=1.0, sigma=0.5, heads=2,
           head_dimension=2)  # fmt: skip
    target("ensemble", pf.ensemble, by=pf.RandomWeights(1.0, 0.5), mu=MU, layers=2,
           h=0.1, observe=pf.observables.mean_cosine, replicas=2, key=KEY, every=1,
           batch=4)  # fmt: skip
    target("DecayingAttention", pf.DecayingAttention, beta=1.0, decay=1.0,
           log_scale=0.0, modes=None)  # fmt: skip
    target("PositionAttention", pf.PositionAttention, beta=1.0, bias=fields.Alibi(1.0),
           Q=EYE, K=EYE, V=EYE)  # fmt: skip
    target("NormalizingFlow", pf.NormalizingFlow, w=EYE, a=EYE, b=np.ones(3),
           durations=np.ones(3), base=None, given=())  # fmt: skip
    target("RescaledPerceptron", pf.RescaledPerceptron,
           attention=pf.RescaledAttention(V=EYE), W=EYE)  # fmt: skip


def of_fields():
    weights = {"Q": EYE, "K": EYE, "V": EYE}
    for name in ("Attention", "UnnormalizedAttention", "CausalAttention"):
        target(name, getattr(pf, name), beta=1.0, **weights)
    for call in (pf.Attention, pf.CausalAttention):  # USA overflows, and flows say so
        name = f"{call.__name__}()"
        target(name, lambda beta, call=call: call(beta)(0.0, MU), beta=1.0)
    for name in ("DistanceAttention", "LinearAttention", "SinkhornAttention"):
        target(name, getattr(pf, name), beta=1.0, **weights)
    target("Linear", pf.Linear, W=EYE, b=np.ones(3))
    for name in ("HardAttention", "HardRelaxation"):
        target(name, getattr(pf, name), **weights, tie=1e-12)
    target("RescaledAttention", pf.RescaledAttention, **weights, beta=1.0)
    target("Heads", pf.Heads, heads=[SA, SA])
    target("Sum", pf.Sum, fields=[SA, SA])
    target("Multiple", pf.Multiple, c=2.0, field=SA)
    target("Switched", pf.Switched, fields=[SA, SA], times=[0.0, 1.0, 2.0])
    target("Perceptron", pf.Perceptron, W=EYE, A=EYE, b=np.ones(3))
    for name in ("PreNorm", "PeriNorm", "DepthNorm", "DepthScaledNorm"):
        target(name, getattr(pf, name), field=SA)
    target("Momentum", pf.Momentum, field=SA, friction=pf.Friction(0.1))
    target("Friction", pf.Friction, a=0.1)
    target("Nesterov", pf.Nesterov, r=3.0)
    target("at_rest", pf.at_rest, mu=MU)
    target("positions", pf.positions, mu=pf.at_rest(MU))
    target("TangentBundle", pf.TangentBundle, base=S3)
    target("SinkhornEnergy", pf.SinkhornEnergy, beta=1.0)
    target("FreeEnergy", pf.FreeEnergy, beta=1.0, kappa=0.5)
    target("MixNorm", pf.MixNorm, field=SA, switch=1.0)
    target("UnitNorm", pf.UnitNorm, field=SA, alpha=1.0)
    target("GradientFlow", pf.GradientFlow, F=E, metric=pf.Wasserstein())
    target("WassersteinFisherRao", pf.WassersteinFisherRao, transport=1.0, reaction=1.0)
    for name in ("InteractionEnergy", "SoftmaxWeighted"):
        target(name, getattr(pf, name), beta=1.0)
    target("energy()", lambda beta: pf.InteractionEnergy(beta)(MU), beta=1.0)
    target("FunctionalMultiple", pf.FunctionalMultiple, c=2.0, F=E)
    target("FunctionalSum", pf.FunctionalSum, terms=[E, E])
    target(
        "PerceptronPotential", pf.PerceptronPotential,
        omega=np.ones(3), A=EYE, b=np.zeros(3),
    )  # fmt: skip
    target("Alibi", fields.Alibi, slope=1.0)
    target("Window", fields.Window, width=2)
    target("ByLag", fields.ByLag, values=[0.0, -1.0])
    target("paper_energy", functionals.paper_energy, beta=1.0)


def of_observables():
    for name in ("Clusters", "ClusterCount", "LargestMass"):
        call = getattr(observables, name)
        target(name, lambda radius, mu, c=call: c(radius)(mu), radius=0.1, mu=MU)
    target("Centers", lambda r, mu: observables.Centers(r)(mu), r=0.1, mu=MU)
    target("ClosePairs", lambda c, mu: observables.ClosePairs(c)(mu), c=0.9, mu=MU)
    target("attention_entropy", observables.attention_entropy, A=np.ones((3, 3)) / 3)
    target("attention_matrix", observables.attention_matrix, mu=MU, beta=1.0, Q=EYE)
    target("attention_rank", observables.attention_rank, A=EYE, tolerance=0.1)
    target("leaders", observables.leaders, A=EYE, threshold=0.5)
    target("cosine_histogram", observables.cosine_histogram, mu=MU, bins=10)
    target("distance_to_set", observables.distance_to_set, mu=MU, targets=EYE)
    plain = "effective_rank hemisphere_margin in_hemisphere mean_cosine"
    for name in f"{plain} order_parameter pair_cosines".split():
        target(name, getattr(observables, name), mu=RING)


def of_transport():
    g = transport.Gaussian(np.zeros(2), np.eye(2))
    h = transport.Gaussian(np.ones(2), 2 * np.eye(2))
    target("Gaussian", transport.Gaussian, mean=np.zeros(2), covariance=np.eye(2))
    target("Atoms", transport.Atoms, points=EYE, weights=np.ones(3) / 3)
    target("CostTable", transport.CostTable, table=EYE)
    for name in ("DistancePower", "SphereDistance"):
        target(name, getattr(transport, name), p=2.0)
    target("SpaceDistance", transport.SpaceDistance, space=pf.Circle(), p=2.0)
    target("TorusDistance", transport.TorusDistance, period=1.0, p=2.0)
    for name in ("line_distance", "line_plan", "circle_distance", "circle_plan"):
        target(name, getattr(transport, name), mu=LINE, nu=LINE[::-1], p=2.0)
    for name in ("optimal_plan", "wasserstein_distance", "nearest_neighbor_map"):
        target(name, getattr(transport, name), mu=EYE, nu=EYE[::-1])
    target(
        "rounded", transport.rounded, matrix=EYE / 3, a=np.ones(3) / 3, b=[1 / 3] * 3
    )
    for name in ("gaussian_distance", "gaussian_map"):
        target(name, getattr(transport, name), mu=g, nu=h)
    target("gaussian_kl", transport.gaussian_kl, mu=g, target=h)
    for name in ("map", "value"):
        call = getattr(transport, f"entropic_gaussian_{name}")
        target(call.__name__, call, mu=g, nu=h, eps=0.1)
    target("jko_step", transport.jko_step, mu=g, target=h, h=0.1)
    target("squared_distance_to_normal", transport.squared_distance_to_normal,
           mu=LINE, mean=0.0, sd=1.0)  # fmt: skip
    target("power_distance_to_uniform", transport.power_distance_to_uniform,
           mu=LINE, p=2.0)  # fmt: skip
    target("gromov_plan", transport.gromov_plan, A=EYE, B=EYE, iterations=5)
    target("sliced", transport.sliced_distance, mu=X, nu=X, projections=5, seed=0)


def of_statistics():
    A = np.random.default_rng(0).normal(size=(6, 2))
    for name in ("gulp", "gulp_standard_error"):
        target(name, getattr(statistics, name), A=A, B=A + 0.1, lambdas=0.1)
    for name in ("cca", "cka", "procrustes"):
        target(name, getattr(statistics, name), A=A, B=A + 0.1)
    target("classical_scaling", statistics.classical_scaling, distances=1 - EYE,
           dimension=2)  # fmt: skip
    target(
        "align_covariances", statistics.align_covariances, A=SQUARE, B=SQUARE, seed=0
    )
    target("MassGate", statistics.MassGate, gap=0.01)
    target("PpmGate", statistics.PpmGate, ppm=15.0)
    target("SparseGromov", statistics.SparseGromov, rho=0.1, eps=0.1, tol=1e-6)
    target("QuasiLikelihood", statistics.QuasiLikelihood, ridge=0.1)
    target("FeatureTable", statistics.FeatureTable, ids=["a", "b"],
           mz=np.array([1.0, 2.0]), rt=np.array([1.0, 2.0]),
           intensities=np.arange(6.0).reshape(3, 2))  # fmt: skip
    target("align_studies", statistics.align_studies, X=A, Y=A + A[::-1], starts=1,
           draws=1, seed=0)  # fmt: skip
    target("SampleRoles", statistics.SampleRoles, blanks=None, controls=None,
           blank_ratio=3.0, control_spread=0.3)  # fmt: skip
    target("parse_columns", statistics.parse_columns, text="mz=a")
    target("read_table", statistics.read_table, path="nowhere.csv")
    target("read_representation", statistics.read_representation, path="nowhere.npy")


def of_control():
    target("LinearQuadratic", control.LinearQuadratic, A=np.eye(2), B=np.eye(2),
           C=np.eye(2), z=np.ones(2), R=np.eye(2))  # fmt: skip
    for name in ("L2", "H1"):
        target(name, getattr(control, name), lam=0.1)
    target("L1", control.L1, lam=0.1, bound=1.0)
    target("Adam", control.Adam, rate=0.1, steps=10, batch=None)
    target("LBFGS", control.LBFGS, steps=10, memory=3, tolerance=1e-6)
    target("Readout", control.Readout, P=np.ones((1, 2)), c=np.zeros(1))
    for name in ("WeightsInside", "WeightsOutside"):
        target(name, getattr(control, name), d=2)
    target("Bottleneck", control.Bottleneck, d=2, hidden=3)


def of_experiments():
    """Starts are drawn, experiments run: what they are made of is checked by then."""
    sizes = {"n": 3, "d": 3, "space": "sphere"}
    start = pf.Uniform(3, 3)
    rows = {"tokens": [0], "points": EYE[:1]}
    starts = {
        "Uniform": sizes | {"side": 1.0},
        "Normal": sizes | {"mean": EYE[0], "scale": 0.5},
        "Clustered": sizes | {"centers": 2, "scale": 0.2},
        "VonMisesFisher": {"n": 3, "d": 3, "kappa": 4.0, "mean": EYE[0]},
        "Equispaced": {"n": 3},
        "Orthonormal": sizes,
        "Given": {"space": S3, "points": EYE, "weights": A3},
        "FromFile": {"path": "nowhere.npy", "space": "sphere"},
        "Moved": {"start": start} | rows,
        "UnequalWeights": {"start": start},
        "UniformDensity": {"d": 2, "resolution": 4, "k": 1, "amplitude": 0.1},
        "GivenDensity": {"basis": pf.Fourier(1), "coefficients": [1.0, 0.1, 0.0]},
        "Scaled": {"start": pf.Uniform(3, 3, "euclidean"), "factor": 2.0},
    }
    for name, good in starts.items():
        make = getattr(pf, name)
        target(name, lambda make=make, seed=0, **a: make(**a)(seed), seed=0, **good)
    for name, good in (
        ("RandomHeads", {"heads": 2}),
        ("WeightsFromFile", {"path": "nowhere.npz"}),
    ):
        make = getattr(pf, name)
        target(name, lambda d, seed, make=make, **a: make(**a).drawn(d, seed),
               field=SA, **good, d=3, seed=0)  # fmt: skip
    whole = {
        "start": start, "field": SA, "t1": 1.0, "t0": 0.0, "save": 3, "solver": SHORT,
        "merge": None, "noise": None, "observe": {"E": E}, "until": None, "seed": 0,
        "dtype": "float64",
    }  # fmt: skip
    target("Experiment", lambda **a: pf.Experiment(**a).run(), **whole)
    one = pf.Experiment(**whole)
    target("Experiment.vary", lambda name, value: one.vary(**{str(name): value}),
           name="field.beta", value=3.0)  # fmt: skip
    target("Experiment.read", one.read, name="field.beta")
    target("Experiment.from_dict", pf.Experiment.from_dict, tree=one.to_dict(),
           classes=())  # fmt: skip
    target("Experiment.from_toml", pf.Experiment.from_toml, text=one.to_toml())
    target("Experiment.of_run", pf.Experiment.of_run, path="nowhere")
    design = {"run": one, "grid": {"field.beta": [1.0]}, "statistic": "mean_cosine",
              "replicas": 1, "random": None}  # fmt: skip
    target("Design", lambda **a: Design(**a).work(), **design)
    target("sweep", pf.sweep, design=Design(**design), out="sweep", scheduler=None,
           retry=False, progress=False)  # fmt: skip


def of_stability():
    target("Background", lambda t, **a: pf.Background(**a)(t, MU), t=0.0, field=SA,
           atoms=EYE[:2], weights=[0.1, 0.2])  # fmt: skip
    target("linearize", lambda **a: pf.linearize(**a).spectrum(), field=SA, mu=MU,
           t=0.0)  # fmt: skip
    target("hessian", lambda **a: pf.hessian(**a).spectrum(), F=E, mu=MU)
    for name, map_ in (("J", pf.linearize(SA, MU)), ("H", pf.hessian(E, MU))):
        target(f"{name}.mv", map_.mv, **{"v" if name == "J" else "xi": EYE[::-1]})
        target(f"{name}.unstable", map_.unstable, tol=1e-9)
    grows = pf.linearize(pf.GradientFlow(E, pf.FisherRao()), MU)
    target("J.mv grows", lambda **a: grows.mv(fields.Motion(**a)), v=EYE[::-1],
           g=np.ones(3))  # fmt: skip
    target("J.vjp", pf.linearize(SA, MU).vjp, v=EYE[::-1])
    target("J.leading", pf.linearize(SA, MU).leading, count=2)
    target("H.lowest", pf.hessian(E, MU).lowest, count=2)
    target("H.index", pf.hessian(E, MU).index, tol=1e-9)


# One plausible value per parameter of the closed forms; most are plain numbers.
VALUES = {
    "beta": 20.0, "c": 2.0, "t_max": 5.0, "alpha": 0.9, "u_0": 0.1, "lam": 0.1,
    "n": 5, "d": 3, "k": 2, "k_max": 3, "index": 3, "n_free": 4, "arcs": 2,
    "V": EYE, "Q": None, "K": None, "B": None, "A": None, "points": X, "x_0": EYE[0],
    "vertices": X[:3], "x": 0.3, "centers": EYE, "angles": [0.1, 1.0, 2.5],
    "masses": [0.2, 0.3, 0.5], "omega": [1.0, 0.5], "activated_targets": X,
    "start": 0.2, "delta": 0.1, "epsilon": 0.01, "share": 0.3, "r": 0.5, "r_0": 0.5,
    "w": 0.5, "w_0": 0.5, "highest": 1.0, "exponent": 2.0, "frequency": 2,
    "modes": 6, "codewords": 8, "decay": 1.0, "source": 0.5, "nodes": 12, "draws": 20,
    "seed": 0, "heads": 2, "head_dimension": 2, "gram": SQUARE, "barycenters": SQUARE,
    "softmax": False, "stable": True, "times": [0.0, 0.5],
    "rates": np.array([0.5, 1.0]), "kappas": np.array([1.0, 3.0]),
}  # fmt: skip


SPECIAL = {
    "depth.tracking_rates": {"omega": 1.0},
    "depth.sparse_scalar": {"t1": 10.0, "bound": 2.0},
    "depth.sparse_logistic": {"t1": 10.0, "bound": 2.0},
    "metastability.is_separated": {"points": EYE},
    "turnpike.wave_null_control": {"t1": 4.0},
    "homogenized_pair.pair_expectation": {"f": np.abs},
    "kinetic.retrieval_of_heads": {"heads": [kinetic.Head(1.0, 1.0, 1.0)]},
    "kinetic.wells": {"profile": np.cos, "low": 0.1, "high": 0.9},
    "kinetic.correlation": {"sigma": 0.9},
    "kinetic.position_kernel": {"sigma": 0.9},
    "kinetic.minimum": {"beta": 1.0},
    "kinetic.retrieval": {"beta": 1.0},
    "kinetic.retrieval_slope": {"beta": 1.0},
    "kinetic_lattice.lattice_retrieval": {"beta": 1.0},
    "kinetic_mean_field.density_modes": {"beta": 1.0, "first": 0.1},
    "landscape.uniform_energy": {"A": np.eye(2)},
    "landscape.weight_size": {"A": np.eye(2)},
    "gaussian_tokens.moments": {
        "A": SQUARE,
        "V": np.eye(2),
        "mean": [0.1, 0.2],
        "covariance": SQUARE,
        "t": 0.1,
    },
    "gaussian_tokens.covariance_by_identity": {
        "A": SQUARE,
        "covariance": SQUARE,
        "t": 0.1,
    },
    "gaussian_tokens.blow_up": {"A": SQUARE, "covariance": SQUARE},
    "gaussian_tokens.with_linear_layer": {"va": -1.0},
    "gaussian_tokens.squared_distance_attention": {"V": 0.5},
    "gaussian_tokens.sinkhorn_attention": {"V": 0.5},
    "momentum.undamped_time": {"beta": 3.0},
    "momentum.first_order_time": {"beta": 3.0},
    "momentum.damped_time": {"beta": 3.0},
    "momentum.nesterov_time": {"beta": 3.0},
    "frank_wolfe.hardmax_layers": {"steps": [0.5, 0.3], "B": np.eye(2)},
    "frank_wolfe.hull_limit": {"steps": [0.5, 0.3], "B": np.eye(2)},
    "frank_wolfe.pair_layers": {"beta": 3.0},
    "density_modes.in_window": {"beta": 2.0, "omega": 1.0},
    "negative_beta.three_clusters_threshold": {"p": 1, "q": 2},
    "normalization.normalized": {"scheme": "pre"},
    "normalization.time_to": {"scheme": "pre", "beta": 1.0},
    "normalization.initial_speed": {"scheme": "pre"},
    "normalization.end_constant": {"beta": 1.0},
    "transition.ordered_state": {"beta": 4.0, "kappa": 1.0},
    "noisy.stationary_modes": {"beta": 1.0, "kappa": 3.0},
    "noisy.bifurcation": {"beta": 1.0},
    "noisy.common_noise_path": {"z_0": 0.2, "increments": 0.1 * np.ones((2, 2))},
}


def of_theory():
    for subject, home in vars(pf.theory).items():
        if subject.startswith("_") or not inspect.ismodule(home):
            continue
        for name, call in vars(home).items():
            own = inspect.isfunction(call) and call.__module__ == home.__name__
            if own and not name.startswith("_"):
                names = inspect.signature(call).parameters
                target(f"{subject}.{name}", call,
                       **{p: VALUES.get(p, 0.5) for p in names})  # fmt: skip
    for name, change in SPECIAL.items():
        call, arguments = TARGETS[name]
        TARGETS[name] = call, arguments | change
    x = {"x": X[:1]}
    call, arguments = TARGETS["polytope.hardmax_cells"]
    assert call is polytope.hardmax_cells
    TARGETS["polytope.hardmax_cells"] = call, arguments | x


def required(call, known: dict) -> dict:
    parameters = inspect.signature(call).parameters.values()
    return {p.name: known[p.name] for p in parameters if p.name in known}


for part in (
    of_package,
    of_densities_and_noise,
    of_observables,
    of_transport,
    of_statistics,
    of_control,
    of_experiments,
    of_stability,
):
    part()
of_theory()
