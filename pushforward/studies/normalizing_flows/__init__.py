"""Normalizing flows by single neurons: exact pieces, permuted cells, samples."""
