"""Attention with a perceptron: an energy landscape whose minima are sums of atoms."""
