"""The two scalings of the attention energy that meet a perceptron."""

import numpy as np

from pushforward._checks import positive
from pushforward.errors import InputError
from pushforward.functionals._functional import FunctionalMultiple
from pushforward.functionals._interaction import InteractionEnergy


def paper_energy(beta) -> FunctionalMultiple:
    """E_beta = (1/(2 beta)) int int e^{beta <x,y>} dmu dmu, the papers' scaling.

    `paper_energy(beta) + P` is the energy of attention with a perceptron. It overflows
    above beta = 709; there use `code_energy(beta) + exp(-beta) * P`, which is
    e^{-beta} times it. [alvarezlopez2026perceptrons]

    >>> one = Particles.orthonormal(Circle(), 1)
    >>> round(float(paper_energy(1.0)(one)), 6)  # e/2
    1.359141
    """
    b = float(positive("beta", beta, "For repulsion use InteractionEnergy(beta)."))
    with np.errstate(over="ignore"):
        scale = np.exp(b) / (2 * b)
    if not np.isfinite(scale):
        raise InputError(
            f"`beta` must be below 709 in the papers' scaling, got {b:g}. "
            "Use code_energy(beta) and multiply the potential by exp(-beta)."
        )
    return scale * InteractionEnergy(b)


def code_energy(beta) -> FunctionalMultiple:
    """(1/(2 beta)) int int e^{beta (<x,y> - 1)} dmu dmu, the scaling of published code.

    E_paper(omega) e^{-beta} = E_code(omega e^{-beta}): with the same omega the
    perceptron is e^beta stronger here. Safe for every beta > 0.
    """
    b = float(positive("beta", beta, "For repulsion use InteractionEnergy(beta)."))
    return (0.5 / b) * InteractionEnergy(b)
