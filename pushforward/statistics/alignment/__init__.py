"""Unknown labels found from covariances: begin with `covariances.py`."""
