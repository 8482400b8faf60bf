"""Tokens on the circle: thresholds, plateaus, oscillators; open `circle.py`."""
