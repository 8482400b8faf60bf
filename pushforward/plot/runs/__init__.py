"""Pictures and films of tokens and of runs: begin with `_summary.py`."""
