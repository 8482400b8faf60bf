"""Solvers: begin with `_solver.py`; one method a file."""
