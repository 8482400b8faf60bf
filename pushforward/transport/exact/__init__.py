"""Exact transport: begin with `_exact.py`."""
