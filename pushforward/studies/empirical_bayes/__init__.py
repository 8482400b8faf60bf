"""Attention as empirical Bayes, beside the nonparametric maximum likelihood."""
