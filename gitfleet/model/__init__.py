"""Frozen values in Kubernetes' and KubeFleet's own terms, and the few pure rules that belong to one value alone
(label selectors, quantities, conditions). No package's decision lives here, and nothing here does I/O or reads a clock.

What stands in a file is declared in `api`. Read in this order: `desired` (all that people want at one commit), `state`
(all that the state branch holds), `observations` (what is seen of clusters), `scheduling`, `works` and `rolling` (what
is decided), `operations` (what is to be done), `decisions` (all of one reconcile), `failures` (what could not be
decided).
"""
