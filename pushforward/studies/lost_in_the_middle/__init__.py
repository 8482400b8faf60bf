"""Kinetic theory of ordered tokens: why the middle of a prompt is lost."""
