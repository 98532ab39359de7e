"""plan_apply as tables: given works, inventory and live objects, the whole plan."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import Identity, Manifest
from gitfleet.api.placements import PlacementKey
from gitfleet.api.strategies import DeletePropagation
from gitfleet.apply import ApplyRequest, plan_apply, record_intended, settle_inventory
from gitfleet.apply.shapes import shape_digest
from gitfleet.apply.texts import ApplyText
from gitfleet.model.observations import LiveObject
from gitfleet.model.operations import (
    Create,
    Delete,
    Keep,
    KeepCode,
    Operation,
    Outcome,
    OutcomeCode,
    Update,
)
from gitfleet.model.works import Work
from tests import builders as make
from tests.apply.model_cluster import ModelCluster, config_map, manifest, namespace
from tests.apply.strategies import apply_strategy
from tests.gates import open_gate

WEB, OTHER = PlacementKey("", "web"), PlacementKey("", "other")


def work(*manifests: Manifest, placement: PlacementKey = WEB, error: str | None = None, **strategy: Any) -> Work:
    return Work(
        placement=placement,
        cluster="c1",
        generation=1,
        snapshot="web-0-snapshot",
        manifests=manifests,
        apply_strategy=apply_strategy(**strategy),
        error=error,
    )


def live(wanted: Manifest, uid: str = "u1", *, manager: str = "kubectl", **more: Any) -> LiveObject:
    body = {**wanted.body, **more}
    metadata = {"uid": uid, "resourceVersion": "7", "managedFields": [{"manager": manager, "operation": "Apply"}]}
    body["metadata"] = {**wanted.body["metadata"], **more.get("metadata", {}), **metadata}
    return LiveObject(wanted.key, body)


def owned(wanted: Manifest, there: LiveObject, placement: PlacementKey = WEB) -> InventoryEntry:
    return InventoryEntry(
        key=wanted.key,
        placement=placement,
        uid=there.uid,
        applied_digest=wanted.digest,
        shape_digest=shape_digest(wanted.body, there.body),
    )


def wanted_of(work: Work) -> frozenset[Identity] | None:
    """What the placement of a work wants that has no newer content."""
    if work.error is not None or work.apply_strategy.type.only_reports:
        return None
    return frozenset(manifest.key.identity for manifest in work.manifests)


def plan(*works: Work, **request: Any) -> tuple[Operation, ...]:
    """Where nothing else is said, each placement wants what its work has, and all where that cannot be used."""
    request.setdefault("wants", {work.placement: wanted_of(work) for work in works})
    request.setdefault("gate", open_gate("c1"))
    return plan_apply(ApplyRequest(cluster="c1", works=works, known_namespaces=("ns",), **request))


def only(*works: Work, **request: Any) -> Operation:
    (operation,) = plan(*works, **request)
    return operation


CM = config_map("cm", a="1")


def test_server_side_apply_forces_only_when_told_to_or_against_the_time_before_it() -> None:
    ssa: dict[str, Any] = {"type": "ServerSideApply"}
    created = only(work(CM, **ssa), live={CM.key: None})
    assert isinstance(created, Create) and not created.force
    there = live(CM, manager="before-first-apply")
    entry = replace(owned(CM, there), applied_digest="old")
    updated = only(work(CM, **ssa), live={CM.key: there}, inventory={CM.key: entry})
    assert isinstance(updated, Update) and updated.force
    ours, before = ({"manager": manager, "operation": "Apply"} for manager in ("gitfleet", "before-first-apply"))
    both = LiveObject(CM.key, {**CM.body, "metadata": {**there.body["metadata"], "managedFields": [ours, before]}})
    updated = only(work(CM, **ssa), live={CM.key: both}, inventory={CM.key: entry})
    assert isinstance(updated, Update) and updated.force
    unmanaged = LiveObject(CM.key, {**CM.body, "metadata": {**there.body["metadata"], "managedFields": []}})
    updated = only(work(CM, **ssa), live={CM.key: unmanaged})
    assert isinstance(updated, Update) and updated.force, "all of it is from the time before"
    there = live(CM, manager="kubectl")
    updated = only(work(CM, **ssa), live={CM.key: there}, inventory={CM.key: entry})
    assert isinstance(updated, Update) and not updated.force
    reported = only(work(CM, force_conflicts=True, **ssa), live={CM.key: there}, inventory={CM.key: entry})
    assert isinstance(reported, Update) and reported.force


def migration(ttl: int | None, image: str = "task:1") -> Manifest:
    """A Job with a TTL."""
    body = make.job("ns", "migrate", image)
    body["spec"] |= {"ttlSecondsAfterFinished": ttl} if ttl is not None else {}
    return manifest(body)


def test_a_job_that_finished_and_is_gone_is_not_made_again() -> None:
    """Its TTL removed it (D43); another content of it is another job."""
    job = migration(60)
    conditions = [{"type": "Complete", "status": "True"}]
    there = live(job, status={"succeeded": 1, "conditions": conditions})
    before = {job.key: owned(job, there)}
    kept = only(work(job), live={job.key: there}, inventory=before)
    after = settle_inventory(before, [], [kept])
    assert after[job.key].finished

    gone = only(work(job), live={job.key: None}, inventory=after)
    assert isinstance(gone, Keep) and gone.code is KeepCode.FINISHED
    assert settle_inventory(after, [], [gone]) is after
    changed = migration(60, "task:2")
    again = only(work(changed), live={job.key: None}, inventory=after)
    assert isinstance(again, Create)
    made = Outcome(operation=again, ok=True, code=OutcomeCode.APPLIED, live=live(changed, "u2"))
    assert not settle_inventory(record_intended(after, [again]), [made], [again])[job.key].finished


@pytest.mark.parametrize(
    ("ttl", "status"),
    [
        (60, {"conditions": [{"type": "Failed", "status": "True"}]}),
        (60, {"ready": 1}),
        (60, {"conditions": [{"type": "Complete", "status": "False"}, "odd"]}),
        (None, {"conditions": [{"type": "Complete", "status": "True"}]}),
    ],
    ids=["failed", "runs", "not yet", "no TTL"],
)
def test_a_job_that_somebody_else_removed_is_made_again(ttl: int | None, status: dict[str, Any]) -> None:
    job = migration(ttl)
    there = live(job, status=status)
    before = {job.key: owned(job, there)}
    after = settle_inventory(before, [], [only(work(job), live={job.key: there}, inventory=before)])
    assert isinstance(only(work(job), live={job.key: None}, inventory=after), Create)


def test_an_object_is_handed_over_by_a_placement_that_leaves() -> None:
    there = live(CM)
    inventory = {CM.key: owned(CM, there, OTHER)}
    got = plan(work(CM), removing={OTHER: DeletePropagation.DELETE}, live={CM.key: there}, inventory=inventory)
    (update,) = got
    why = ApplyText.HANDED_OVER_2(placement="ClusterResourcePlacement other")
    assert isinstance(update, Update) and update.reason == why
    assert record_intended(inventory, got) is inventory
    settled = settle_inventory(inventory, [Outcome(operation=update, ok=True, code=OutcomeCode.APPLIED, live=there)])
    assert settled[CM.key].placement == WEB


def test_deletions_go_in_reverse_waves_after_everything_else() -> None:
    deployment = manifest({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "namespace": "ns"}})
    things = (namespace(), CM, deployment)
    there = {m.key: live(m, uid=m.key.name, manager="gitfleet") for m in things}
    inventory = {m.key: owned(m, there[m.key]) for m in things}
    new = config_map("new", "elsewhere")
    got = plan(work(new), live={**there, new.key: None}, inventory=inventory)
    assert [(type(o), o.key.kind) for o in got] == [
        (Create, "ConfigMap"),
        (Delete, "Deployment"),
        (Delete, "ConfigMap"),
        (Delete, "Namespace"),
    ]
    assert [o.wave for o in got if isinstance(o, Delete)] == [4, 1, 0]


def test_a_namespace_stays_for_a_work_that_could_not_be_rendered() -> None:
    """Its objects are in the inventory."""
    ns = namespace()
    there = {ns.key: live(ns, manager="gitfleet"), CM.key: live(CM, uid="u2")}
    inventory = {ns.key: owned(ns, there[ns.key]), CM.key: owned(CM, there[CM.key], OTHER)}
    broken = work(placement=OTHER, error="x")
    got = plan(broken, removing={WEB: DeletePropagation.DELETE}, live=there, inventory=inventory)
    assert [type(o) for o in got] == [Keep, Keep]


CRD: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "foos.example.com"},
    "spec": {"group": "example.com", "names": {"kind": "Foo", "plural": "foos"}},
}
CUSTOM: dict[str, Any] = {"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "x", "namespace": "ns"}}


def test_a_placement_that_only_reports_keeps_no_other_from_writing() -> None:
    report, create = plan(work(CM, placement=OTHER, type="ReportDiff"), work(CM), live={CM.key: None})
    assert isinstance(report, Keep) and report.placement == OTHER
    assert isinstance(create, Create) and create.placement == WEB


def test_intent_comes_before_the_deed_and_survives_a_crash_in_between() -> None:
    cluster = ModelCluster()
    operations = plan(work(CM), live=cluster.live([CM.key]))
    recorded = record_intended({}, operations)
    assert recorded == {CM.key: InventoryEntry(key=CM.key, placement=WEB, to_be_made=True)}
    cluster.perform(operations)  # and the process dies before it can tell
    (again,) = plan(work(CM), live=cluster.live([CM.key]), inventory=recorded)
    assert isinstance(again, Update) and again.reason == ApplyText.LAST_APPLY_NOT_CONFIRMED()
    (pruned,) = plan(removing={WEB: DeletePropagation.DELETE}, live=cluster.live([CM.key]), inventory=recorded)
    assert isinstance(pruned, Delete)
