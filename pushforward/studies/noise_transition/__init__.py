"""Noise against attention: where the transition jumps, and where it does not."""
