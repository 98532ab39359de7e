"""testing: the ports in memory, shipped because `simulate`, `make demo` and users' own tests run on them:
a memory repo, simulated clusters that behave by contracts.md §5, a manual clock, builders of objects.
"""
