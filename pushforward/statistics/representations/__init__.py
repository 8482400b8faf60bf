"""Distances between representations: begin with `gulp.py`."""
