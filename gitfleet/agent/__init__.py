"""agent: the member's side of pull mode."""
