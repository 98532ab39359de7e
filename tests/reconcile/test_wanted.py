"""What clusters are to have when all rollouts are finished, by what each placement is heading for there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.bindings import BindingState
from gitfleet.api.conditions import Conditions
from gitfleet.api.objects import Manifest
from gitfleet.api.quarantines import Quarantine
from gitfleet.api.runs import ClusterUpdate, RunRecord, RunStatus, StageStatus
from gitfleet.api.snapshots import OverrideSnapshot
from gitfleet.api.strategies import ApplyStrategy, ApplyStrategyType, RolloutStrategy, RolloutStrategyType
from gitfleet.api.values import NamespacedName
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.removals import WantedObjects
from gitfleet.model.state import FleetState
from gitfleet.model.works import Work
from gitfleet.reconcile.wanted import WantedMemo, content_of, wanted_objects
from tests.removals.fleets import CLUSTERS, SHOP, WEB, config_map, deleting, envelope, fleet, placed, unpicked, with_web
from tests.rollout.builders import NOW
from tests.state.builders import condition
from tests.works.builders import override, rule, snapshot

A, B, C = config_map("a"), config_map("b"), config_map("c")
FIRST, SECOND, THIRD = (
    replace(snapshot(*content, placement=WEB), index=index, hash=f"h{index}")
    for index, content in enumerate(((A,), (A, B), (A, B, C)))
)
ROLLED = fleet(placed(WEB, CLUSTERS, A))
ROLLED = with_web(ROLLED, replace(ROLLED.placements[WEB], resource_snapshots=(FIRST, SECOND, THIRD)))
Change = Callable[[FleetState], FleetState]


def strategy(**more: Any) -> Change:
    """The placement web with another strategy."""

    def change(state: FleetState) -> FleetState:
        web = state.placements[WEB]
        return with_web(state, replace(web, placement=replace(web.placement, strategy=RolloutStrategy(**more))))

    return change


EXTERNAL = strategy(type=RolloutStrategyType.EXTERNAL)
REPORTS = strategy(apply_strategy=ApplyStrategy(type=ApplyStrategyType.REPORT_DIFF))


def has(index: int) -> Change:
    """The clusters have this snapshot."""

    def change(state: FleetState) -> FleetState:
        web = state.placements[WEB]
        name = f"web-{index}-snapshot"
        return with_web(state, replace(web, bindings=tuple(replace(b, resource_snapshot=name) for b in web.bindings)))

    return change


def quarantined(*digests: str, lifted: bool = False) -> Change:
    """This content is quarantined."""
    every = {d: Quarantine(name=d, placement=WEB, digest=d, reason="burns", lifted=lifted) for d in digests}
    return lambda state: replace(state, quarantines=every)


def run(name: str, index: int, *clusters: str, conditions: Conditions = (), hours: int = 0) -> RunRecord:
    """A run of a snapshot on clusters."""
    status = RunStatus(
        conditions=conditions,
        stages=(StageStatus(name="all", clusters=tuple(ClusterUpdate(cluster=one) for one in clusters)),),
        resource_snapshot_index_used=str(index),
    )
    key = NamespacedName("", name)
    return RunRecord(key=key, placement_name="web", strategy_name="all", created=NOW.replace(hour=hours), status=status)


def with_runs(*runs: RunRecord) -> Change:
    """These runs, of an External placement whose clusters have the first snapshot."""
    return lambda state: replace(EXTERNAL(has(0)(state)), runs={one.key: one for one in runs})


SUCCEEDED = (condition("Succeeded"),)
FELL_BACK = (condition("RolledBack", "False", "UpdateRunRollingBack"),)


def names(wanted: WantedObjects) -> dict[str, str]:
    """The names of the objects that web wants on each cluster; "all": whatever it owns."""
    return {
        name: "all" if content is None else " ".join(sorted(name for *_, name in content))
        for name, content in wanted.placements[WEB].items()
    }


def found(state: FleetState, *overrides: OverrideSnapshot, works: Any = (), failures: Failures | None = None) -> Any:
    """What is wanted."""
    rendered = {WEB: {one.cluster: one for one in works}}
    return wanted_objects(state, overrides, rendered, WantedMemo(), failures or Failures())[0]


def both(content: str) -> dict[str, str]:
    """The same on both clusters."""
    return dict.fromkeys(CLUSTERS, content)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda s: s, both("a b c")),
        (has(2), both("a b c")),
        (quarantined("h2"), both("a b")),
        (quarantined("h2", "h1"), both("a")),
        (quarantined("h2", "h1", "h0"), both("a b c")),
        (quarantined("h2", lifted=True), both("a b c")),
        (lambda s: EXTERNAL(has(0)(s)), both("a")),
        (lambda s: EXTERNAL(has(9)(s)), both("all")),
        (REPORTS, both("all")),
        (deleting, {}),
        (lambda s: unpicked(s, "c2"), {"c1": "a b c"}),
        (with_runs(run("go", 2, "c1")), {"c1": "a b c", "c2": "a"}),
        (with_runs(run("go", 2, "c1", conditions=SUCCEEDED)), both("a")),
        (with_runs(run("go", 2, "c1", conditions=FELL_BACK)), both("a")),
        (with_runs(run("b", 2, "c1", "c2"), run("a", 1, "c1", hours=1)), {"c1": "a b", "c2": "a b c"}),
    ],
)
def test_what_a_placement_is_heading_for(change: Change, expected: dict[str, str]) -> None:
    assert names(found(change(ROLLED))) == expected


def test_a_placement_without_content_wants_nothing_and_one_that_is_unknown_all() -> None:
    state = with_web(ROLLED, replace(ROLLED.placements[WEB], resource_snapshots=()))
    wanted = found(state)
    assert names(wanted) == both("")
    scheduled = tuple(replace(b, state=BindingState.SCHEDULED) for b in ROLLED.placements[WEB].bindings)
    assert names(found(with_web(ROLLED, replace(ROLLED.placements[WEB], bindings=scheduled)))) == both("a b c")
    assert wanted.wants(SHOP, "c1", A.key.identity) and not wanted.wants(WEB, "c1", A.key.identity)


GONE = override("gone", B, rule(delete=True), ns="web")
IN_EU = override("few", B, rule(region="eu", delete=True), ns="web")


def work(cluster: str, index: int, *manifests: Manifest, **more: Any) -> Work:
    """What a cluster has of web."""
    return Work(
        placement=WEB, cluster=cluster, generation=1, snapshot=f"web-{index}-snapshot", manifests=manifests, **more
    )


@pytest.mark.parametrize(
    ("change", "overrides", "works", "expected"),
    [
        (has(2), [GONE], [], both("a c")),
        (has(2), [IN_EU], [], both("a b c")),
        (has(2), [], [work("c1", 2, error="cannot be applied")], {"c1": "all", "c2": "a b c"}),
        (has(2), [GONE], [work("c1", 2, A, C, deleted={B.key.identity: GONE.override.key})], both("a c")),
        (has(2), [], [work("c1", 2, A, C, deleted={B.key.identity: GONE.override.key})], both("a b c")),
        (lambda s: EXTERNAL(has(2)(s)), [GONE], [work("c1", 2, A, B, C)], {"c1": "a b c", "c2": "a c"}),
        (lambda s: EXTERNAL(has(2)(s)), [], [work("c1", 2, A, C, deleted={B.key.identity: GONE.override.key})],
         {"c1": "a c", "c2": "a b c"}),
    ],
)  # fmt: skip
def test_what_overrides_delete_is_not_wanted(
    change: Change, overrides: list[OverrideSnapshot], works: list[Work], expected: dict[str, str]
) -> None:
    """A cluster of an External placement keeps the overrides with which it got its snapshot."""
    assert names(found(change(ROLLED), *overrides, works=works)) == expected


def test_what_envelopes_carry_is_wanted_and_an_override_may_change_that() -> None:
    bundle, broken = envelope(A, B), envelope(broken=True)
    assert content_of(snapshot(bundle)) == frozenset(one.key.identity for one in (bundle, A, B))
    assert content_of(snapshot(C, broken)) is None
    assert content_of(replace(snapshot(bundle), manifests=None)) == frozenset({bundle.key.identity})
    state = fleet(placed(WEB, CLUSTERS, bundle))
    changed = work("c1", 0, A, C)
    assert names(found(state, works=[changed])) == {"c1": "a c", "c2": "a b bundle"}
    assert names(found(fleet(placed(WEB, CLUSTERS, C, broken)))) == both("all")


def test_a_placement_that_cannot_be_read_or_decided_wants_all_that_it_owns() -> None:
    odd: Any = (object(),)
    broken = with_web(ROLLED, replace(ROLLED.placements[WEB], resource_snapshots=odd))
    failures = Failures()
    assert names(found(broken, failures=failures)) == both("all")
    assert [one.subject for one in failures.found] == [Subject.of_placement(WEB)]
    assert names(found(ROLLED, failures=failures)) == both("all"), "something else of it failed"


def test_what_follows_from_the_same_is_the_same() -> None:
    failures = Failures()
    state = replace(ROLLED, placements={**ROLLED.placements, SHOP: placed(SHOP, CLUSTERS, C)})
    first, memo = wanted_objects(state, (), {}, WantedMemo(), failures)
    assert wanted_objects(replace(state, inventory={}), (), {}, memo, failures)[0] is first
    other = with_web(state, replace(state.placements[WEB], resource_snapshots=(FIRST,)))
    second, _ = wanted_objects(other, (), {}, memo, failures)
    assert second.placements[SHOP] is first.placements[SHOP] and names(second) == both("a")
    fewer = replace(state, placements={WEB: state.placements[WEB]})
    assert wanted_objects(fewer, (), {}, memo, failures)[0].placements.keys() == {WEB}
    lifted = quarantined("h2")(state)
    assert names(wanted_objects(lifted, (), {}, memo, failures)[0]) == both("a b")
