"""Scheduler plug-ins as third parties write them (entry point `gitfleet.scheduler_plugins`).

The stages are KubeFleet's: batch, post-batch, pre-filter, filter, pre-score, score, sort, bind. The Protocols live in
`gitfleet.schedule.plugins` (rooms may not import ports) and are given here under their public address.
"""
