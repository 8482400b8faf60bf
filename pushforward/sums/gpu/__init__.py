"""Sums as fused kernels on a GPU: begin with `_fused.py`."""
