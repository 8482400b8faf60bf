"""Every figure of the study."""

from pushforward.studies.lost_in_the_middle import _figure_profiles, _figure_retrieval

FIGURES = {**_figure_profiles.FIGURES, **_figure_retrieval.FIGURES}
