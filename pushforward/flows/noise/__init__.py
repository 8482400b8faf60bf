"""Noise: begin with `_noise.py`; weights drawn afresh, and many runs at once."""
