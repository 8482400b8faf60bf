"""What computes runs for the page: begin with `_runs.py`, then `_process.py`."""
