"""Measure-to-measure interpolation: one Transformer for several inputs at once."""
