"""Spaces without common coordinates: begin with `_gromov.py`."""
