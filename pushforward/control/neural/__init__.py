"""Neural ODEs as control systems: forms, losses, penalties, training, and exact
sparsity in depth.
"""
