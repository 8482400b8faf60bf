"""Neural ODEs as control systems: forms, losses, penalties, training.

Open `problem.py` first: what is minimized; `training.py` minimizes it.
"""
