"""An experiment is one thing in four forms: object, TOML, JSON, Python."""

import json

import jax
import numpy as np
import own_parts as own
import pytest

import pushforward as pf
from pushforward import studies
from pushforward.errors import InputError

SMALL = pf.Experiment(
    pf.Uniform(6, 3),
    pf.Attention(4.0),
    1.0,
    save=3,
    observe={"energy": pf.InteractionEnergy(4.0)},
)
RICH = pf.Experiment(
    pf.Clustered(8, 3, centers=3, scale=0.1),
    pf.PreNorm(
        pf.Heads([pf.Attention(2.0), pf.Attention(3.0, V=-np.eye(3))])
        + 0.5 * pf.Perceptron(np.eye(3), np.eye(3), activation=jax.nn.gelu)
    ),
    1.0,
    save=pf.LogTimes(0.1, 3),
    solver=pf.Heun(0.05),
    noise=pf.CommonNoise(0.1) + pf.Brownian(0.2),
    observe={
        "energy": pf.InteractionEnergy(2.0),
        "cosine": pf.observables.mean_cosine,
        "clusters": pf.observables.ClusterCount(0.1),
    },
    seed=3,
)
STARTS = [
    pf.Uniform(5, 2),
    pf.Uniform(5, 2, "euclidean", side=5.0),
    pf.Normal(5, 3, scale=0.3),
    pf.Clustered(5, 3, centers=[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
    pf.VonMisesFisher(5, 3, kappa=7.0, mean=[0.0, 0.0, 1.0]),
    pf.Equispaced(5),
    pf.Orthonormal(3, 4),
    pf.Given(pf.Circle(), [[1.0, 0.0], [0.0, 1.0]], [0.25, 0.75]),
    pf.Moved(pf.Uniform(5, 3), [1, 4], [[0.0, 0.0, 2.0], [1.0, 0.0, 0.0]]),
    pf.UnequalWeights(pf.Uniform(5, 3)),
    pf.UniformDensity(2, 8, amplitude=0.1),
]


START = 't1 = 2\n[start]\nkind = "Uniform"\n'
FIELD = """[field]
kind = "Heads"
heads = [{kind = "Attention", beta = 1.0}, {kind = "Attention", beta = 2.0}]
"""


def same_bits(a, b):
    left, right = jax.tree.leaves(a), jax.tree.leaves(b)
    return len(left) == len(right) and all(
        np.array_equal(x, y) for x, y in zip(left, right, strict=True)
    )


@pytest.mark.parametrize("experiment", [SMALL, RICH], ids=["small", "rich"])
def test_toml_and_json_are_the_experiment(experiment):
    text = experiment.to_toml()
    assert pf.Experiment.from_toml(text) == experiment
    assert pf.Experiment.from_toml(text).to_toml() == text
    tree = json.loads(json.dumps(experiment.to_dict()))
    assert pf.Experiment.from_dict(tree) == experiment


@pytest.mark.parametrize("start", STARTS, ids=lambda s: type(s).__name__)
def test_every_start_keeps_its_bits_through_text(start):
    experiment = pf.Experiment(start, pf.Attention(1.0), 1.0, seed=2)
    copy = pf.Experiment.from_toml(experiment.to_toml())
    assert same_bits(copy.measure, experiment.measure)
    made = {}
    exec(experiment.to_python().split("trajectory =")[0], made)
    assert same_bits(made["experiment"].measure, experiment.measure)


def test_a_start_depends_on_the_seed_alone():
    a = pf.Uniform(5, 3)(0)
    assert same_bits(a, pf.Uniform(5, 3)(0))
    assert not np.array_equal(a.points, pf.Uniform(5, 3)(1).points)
    moved = pf.Moved(pf.Uniform(5, 3), [1], [[0.0, 0.0, 2.0]])(0)
    assert np.array_equal(moved.points[0], a.points[0])
    assert moved.points[1].tolist() == [0.0, 0.0, 1.0]


def test_run_is_flow():
    mu = pf.Particles.uniform(pf.Sphere(3), 6, key=pf.key_for(0, "tokens"))
    run = pf.flow(pf.Attention(4.0), mu, 1.0, save=3)
    assert same_bits(SMALL.run().measures, run.measures)


def test_dotted_names_read_and_vary():
    assert RICH.read("field.field.fields[0].heads[1].V").shape == (3, 3)
    varied = RICH.vary(
        **{
            "field.field.fields[0].heads[1].beta": 7.0,
            "field.field.fields[0].heads[1].V[0,0]": 5.0,
            "noise.terms[0].sigma": 0.4,
            "start.n": 4,
            "observe.energy.beta": 9.0,
        }
    )
    head = varied.field.field.fields[0].heads[1]
    assert float(head.beta) == 7.0 and float(head.V[0, 0]) == 5.0
    assert float(varied.noise.terms[0].sigma) == 0.4
    assert varied.start.n == 4 and float(varied.observe["energy"].beta) == 9.0
    assert float(RICH.field.field.fields[0].heads[1].beta) == 3.0  # nothing moved
    assert {"start.n", "noise.terms[1].sigma", "t1", "seed"} <= set(RICH.numbers())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('t1 = 2\n[field]\nkind = "Attentoin"', "field.kind.*mean 'Attention'"),
        ('t1 = 2\n[field]\nkind = "Attention"\nbta = 3', "field.bta.*mean 'beta'"),
        ("t11 = 2", "no 't11'. Did you mean 't1'"),
        ('t1 = 2\n[field]\nkind = "Attention"\nbeta = 3', "no `start`"),
        ("t1 = [", "not TOML"),
        ('t1 = 2\n[field]\nkind = "flow"', "field.kind"),
        ('t1 = 2\n[field]\nkind = "os:system"', "class of your own"),
        ("t1 = 2\n[field]\nbeta = 3", "`field.kind` is missing"),
        ('t1 = 2\nfield = "Attention"', "`field` must be a table with its kind"),
        ("t1 = 2\nmerge = true", '`merge` must be a table.* merge = {kind = "Merge"}'),
        ('t1 = 2\n[field]\nkind = "Attention"', "`field.beta` is missing: Attention"),
        (START + "n = -3\n" + FIELD, "`start.n` must be .* got -3"),
        (
            START + FIELD.replace("2.0", '"two"'),
            r"`field.heads\[1\].beta` must be numbers, got 'two'",
        ),
        (
            START + '[field]\nkind = "Perceptron"\nW = [[1.0]]\nA = [[1.0]]\n'
            'activation = "gleu"',
            "`field.activation`: unknown name 'gleu'",
        ),
    ],
)
def test_wrong_texts_name_the_key_and_what_was_meant(text, words):
    with pytest.raises(InputError, match=words):
        pf.Experiment.from_toml(text)


WRONG = {
    "matrix": ({"field": pf.Attention(1.0, V=np.eye(2))}, "`V` must act on points"),
    "partition": ({"observe": {"c": pf.observables.Clusters(0.1)}}, "'c' gives Part"),
    "taken": ({"observe": {"points": pf.observables.mean_cosine}}, "name 'points'"),
    "merged": ({"merge": pf.Merge(), "noise": pf.Brownian(0.1)}, "`merge` works"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_run_is_refused_before_anything_is_written(name, tmp_path):
    changes, words = WRONG[name]
    with pytest.raises(InputError, match=words):
        SMALL.vary(**changes).run(store=tmp_path / "run")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("look", [3, pf.Attention(1.0)], ids=repr)
def test_only_functions_of_a_measure_are_observed(look):
    with pytest.raises(InputError, match="`observe` must hold functions of the meas"):
        SMALL.vary(observe={"x": look})


def test_wrong_names_say_what_is_there():
    with pytest.raises(InputError, match="no 'bta'. Did you mean 'beta'"):
        SMALL.vary(**{"field.bta": 2.0})
    with pytest.raises(InputError, match="no entry 7"):
        RICH.read("field.field.fields[7]")
    with pytest.raises(InputError, match="not a dotted name"):
        SMALL.read("field..beta")
    with pytest.raises(InputError, match="`n` must be an integer"):
        SMALL.vary(**{"start.n": 0})


def test_an_observable_cannot_have_a_name_that_texts_need():
    with pytest.raises(InputError, match="the name 'array', which texts"):
        SMALL.vary(observe={"array": pf.observables.mean_cosine})


def test_options_are_an_experiment():
    made = pf.experiments.options(n=8, d=2, beta=3.0, t1=1.0, model="usa", heads=2)
    assert pf.Experiment.from_toml(made.to_toml()) == made
    heads = made.drawn_field(2)
    assert len(heads.heads) == 2 and heads.heads[0].Q.shape == (2, 2)
    assert float(heads.heads[0].log_scale) == -3.0
    with pytest.raises(InputError, match="no 'cusal'. Did you mean 'causal'"):
        pf.experiments.options(model="cusal")


def test_times_may_be_numbers_of_numpy():
    times = list(np.linspace(0.0, 1.0, 3))
    experiment = pf.Experiment(pf.Uniform(4, 3), pf.Attention(1.0), 1.0, save=times)
    assert pf.Experiment.from_toml(experiment.to_toml()) == experiment
    assert "save=[0.0, 0.5, 1.0]" in experiment.to_python()


def test_random_heads_may_stand_anywhere_in_a_field():
    heads = pf.RandomHeads(pf.Attention(2.0), 2)
    block = pf.PreNorm(heads + pf.Perceptron(np.eye(3), np.eye(3)) + heads)
    start = pf.Uniform(4, 3, "euclidean")
    experiment = pf.Experiment(start, block, 0.5, save=2, solver=pf.Heun(0.25))
    assert pf.Experiment.from_toml(experiment.to_toml()) == experiment
    first, _, second = experiment.drawn_field(3).field.fields
    assert same_bits(first, heads.drawn(3, 0))  # as if it stood alone
    assert not np.array_equal(first.heads[0].Q, second.heads[0].Q)
    run = experiment.run()
    assert same_bits(run.field, experiment.drawn_field(3))
    both = [experiment, experiment.vary(seed=1)]
    many = pf.experiments.ensemble(both, [pf.observables.effective_rank] * 2)
    rank = float(pf.observables.effective_rank(run.final))
    assert many.values[0, -1] == pytest.approx(rank, rel=1e-12)


def test_heads_without_their_weights_are_refused_by_flow():
    with pytest.raises(InputError, match="gets its weights from an experiment"):
        pf.flow(pf.RandomHeads(pf.Attention(2.0)), SMALL.measure, 1.0, save=2)


@pytest.mark.parametrize("solver", [None, pf.Heun(0.25), pf.Layers(0.25)], ids=repr)
def test_numbers_of_ones_own_field_may_be_finer_than_the_tokens(solver):
    pull = own.Pull(jax.numpy.ones(3), jax.numpy.asarray(1.0), own.bent)
    noise = None if solver is None else own.Shake(jax.numpy.asarray(0.1))
    parts = {"save": 2, "solver": solver, "noise": noise, "dtype": "float32"}
    experiment = pf.Experiment(pf.Uniform(4, 3), pull, 0.5, **parts)
    assert experiment.run().final.points.dtype == "float32"


def check_study(name):
    for experiment in studies.experiments(name).values():
        own = [pf.functionals.exact_gelu]  # functions are named, also ours
        assert pf.Experiment.from_toml(experiment.to_toml(), classes=own) == experiment
        made = {}
        exec(experiment.to_python().split("trajectory =")[0], made)
        assert made["experiment"] == experiment


def test_a_class_of_a_study_is_read_without_naming_it():
    check_study("homogenized")


@pytest.mark.slow
@pytest.mark.parametrize("name", studies.names())
def test_runs_of_studies_have_texts(name):
    check_study(name)
