"""Tokens without layer norm: figures and claims."""
