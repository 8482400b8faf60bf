"""How many modes a Gaussian kernel density estimate has."""
