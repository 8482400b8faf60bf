"""Sums in linear time by modes of the circle and of S^2: begin with `_spectral.py`."""
