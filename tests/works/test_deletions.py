"""What overrides of type Delete take of a snapshot, what bindings are to have, and what there is when all is done."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from gitfleet.api.bindings import Binding, BindingState, ClusterContent
from gitfleet.api.objects import Manifest
from gitfleet.api.overrides import JsonPatch, OverridePlacement
from gitfleet.api.placements import Placement
from gitfleet.api.snapshots import OverrideSnapshot
from gitfleet.api.strategies import ApplyStrategy, ApplyStrategyType, RolloutStrategy
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.works import deletions_of, state_when_done, target_contents
from tests.works.builders import (
    EAST,
    NAMESPACE,
    ROLE,
    SETTINGS,
    WEB,
    WEST,
    binding_of,
    manifest,
    obj,
    override,
    rule,
    snapshot,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
QUOTA = obj("v1", "ResourceQuota", "quota", "web")
ENVELOPE = manifest(
    {
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
        "kind": "ResourceEnvelope",
        "metadata": {"name": "wrapper", "namespace": "web"},
        "data": {"quota.yaml": QUOTA.body},
    }
)
CLUSTERS = {"east": EAST, "west": WEST}
IN_EU = override("few", SETTINGS, rule(region="eu", delete=True), ns="web")
EVERYWHERE = replace(override("few", SETTINGS, rule(delete=True), ns="web"), index=1)
PATCH = override("few", SETTINGS, rule(JsonPatch("add", "/data/x", "y")), ns="web")
PLAIN, CARRIED = (NAMESPACE, SETTINGS, ROLE), (NAMESPACE, ENVELOPE)


@pytest.mark.parametrize(
    ("content", "current", "east", "west"),
    [
        (PLAIN, [], "", ""),
        (PLAIN, [PATCH], "", ""),
        (PLAIN, [EVERYWHERE], "settings", "settings"),
        (PLAIN, [IN_EU, override("r", ROLE, rule(delete=True))], "reader settings", "reader"),
        (PLAIN, [override("all", NAMESPACE, rule(region="us", delete=True))], "", "settings web"),
        (PLAIN, [override("r", ROLE, rule(region="us"), rule(region="eu", delete=True))], "reader", ""),
        (PLAIN, [override("o", QUOTA, rule(delete=True), ns="web")], "", ""),
        (PLAIN, [replace(EVERYWHERE, override=replace(
            EVERYWHERE.override, placement=OverridePlacement("api", "Cluster")))], "", ""),
        (CARRIED, [override("few", ENVELOPE, rule(region="eu", delete=True), ns="web")], "quota wrapper", ""),
        (CARRIED, [override("few", QUOTA, rule(region="eu", delete=True), ns="web")], "quota", ""),
        (CARRIED, [override("all", NAMESPACE, rule(region="eu", delete=True))], "quota web wrapper", ""),
    ],
)  # fmt: skip
def test_what_overrides_delete_of_a_snapshot(
    content: tuple[Manifest, ...], current: list[OverrideSnapshot], east: str, west: str
) -> None:
    deleted = deletions_of(WEB, snapshot(*content), current, CLUSTERS)
    assert [" ".join(sorted(name for *_, name in deleted(one))) for one in ("east", "west")] == [east, west]
    assert deleted("gone") == frozenset()


WHOLE = PlacementRecord(
    placement=Placement(key=WEB, selectors=()),
    bindings=tuple(map(binding_of, CLUSTERS.values())),
    resource_snapshots=(snapshot(*PLAIN),),
)
OTHER = replace(override("other", SETTINGS, rule(region="eu"), ns="web"), index=4)
AT_EAST = replace(
    binding_of(EAST),
    cluster_resource_overrides=("aa-3",),
    resource_overrides=("web/few-0",),
    override_labels=(("region", "past"), ("zone", None)),
)


def test_every_cluster_gets_the_newest_overrides() -> None:
    """Cluster-wide ones by name, namespaced ones by namespace and name, whatever their index."""
    roles = [replace(override(name, ROLE, rule()), index=index) for name, index in (("c", 0), ("a-b", 8))]
    target = target_contents(WHOLE, (replace(IN_EU, index=1), OTHER, *roles), CLUSTERS)
    assert target.contents == {
        "east": ClusterContent(("a-b-8", "c-0"), ("web/few-1", "web/other-4")),
        "west": ClusterContent(("a-b-8", "c-0")),
    }
    assert target.labels == {"east": (("region", "eu"),)}
    nothing = target_contents(replace(WHOLE, resource_snapshots=()), (IN_EU,), CLUSTERS)
    assert (nothing.contents, nothing.labels) == ({}, {})


def done(record: PlacementRecord, *keys: Any, failures: Failures) -> tuple[Binding, ...]:
    """The bindings when the rollouts of these placements are through."""
    state = FleetState(placements={WEB: record}, clusters=CLUSTERS)
    return state_when_done(state, (replace(IN_EU, index=1), OTHER), keys, failures).placements[WEB].bindings


def test_when_all_is_done_every_picked_cluster_has_the_newest_and_no_other_is_bound() -> None:
    failures = Failures()
    record = replace(WHOLE, bindings=(AT_EAST, replace(binding_of(WEST), state=BindingState.UNSCHEDULED)))
    (east,) = done(record, WEB, failures=failures)
    assert (east.resource_overrides, east.override_labels) == (("web/few-1", "web/other-4"), (("region", "eu"),))
    assert done(record, failures=failures) is record.bindings
    reports = RolloutStrategy(apply_strategy=ApplyStrategy(type=ApplyStrategyType.REPORT_DIFF))
    (east,) = done(replace(record, placement=replace(record.placement, strategy=reports)), WEB, failures=failures)
    assert east.apply_strategy == reports.apply_strategy
    gone = replace(record, placement=replace(record.placement, deleting=NOW))
    assert done(gone, WEB, failures=failures) == () and not failures.found
    odd: Any = (object(),)
    assert done(replace(record, bindings=odd), WEB, failures=failures) is odd
    assert [failure.subject for failure in failures.found] == [Subject.of_placement(WEB)]
