"""The explorer: a local server, its page, and the same view in a notebook."""
