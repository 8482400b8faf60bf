"""Noise against attention: open `noisy.py`, then `transition.py`."""
