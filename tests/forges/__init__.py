"""Forges: a local server with each one's API, the contract of the adapters, and whole fleets that show themselves."""
