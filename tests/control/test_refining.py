"""Polishing schedules by gradients, and the learned baseline."""

import jax
import numpy as np
import pytest

import pushforward as pf
from pushforward.control import learn, refine, steer
from pushforward.control.steering.blocks import LayerStack
from pushforward.control.steering.objective import rolled_out, velocity
from pushforward.errors import InputError

S2 = pf.Sphere(3)
TARGETS = np.array([[1.0, 0, 0], [0, 1.0, 0]])


@pytest.fixture(scope="module")
def inputs():
    x = np.random.default_rng(0).standard_normal((2, 10, 3)) * 0.3
    shift = np.array([[[0.2, 0, 1.0]], [[-0.2, 0, 1.0]]])
    return [pf.Particles.normalized(S2, points) for points in x + shift]


@pytest.fixture(scope="module")
def steered(inputs):
    return steer(inputs, TARGETS)


def test_blocks_are_the_schedule(inputs, steered):
    """The same velocity in every piece, there and back."""
    blocks, mu = LayerStack.of(steered.field), inputs[0]
    again = blocks.schedule()
    assert np.allclose(again.times, steered.field.times)
    for k, (old, new) in enumerate(
        zip(steered.field.fields, again.fields, strict=True)
    ):
        one = jax.tree_util.tree_map(lambda leaf, k=k: leaf[k], blocks)
        v = np.asarray(old(0.0, mu).v)
        assert np.allclose(new(0.0, mu).v, v, atol=1e-14)
        assert np.allclose(velocity(one, mu.points, mu.log_weights), v, atol=1e-14)


def test_general_attention_becomes_b(inputs):
    """B = beta K^T Q."""
    rng = np.random.default_rng(1)
    Q, K, V = rng.standard_normal((3, 3, 3))
    field = pf.Attention(2.0, Q, K, V) + pf.Perceptron(Q, K, V[0])
    one = jax.tree_util.tree_map(
        lambda leaf: leaf[0], LayerStack.of(pf.Switched([field], [0.0, 1.0]))
    )
    mu = inputs[0]
    v = velocity(one, mu.points, mu.log_weights)
    assert np.allclose(v, field(0.0, mu).v, atol=1e-13)


def test_merged_pieces_run_at_the_same_time(inputs, steered):
    blocks, mu = LayerStack.of(steered.field).widened(6), inputs[0]
    both = blocks.merged(2, 3)
    one = jax.tree_util.tree_map(lambda leaf: leaf[2], both)
    T, S = np.asarray(blocks.durations[2:4])
    old = [np.asarray(f(0.0, mu).v) for f in steered.field.fields[2:4]]
    v = velocity(one, mu.points, mu.log_weights)
    assert np.allclose((T + S) * np.asarray(v), T * old[0] + S * old[1], atol=1e-13)
    assert both.count == blocks.count - 1
    assert float(both.durations.sum()) == pytest.approx(steered.horizon)


def test_the_rollout_is_the_flow(inputs, steered):
    mu = inputs[1]
    blocks = LayerStack.of(steered.field)
    end = rolled_out(blocks, mu.points, mu.log_weights, 60)
    assert np.allclose(end, steered.finals[1].points, atol=1e-5)


@pytest.mark.slow
def test_refine_to_fewer_switches(inputs, steered):
    """Half of the pieces; training does not end worse than it began."""
    run = refine(steered.field, inputs, TARGETS, pieces=2, steps=8, substeps=12)
    assert (run.switches_before, run.switches) == (3, 1)
    assert max(run.errors) < 0.05
    assert run.history.min() <= run.history[0]
    assert "switches" in str(run) and "W_2 of 1" in str(run)
    mu = inputs[0]
    end = rolled_out(LayerStack.of(run.field), mu.points, mu.log_weights, 48)
    off = np.sqrt(np.mean(np.sum((np.asarray(end) - TARGETS[0]) ** 2, axis=1)))
    assert off == pytest.approx(run.errors[0], rel=1e-6)


@pytest.mark.slow
def test_refine_to_smaller_weights_and_replay(inputs, steered):
    run = refine(
        steered.field, inputs, TARGETS, penalty=1e-2, steps=150, rate=1e-2, substeps=24
    )
    assert run.size < 0.95 * run.size_before
    assert max(run.errors) < 0.01
    end = pf.flow(run.field, inputs[0], float(run.field.times[-1]), save=2).final
    off = np.sqrt(np.mean(np.sum((np.asarray(end.points) - TARGETS[0]) ** 2, axis=1)))
    assert off == pytest.approx(run.errors[0], rel=1e-2, abs=1e-5)


@pytest.mark.slow
def test_learning_goes_down_and_is_reproducible(inputs):
    again = [
        learn(inputs, TARGETS, pieces=2, steps=6, substeps=8, key=jax.random.key(0))
        for _ in range(2)
    ]
    assert again[0].history[-1] < again[0].history[0]
    assert np.array_equal(again[0].history, again[1].history)
    assert max(again[0].errors) < max(again[0].errors_before)


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"pieces": 9}, "at most the 4"),
        ({"pieces": 0}, "`pieces` must be an integer >= 1"),
        ({"penalty": -1.0}, "`penalty` must not be negative"),
        ({"eps": 0.0}, "`eps` must be positive"),
        ({"rate": -1.0}, "`rate` must be positive"),
    ],
)
def test_refine_refuses(inputs, steered, arguments, words):
    with pytest.raises(InputError, match=words):
        refine(steered.field, inputs, TARGETS, **({"steps": 0} | arguments))


def test_only_transformer_pieces_are_refined(inputs):
    with pytest.raises(InputError, match="must be a Switched"):
        refine(pf.Attention(1.0), inputs, TARGETS)
    hard = pf.Switched(
        [pf.HardAttention(V=np.eye(3)) + pf.Perceptron(np.eye(3), np.eye(3))], [0, 1.0]
    )
    with pytest.raises(InputError, match="one Attention and one Perceptron"):
        refine(hard, inputs, TARGETS)
    with pytest.raises(InputError, match="dimension could be read"):
        refine(pf.Switched([pf.Attention(1.0)], [0.0, 1.0]), inputs, TARGETS)
