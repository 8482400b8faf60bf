"""Depth as a long horizon: open `depth.py`, then `turnpike.py`."""
