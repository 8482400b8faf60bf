"""Causal attention: centers, and the middle that is lost; open `causal.py`."""
