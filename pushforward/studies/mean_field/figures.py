"""Every figure of the study."""

from pushforward.studies.mean_field import _figure_limit, _figure_noise

FIGURES = {**_figure_limit.FIGURES, **_figure_noise.FIGURES}
