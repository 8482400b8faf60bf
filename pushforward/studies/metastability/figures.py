"""Every figure of the study."""

from pushforward.studies.metastability import _figure_staircase, _figure_times

FIGURES = {**_figure_staircase.FIGURES, **_figure_times.FIGURES}
