"""Features of two tables or more, matched: begin with `matching.py`."""
