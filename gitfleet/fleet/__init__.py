"""fleet: the clusters as the loop sees them: many at once, by this process, by others, or by agents."""
