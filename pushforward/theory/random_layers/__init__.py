"""Fresh random weights in every layer: open `homogenized.py`."""
