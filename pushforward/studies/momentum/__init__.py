"""Attention with momentum: plateaus are passed in the square root of their time."""
