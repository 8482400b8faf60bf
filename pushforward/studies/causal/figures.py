"""Every figure of the study."""

from pushforward.studies.causal import (
    _figure_atlas,
    _figure_counts,
    _figure_parking,
)

FIGURES = {
    **_figure_atlas.FIGURES,
    **_figure_parking.FIGURES,
    **_figure_counts.FIGURES,
}
