"""Tables of laboratories: begin with `tables.py`, then `table_files.py`."""
