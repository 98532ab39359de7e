"""Mutation runs: see the command in `__main__`."""
