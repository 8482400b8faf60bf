"""Trained models, read and run: begin with `_transformer.py`, then `_loading.py`."""
