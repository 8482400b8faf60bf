"""What is measured of a trained model: begin with `_layers.py`."""
