"""Statistical optimal transport: exact identities, rates, barycenters."""
