"""Sinkhorn attention: doubly stochastic weights and a gradient flow."""
