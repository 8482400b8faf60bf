"""Negative beta on the circle: attraction that need not synchronize."""
