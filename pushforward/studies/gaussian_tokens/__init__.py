"""Gaussian tokens: attention acts on mean and covariance exactly."""
