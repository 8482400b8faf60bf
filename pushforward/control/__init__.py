"""Choosing the field: training, turnpikes, steering."""
