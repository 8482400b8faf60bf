"""Samples and their densities: open `density_modes.py`."""
