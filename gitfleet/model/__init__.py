"""Frozen values in Kubernetes' and KubeFleet's own terms, and the few pure rules that belong to one value alone
(label selectors, quantities, conditions). No package's decision lives here, and nothing here does I/O or reads a clock.

Read in this order: `objects` (what a Kubernetes object is to us), `clusters`, `placements`, `overrides`, `staged`,
`fleet` (what people write), `desired` (all of it at one commit), `snapshots`, `bindings`, `inventory`, `conditions`
(what we decide and remember), `observations` (what clusters answer), `operations` (what is to be done), `state` (all
that the state branch holds).
"""
