"""Real Transformers: hidden states and weights as trajectories and fields."""
