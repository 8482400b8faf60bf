"""Hardmax layers as Frank-Wolfe steps, and what temperature does to them."""
