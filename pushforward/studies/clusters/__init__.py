"""Tokens without layer norm: figures and claims of P2."""
