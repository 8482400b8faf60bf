"""Tokens of R^d, without layer norm: open `limit_shapes.py`."""
