"""Learning from samples."""
