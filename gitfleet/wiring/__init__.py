"""wiring: the composition roots, which alone know the adapters."""
