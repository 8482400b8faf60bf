"""Covariance alignment: from maximum likelihood to Gromov-Wasserstein."""
