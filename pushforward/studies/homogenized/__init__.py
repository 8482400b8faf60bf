"""Transformers at initialization: fresh random weights in every layer, and the limit."""
