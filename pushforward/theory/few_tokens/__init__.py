"""Two tokens, equiangular tokens, one query among many keys: open `two_tokens.py`."""
