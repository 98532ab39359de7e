"""Several clusters of one rollout in a pass: side by side, or one after the other."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.placements import PlacementKey
from gitfleet.api.rollout_plans import RolloutOrder, RolloutPlan
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import RollingState
from gitfleet.api.workload_rollouts import ROLLOUTS, RolloutTrait, WorkloadReference
from gitfleet.model.decisions import Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Failures
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.state import FleetState
from gitfleet.model.works import Work
from gitfleet.workload.advance import advance_workloads
from gitfleet.workload.handlers import BUILT_IN
from gitfleet.workload.lookup import Request
from tests.builders import manifest_of, member_cluster, member_of
from tests.workload.handlers.models import Deployment
from tests.workload.handlers.playing import always_open

NEW, OLD = Deployment.running("new", 0, "new").live, Deployment.running("old", 4).live
TARGET = manifest_of(dict(NEW.body))
REFERENCES = {name: WorkloadReference(api_version="apps/v1", kind="Deployment", name=name) for name in ("new", "old")}
TRAIT = RolloutTrait(
    key=NamespacedName("web", "roll"),
    target_ref=REFERENCES["new"],
    source_ref=(REFERENCES["old"],),
    rollout_plan=RolloutPlan(num_batches=2),
    order=RolloutOrder.SEQUENTIAL,
)
READY = ClusterObservation(cluster="", reachable=True, live={NEW.key: NEW, OLD.key: OLD})
EMPTY = replace(READY, live={NEW.key: NEW, OLD.key: Deployment.running("old", 0).live})
ROLLED_OUT = replace(READY, live={NEW.key: Deployment.running("new", 4, "new").live, OLD.key: None})


def states(trait: RolloutTrait, *seen: ClusterObservation) -> list[RollingState]:
    """The state of a rollout on each of its clusters after the first pass over them."""
    observations = {f"c{number}": replace(one, cluster=f"c{number}") for number, one in enumerate(seen)}
    web = PlacementKey("", "web")
    applied = InventoryEntry(key=NEW.key, placement=web, uid="new", applied_digest=TARGET.digest)
    state = FleetState(
        clusters={name: member_of(member_cluster(name)) for name in observations},
        inventory={name: {NEW.key: applied} for name in observations},
    )
    works = {
        name: (Work(placement=web, cluster=name, generation=1, snapshot="s", manifests=(TARGET,)),)
        for name in observations
    }
    desired = Desired(commit="c", objects={ROLLOUTS: {trait.key: trait}})
    inputs = Inputs(desired=desired, before=state, observations=observations, now=datetime(2026, 1, 1, tzinfo=UTC))
    request = Request(state, {}, works, inputs, BUILT_IN, always_open)
    failures = Failures()
    record = advance_workloads(request, failures).rollouts[trait.key]
    assert failures.found == ()
    return [one.rolling_state for one in record.clusters]


WAITS, BEGINS, DONE = RollingState.VERIFYING_SPEC, RollingState.ROLLING_IN_BATCHES, RollingState.SUCCEEDED
SILENT = ClusterObservation(cluster="", reachable=False)
SIDE_BY_SIDE = replace(TRAIT, order=RolloutOrder.PARALLEL)


@pytest.mark.parametrize(
    ("trait", "first", "expected"),
    [
        (TRAIT, READY, [BEGINS, WAITS, WAITS]),
        (TRAIT, SILENT, [WAITS, WAITS, WAITS]),
        (TRAIT, EMPTY, [DONE, BEGINS, WAITS]),
        (TRAIT, ROLLED_OUT, [WAITS, BEGINS, WAITS]),
        (SIDE_BY_SIDE, SILENT, [WAITS, BEGINS, BEGINS]),
    ],
)
def test_in_order_no_cluster_begins_while_one_before_it_waits(
    trait: RolloutTrait, first: ClusterObservation, expected: list[RollingState]
) -> None:
    assert states(trait, first, READY, READY) == expected
