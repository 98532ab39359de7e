"""The loop: commits to values, ticks, and when to tick."""
