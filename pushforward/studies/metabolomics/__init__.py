"""GromovMatcher: aligning untargeted metabolomics tables."""
