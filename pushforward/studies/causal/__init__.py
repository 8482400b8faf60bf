"""Clustering in causal attention masking: the atlas, parking, absorption, counts."""
