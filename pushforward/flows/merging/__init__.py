"""Coincident tokens become one atom: begin with `_merge.py`, then `_flow.py`."""
