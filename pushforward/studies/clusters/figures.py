"""Every figure of the study."""

from pushforward.studies.clusters import _figure_attention, _figure_shapes

FIGURES = {**_figure_shapes.FIGURES, **_figure_attention.FIGURES}
