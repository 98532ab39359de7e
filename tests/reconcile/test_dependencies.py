"""Which placements wait for which, and on which clusters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gitfleet.api.bindings import Binding, BindingState, FailedObject
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.conditions import Reason, Status, condition_of
from gitfleet.api.folders import Dependency, Folder, Variant
from gitfleet.api.labels import LabelSelector
from gitfleet.api.objects import ObjectKey
from gitfleet.api.placements import Placement, PlacementKey
from gitfleet.api.runs import ClusterUpdate, RunReason, RunRecord, RunStatus, StageStatus
from gitfleet.api.strategies import RolloutStrategy, RolloutStrategyType
from gitfleet.api.values import NamespacedName
from gitfleet.model.rolling import Frozen
from gitfleet.model.state import PlacementRecord
from gitfleet.observe import MOST_OBJECTS
from gitfleet.reconcile.dependencies import Dependencies, Heading
from gitfleet.reconcile.texts import ReconcileText

NOW = datetime(2026, 1, 1, tzinfo=UTC)
APPS, CERTS, BOTH = (PlacementKey("", name) for name in ("apps", "certs", "both"))
WEB, ISSUER = ObjectKey("apps", "v1", "Deployment", "certs", "web"), ObjectKey("", "v1", "Secret", "certs", "issuer")
CLUSTER = MemberCluster(name="c1", labels={"env": "prod"})


def of(name: str, *needs: str, **fields: Any) -> Folder:
    """A Folder that waits for others; "@name" is a placement."""
    listed = [Dependency(placement=n[1:]) if n.startswith("@") else Dependency(folder=n) for n in needs]
    return Folder(name=name, depends_on=tuple(listed), **fields)


def dependencies(*folders: Folder, selected: Mapping[PlacementKey, tuple[str, ...]] | None = None) -> Dependencies:
    """Placements of the folders' own names, unless it is said otherwise."""
    own = {PlacementKey("", folder.name): (folder.name,) for folder in folders}
    objects = {folder.name: frozenset({WEB.identity, ISSUER.identity}) for folder in folders}
    return Dependencies(folders={f.name: f for f in folders}, objects=objects, selected=selected or own)


def binding(started: Status = Status.TRUE, available: Status = Status.TRUE, **fields: Any) -> Binding:
    """A binding that has the newest content (`started`), which is `available`."""
    conditions = [("RolloutStarted", started, "x"), ("Available", available, fields.pop("reason", "x"))]
    return Binding(
        placement=CERTS, cluster="c1", policy_snapshot="certs-0",
        **{"state": BindingState.BOUND, "resource_snapshot": "certs-0-snapshot", **fields},
        conditions=tuple(condition_of(type_, status, reason, "", NOW, 1) for type_, status, reason in conditions),
    )  # fmt: skip


def heading(*bindings: Binding, external: bool = False, **fields: Any) -> Heading:
    """Placement `certs` with these bindings."""
    strategy = RolloutStrategy(type=RolloutStrategyType.EXTERNAL) if external else RolloutStrategy()
    record = PlacementRecord(placement=Placement(key=CERTS, selectors=(), strategy=strategy), bindings=bindings)
    return Heading(record=record, **fields)


def bringing(index: str, cluster: str = "c1", reason: str = "", **fields: Any) -> RunRecord:
    """A run that brings a snapshot of `certs` to a cluster, or for this reason does not."""
    conditions = (condition_of("Progressing", Status.FALSE, reason, "", NOW, 1),) if reason else ()
    stages = (StageStatus(name="all", clusters=(ClusterUpdate(cluster=cluster, **fields),)),)
    status = RunStatus(resource_snapshot_index_used=index, stages=stages, conditions=conditions)
    key = NamespacedName("", "run")
    return RunRecord(key=key, placement_name="certs", strategy_name="all", created=NOW, status=status)


def wait(found: Dependencies, certs: Heading | None, key: PlacementKey = APPS) -> Frozen | None:
    """Why a placement waits on the cluster."""
    return found.waits(key, [CLUSTER], {CERTS: certs}.get, NOW).get("c1")


TWO = dependencies(of("apps", "certs"), of("certs"))
FAILING = FailedObject(key=WEB, condition="Available", reason="", message="")
OTHERS = replace(FAILING, key=replace(WEB, namespace="dns"))


@pytest.mark.parametrize(
    ("certs", "waits"),
    [
        (heading(binding()), False),
        (heading(binding(started=Status.FALSE)), True),  # newer content is on its way
        (heading(binding(started=Status.FALSE), refused=True), False),  # and goes nowhere
        (heading(binding(available=Status.FALSE)), True),
        (heading(binding(resource_snapshot=None)), True),
        (heading(replace(binding(), generation=2)), True),  # nothing is known of what was rolled out now
        (heading(binding(), disturbed=frozenset({"c1"})), True),
        (heading(binding(available=Status.FALSE, failed=(FAILING,))), True),
        (heading(binding(started=Status.FALSE), external=True), False),  # no run brings anything
        (heading(binding(), external=True, runs=(bringing("0"),)), False),
        (heading(binding(), external=True, runs=(bringing("1"),)), True),
        (heading(binding(), external=True, runs=(bringing("0", variants=(("certs", "prod"),)),)), True),
        (heading(binding(), external=True, runs=(bringing("1", cluster="c2"),)), False),
        (heading(binding(), external=True, runs=(bringing("1", reason=RunReason.RUN_ROLLING_BACK),)), False),
        (heading(binding(available=Status.FALSE, failed=(OTHERS,))), False),
        (heading(binding(available=Status.FALSE, failed=(OTHERS,) * MOST_OBJECTS)), True),  # not all are listed
    ],
)
def test_a_folder_waits_for_what_its_dependency_is_heading_for(certs: Heading, waits: bool) -> None:
    sentence = ReconcileText.DEPENDENCY_NOT_AVAILABLE(folder="apps", needed="folder certs", cluster="c1")
    expected = Frozen(sentence, None, code=Reason.DEPENDENCY_NOT_AVAILABLE) if waits else None
    assert wait(TWO, certs) == expected


def test_other_objects_of_the_placement_are_not_waited_for() -> None:
    other = replace(TWO, objects={**TWO.objects, "certs": frozenset({ISSUER.identity})})
    failing = heading(binding(available=Status.FALSE, failed=(FAILING,)))
    assert wait(other, failing) is None
    assert wait(dependencies(of("apps", "@certs"), of("certs")), failing) is not None


def test_what_cannot_be_tracked_is_waited_for_as_long_as_it_counts_as_unavailable() -> None:
    found = wait(TWO, heading(binding(reason="WorkNotTrackable")))
    assert found is not None
    assert found.until == NOW + timedelta(seconds=60)


VARIANT = Variant(name="test", path="x", cluster_selector=LabelSelector(match_labels={"env": "test"}))


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (TWO, ReconcileText.DEPENDENCY_NOT_PLACED(folder="apps", needed="folder certs", cluster="c1")),
        (
            dependencies(of("apps", "@certs")),
            ReconcileText.DEPENDENCY_NOT_PLACED(folder="apps", needed="placement certs", cluster="c1"),
        ),
        (
            dependencies(of("apps", "nothing")),
            ReconcileText.DEPENDENCY_UNKNOWN(folder="apps", needed="folder nothing"),
        ),
        (dependencies(of("apps", "certs"), of("certs", variants=(VARIANT,))), ""),
        (dependencies(of("apps", "certs", variants=(VARIANT,)), of("certs")), ""),
        (dependencies(of("apps", "certs"), of("certs"), selected={APPS: ("apps", "certs")}), ""),
    ],
)
def test_what_is_not_on_the_cluster(found: Dependencies, why: str) -> None:
    waiting = wait(found, None)
    assert waiting == (Frozen(why, None, asks=True, code=Reason.DEPENDENCY_NOT_AVAILABLE) if why else None)


def test_placements_come_after_those_that_they_wait_for() -> None:
    chain = dependencies(of("a", "b"), of("b", "@c"), of("c"), of("d"))
    order = chain.ordered([PlacementKey("", name) for name in "abcd"])
    assert [key.name for key in order] == ["c", "b", "a", "d"]
    cycle = dependencies(of("a", "b"), of("b", "a"))
    assert sorted(key.name for key in cycle.ordered([PlacementKey("", name) for name in "ab"])) == ["a", "b"]


@pytest.mark.parametrize(
    ("found", "cycles"),
    [
        (dependencies(of("a", "b"), of("b", "c"), of("c")), []),
        (dependencies(of("a", "b"), of("b", "@c"), of("c", "a")), [("a", "abca")]),
        (dependencies(of("a", "@a")), [("a", "aa")]),
        # Over placements that select folders which do not wait for themselves.
        (dependencies(of("x", "y"), of("y", "z"), of("z"), selected={APPS: ("x", "z"), CERTS: ("y",)}), [("x", "aca")]),
        # Within a placement the applies wait.
        (dependencies(of("x", "y"), of("y"), selected={APPS: ("x", "y"), CERTS: ("y",)}), []),
        (dependencies(of("x", "@certs"), of("y", "@apps"), selected={APPS: ("x",), CERTS: ("y",)}), [("x", "aca")]),
    ],
)
def test_placements_that_wait_for_themselves(found: Dependencies, cycles: list[tuple[str, str]]) -> None:
    assert [(name, "".join(key.name[0] for key in cycle)) for name, cycle in found.cycles()] == cycles
