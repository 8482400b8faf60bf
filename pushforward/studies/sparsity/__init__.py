"""Sparsity in long-time control of neural ODEs."""
