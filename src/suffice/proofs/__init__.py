"""Is it always so: what holds at every point, proven on the trees of the user's own model."""
