"""Attention of every kind: begin with `_attention.py`; `_head.py` is what all share."""
