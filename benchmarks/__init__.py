"""Ours beside peers, in one run: `python -m benchmarks [--json] [--quick]`."""
