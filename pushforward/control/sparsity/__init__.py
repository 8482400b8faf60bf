"""Exact sparsity in depth: the L1 penalty under a bound switches layers off.

Open `training.py` first.
"""
