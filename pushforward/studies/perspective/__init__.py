"""Self-attention as particles on the sphere: figures and claims."""
