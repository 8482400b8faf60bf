"""Neural ODEs as control systems: forms, losses, penalties, training."""
