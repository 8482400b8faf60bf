"""Trained Transformers: what they do to the tokens of a page of English."""
