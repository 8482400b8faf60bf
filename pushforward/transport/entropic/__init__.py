"""Entropic transport: begin with `_sinkhorn.py`, then `_entropic.py`."""
