"""The server of the page: begin with `_serve.py`, then `_routes.py`."""
