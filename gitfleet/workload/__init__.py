"""workload: the batch-by-batch rollout of one workload inside a cluster (the OAM rollout plan).

Nothing lives here yet: the package is part of a later issue, and `core.oam.dev` objects are read and kept as written.
"""
