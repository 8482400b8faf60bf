"""A flow with merging in a store: killed and taken up again, every bit the same."""

import jax
import numpy as np

import pushforward as pf
from pushforward.functionals import WassersteinFisherRao


def crowd(n, seed=0):
    return pf.Particles.uniform(pf.Sphere(2), n, key=jax.random.key(seed))


def test_a_stored_run_is_taken_up_bitwise(tmp_path):
    """Killed after every frame: the same frames, mergers and clocks as in one go."""
    mu, field = crowd(40, seed=6), pf.Attention(9.0)
    options = {"merge": pf.Merge(), "observe": {"m": lambda mu: mu.mean()}}
    save = pf.LogTimes(0.1, 9)
    whole = pf.flow(field, mu, 1e12, save=save, store=tmp_path / "whole", **options)

    class Killed(Exception):
        pass

    def kill(t, measure, steps):
        if t > float(kill.after):
            kill.after = t
            raise Killed

    kill.after, tries = 0.0, 0
    while True:
        try:
            run = pf.flow(
                field,
                mu,
                1e12,
                save=save,
                store=tmp_path / "run",
                progress=kill,
                **options,
            )
            break
        except Killed:
            tries += 1
    assert tries > 3 and len(run.merges.absorbed) > 30
    again = pf.flow(field, mu, 1e12, save=save, store=tmp_path / "run", **options)
    for other in (run, again, pf.load(tmp_path / "run")):
        assert other.times.tolist() == whole.times.tolist()
        assert other.log_times.tolist() == whole.log_times.tolist()
        assert other.arc.tolist() == whole.arc.tolist()
        assert np.asarray(other.points).tolist() == whole.points.tolist()
        assert other.observed["m"].tolist() == whole.observed["m"].tolist()
        assert other.merges.into.tolist() == whole.merges.into.tolist()
        assert other.merges.log_times.tolist() == whole.merges.log_times.tolist()
        assert other.outcome == whole.outcome and int(other.steps) == int(whole.steps)


def test_frames_by_arc_length_are_stored(tmp_path):
    """How many there will be is not known; growth goes with them."""
    field = pf.GradientFlow(-pf.InteractionEnergy(2.0), WassersteinFisherRao(1.0, 0.5))
    options = {"save": pf.ArcLength(0.5), "merge": pf.Merge()}
    run = pf.flow(field, crowd(10, seed=1), 1e6, store=tmp_path / "run", **options)
    read = pf.load(tmp_path / "run")
    assert read.arc.tolist() == run.arc.tolist() and len(run) > 3
    assert np.asarray(read.weights).tolist() == run.weights.tolist()
    assert np.asarray(read.final.log_weights).tolist() == run.final.log_weights.tolist()
