"""Where the layer norm sits: how fast tokens move at the start and at the end."""
