"""Every figure of the study."""

from pushforward.studies.perspective import (
    _figure_circle,
    _figure_energy,
    _figure_phase,
)

FIGURES = {
    "figure-3-phase-diagrams": (
        _figure_phase.compute_phase,
        _figure_phase.draw_phase,
    ),
    "figure-5-random-weights": (
        _figure_phase.compute_weights,
        _figure_phase.draw_weights,
    ),
    **_figure_circle.FIGURES,
    **_figure_energy.FIGURES,
}
