"""The experiment of a link, which may come from anywhere."""

import json

import pushforward as pf
from pushforward.errors import InputError

# What a link may name: nothing else of the library is made for a stranger.
SHOWN = frozenset(
    """Uniform Clustered Equispaced Orthonormal Normal VonMisesFisher Scaled Moved
    UnequalWeights FromFile Given Sphere Circle Euclidean
    Attention UnnormalizedAttention CausalAttention HardAttention RescaledAttention
    RandomHeads WeightsFromFile Heads Sum Perceptron UnitNorm DepthNorm
    LogTimes Adaptive Layers Heun Merge Brownian
    InteractionEnergy ClusterCount LargestMass mean_cosine
    AtRest GivenGaussian GivenDensity UniformDensity Fourier Harmonics
    PreNorm MixNorm PeriNorm DepthScaledNorm Multiple Linear Switched
    SinkhornAttention DistanceAttention LinearAttention HardRelaxation
    DecayingAttention PositionAttention Alibi Window ByLag RescaledPerceptron
    Momentum MomentumLayers Friction Nesterov CommonNoise""".split()
)


def linked_experiment(tree: object) -> pf.Experiment:
    """The experiment of a link, which may come from anywhere."""
    try:
        tree = json.loads(tree) if isinstance(tree, str) else tree
        refuse_unknown(tree)
        return pf.Experiment.from_dict(tree)  # type: ignore[arg-type]
    except InputError:
        raise
    except RecursionError as error:
        raise InputError("`experiment` is nested too deeply. Copy it again.") from error
    except (TypeError, ValueError, OverflowError, KeyError) as error:
        raise InputError(f"`experiment` cannot be read: {error}.") from error


def refuse_unknown(tree: object) -> None:
    for kind in _kinds(tree):
        if kind not in SHOWN:
            raise InputError(
                f"`experiment` has {str(kind)[:40]!r}, which links do not carry. "
                "Write it to spec.toml, then: pushforward explore spec.toml"
            )


def _kinds(tree: object):
    """Every kind that a tree names, and whatever else `io` would look up."""
    if isinstance(tree, list):
        for item in tree:
            yield from _kinds(item)
    elif isinstance(tree, dict):
        for key, value in tree.items():
            if key in ("kind", "type", "observable"):
                yield value
            else:
                yield from _kinds(value)
