"""Every figure of the study."""

from pushforward.studies.interpolation import _figure_training, _figures_steering

FIGURES = {**_figures_steering.FIGURES, **_figure_training.FIGURES}
