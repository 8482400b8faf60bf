"""Energies: uniform tokens, landscapes, stability, collapse; open `uniform.py`."""
