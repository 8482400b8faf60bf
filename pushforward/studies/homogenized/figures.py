"""Every figure of the study."""

from pushforward.studies.homogenized import _figure_collapse, _figure_corrections

FIGURES = {**_figure_collapse.FIGURES, **_figure_corrections.FIGURES}
