"""Mixtures without a number of components, by Wasserstein-Fisher-Rao descent."""
