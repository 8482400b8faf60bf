"""Every figure of the study."""

from pushforward.studies.normalizing_flows import (
    _figure_errors,
    _figure_patients,
    _figure_swirl,
)

FIGURES = {
    **_figure_swirl.FIGURES,
    **_figure_errors.FIGURES,
    **_figure_patients.FIGURES,
}
