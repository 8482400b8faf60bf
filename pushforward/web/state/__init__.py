"""What the page shows, as an experiment: begin with `_state.py`."""
