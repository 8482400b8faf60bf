"""What is looked at while a measure flows."""

import dataclasses
from collections.abc import Callable, Mapping

from pushforward.flows._kinds import Measure
from pushforward.flows._progress import reporter


@dataclasses.dataclass(frozen=True)
class Watch:
    """Observables by name, whether points are kept, and whom to tell."""

    observe: Mapping[str, Callable]
    keep: bool
    progress: object

    def report(self) -> Callable:
        """A function of (t, measure, steps) that shows progress."""
        return reporter(self.progress)

    def look(self, mu: Measure, as_array: Callable) -> dict:
        """Every observable of a measure."""
        return {name: as_array(f(mu)) for name, f in self.observe.items()}

    def kept(self, mu: Measure) -> Measure | None:
        """The measure itself, unless only observables were asked for."""
        return mu if self.keep else None
