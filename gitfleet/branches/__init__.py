"""branches: the watched branch, the state branch, the branches that people merge, and the rendered branch."""
