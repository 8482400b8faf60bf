"""Remarks on the text, and what the paper does not do: refining and learning."""

from pushforward.studies.interpolation._runs import learned, refined
from pushforward.studies.interpolation.study import (
    Parameters,
    at_least,
    at_most,
    open_claim,
    paper,
)


def invertible_maps(p: Parameters):
    """Lemma 5.1 says more than holds."""
    return open_claim(
        "lemma 5.1 says invertible where only measurable holds",
        paper("lemma 5.1"),
        "erratum",
        "a remark on the text; the simple maps of theorem 1.2 here take few values and "
        "are not invertible",
    )


def exponential_switches(p: Parameters):
    """The number of switches of theorem 1.2."""
    return open_claim(
        "general targets may need a number of switches exponential in d",
        paper("theorem 1.2"),
        "theorem",
        "an upper bound with packing numbers of the supports: no constant to compare",
    )


def fewer_switches(p: Parameters):
    """Beyond the paper: half of the pieces by gradients."""
    run = refined(p.seed, p.steps)
    claim = f"refined from 4 pieces to 2 in {p.steps} steps: largest W_2"
    note = f"switches {run.switches_before} to {run.switches}"
    where = paper("beyond: refine")
    return at_most(claim, where, "experiment", max(run.errors), 1e-2, note)


def construction_helps(p: Parameters):
    """Plain training with the same budget."""
    ratio = max(learned(p.seed, p.steps).errors) / max(refined(p.seed, p.steps).errors)
    claim = (
        "plain training of 4 random pieces with the same steps: its W_2 over refined"
    )
    where = paper("beyond: refine")
    return at_least(claim, where, "experiment", ratio, 3.0)


CLAIMS = (
    invertible_maps,
    exponential_switches,
    fewer_switches,
    construction_helps,
)
