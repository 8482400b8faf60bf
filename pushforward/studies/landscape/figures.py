"""Every figure of the study."""

from pushforward.studies.landscape import (
    _figure_corrections,
    _figure_dimension,
    _figure_minima,
    _figure_motion,
)

FIGURES = {
    **_figure_minima.FIGURES,
    **_figure_motion.FIGURES,
    **_figure_dimension.FIGURES,
    **_figure_corrections.FIGURES,
}
