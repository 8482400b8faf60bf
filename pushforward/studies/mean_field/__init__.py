"""The mean-field limit: densities, many particles, noise, and the law given noise."""
