"""Optimal transport between measures."""
