"""What a worker does with a batch: its own fan-out over the clusters of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

from gitfleet.loop.fanout import Fanout
from gitfleet.loop.spread import Batch, CallKind
from gitfleet.ports.clock import Clock


def carry_out(batch: Batch, fanout: Fanout, clock: Clock) -> Mapping[str, Any]:
    """The results by cluster; nothing where it is too late to begin, and nothing for a cluster that nobody came to."""
    if batch.not_after is not None and clock.now() > batch.not_after:
        return {}
    match batch.kind:
        case CallKind.OBSERVE:
            seen = fanout.observe(batch.clusters, batch.asked, probe=batch.probe)
            return {name: observation for name, observation in seen.items() if observation.asked}
        case CallKind.DRY_RUN:
            return fanout.dry_run(batch.clusters, batch.asked)
        case CallKind.PERFORM:
            found: dict[str, list[Any]] = {}
            for outcome in fanout.perform(batch.clusters, batch.asked):
                found.setdefault(outcome.operation.cluster, []).append(outcome)
            return found
    assert_never(batch.kind)
