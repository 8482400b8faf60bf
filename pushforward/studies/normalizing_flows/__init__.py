"""Dynamic metastability: plateaus, escape times, the staircase, saddle to saddle."""
