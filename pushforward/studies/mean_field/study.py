"""What the study is called, which paper it follows, and its two sizes."""

import dataclasses

from pushforward.studies import AbstractParameters, statements

TITLE = "The mean-field limit: densities, particles and noise"
PAPER = "rigollet2025meanfield"
PERSPECTIVE = "geshkovski2023perspective"

within, at_least, at_most, open_claim, paper = statements("mean_field", PAPER)


@dataclasses.dataclass(frozen=True)
class Parameters(AbstractParameters):
    """Sizes; everything else is fixed by the statements.

    - `sizes`: numbers of particles that are compared with the density.
    - `replicas`: clouds per size, from independent samples.
    - `kappas`: points on each branch of the bifurcation diagram.
    """

    seed: int = 0
    sizes: tuple[int, ...] = (100, 1_000, 10_000)
    replicas: tuple[int, ...] = (12, 8, 4)
    kappas: int = 4

    @classmethod
    def full(cls) -> "Parameters":
        """To a million particles."""
        return cls(0, (100, 1_000, 10_000, 100_000, 1_000_000), (40, 20, 10, 4, 2), 14)
