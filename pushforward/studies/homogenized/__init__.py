"""Transformers at initialization: fresh random weights per layer, and the limit."""
