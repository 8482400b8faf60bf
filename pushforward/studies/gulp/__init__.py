"""GULP: a prediction-based metric between representations."""
