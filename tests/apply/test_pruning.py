"""What is decided about one entry that no work wants, as the whole operation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import Manifest, ObjectKey
from gitfleet.api.overrides import OverrideKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.strategies import DeletePropagation
from gitfleet.apply import ApplyRequest, plan_apply
from gitfleet.apply.claims import stuck_namespace
from gitfleet.apply.texts import ApplyText
from gitfleet.model.observations import LiveObject
from gitfleet.model.operations import Delete, Keep, KeepCode, Operation, PropagationPolicy, Release
from gitfleet.model.removals import ClusterGate, Permit
from gitfleet.model.works import Work
from tests import builders as make
from tests.apply.model_cluster import config_map, manifest, namespace
from tests.apply.test_plan_apply import CRD, CUSTOM, OTHER, WEB, live, only, owned, plan, work
from tests.gates import permit
from tests.growth import grows_with_its_input
from tests.texts import part

CM, NS = config_map("cm", a="1"), namespace()
THERE = live(CM, manager="gitfleet")
ENTRY = owned(CM, THERE)
BARE = LiveObject(CM.key, {**THERE.body, "metadata": {**THERE.body["metadata"], "managedFields": []}})
"""What is there after an apply that set no field: nobody manages anything (a Namespace that has only a name)."""
_TWICE = [{"manager": "before-first-apply", "operation": "Update"}, {"manager": "c", "subresource": "status"}]
BARE_TWICE = LiveObject(CM.key, {**BARE.body, "metadata": {**BARE.body["metadata"], "managedFields": _TWICE}})
GONE = live(CM, manager="gitfleet", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
MANY = live(
    CM,
    manager="gitfleet",
    metadata={"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["a/" + "x" * 99, "b", "c", "d", "e"]},
)
CO_OWNED = live(
    CM, manager="gitfleet", metadata={"ownerReferences": ["odd", {"kind": "HelmRelease", "name": "x", "uid": "o"}]}
)
OWNED = ApplyText.OWNS_TOO(why=ApplyText.STAYS_CLUSTER(), owner="HelmRelease x")
DELETE, ABANDON = DeletePropagation.DELETE, DeletePropagation.ABANDON
LEAVES: dict[str, Any] = {"removing": {WEB: DELETE}}


def deleted(reason: str) -> Delete:
    """The object goes, as long as it has the uid that was seen."""
    return Delete(
        cluster="c1",
        placement=WEB,
        key=CM.key,
        uid="u1",
        wave=1,
        reason=reason,
        propagation=PropagationPolicy.BACKGROUND,
        permit=permit("c1", CM.key),
    )


def released(reason: str) -> Release:
    """The entry goes and the object is not touched."""
    return Release(cluster="c1", placement=WEB, key=CM.key, reason=reason)


def kept(code: KeepCode, reason: str, there: LiveObject | None = None) -> Keep:
    """Entry and object stay."""
    return Keep(cluster="c1", placement=WEB, key=CM.key, reason=reason, live=there, code=code)


def stays(why: str) -> Keep:
    return kept(KeepCode.STAYS, ApplyText.STAYS_AS_IT_IS(why=why))


def finalizers(names: str) -> str:
    return ApplyText.BEING_DELETED_WAITS_FINALIZERS(finalizers=names)


DROPPED = ApplyText.NO_LONGER(placement="ClusterResourcePlacement web")
WEB_LEAVES = ApplyText.LEAVES_CLUSTER(placement="ClusterResourcePlacement web")
NOT_OURS = ApplyText.NOT_APPLIED_GITFLEET()
ABANDONED = ApplyText.STAYS_CLUSTER_ABANDON(setting="deleteStrategy")
CLUSTER_ABANDONED = ApplyText.STAYS_CLUSTER_ABANDON(setting="MemberCluster's deleteOptions.propagationPolicy")


@pytest.mark.parametrize(
    ("works", "request_", "entry", "operation"),
    [
        ((work(),), {"live": {CM.key: THERE}}, ENTRY, deleted(DROPPED)),
        (
            (replace(work(), deleted={CM.key.identity: OverrideKey("ns", "drop")}),),
            {"live": {CM.key: THERE}},
            ENTRY,
            replace(
                deleted(""),
                reason=ApplyText.DELETES_CLUSTER(
                    override="ResourceOverride ns/drop", placement="ClusterResourcePlacement web"
                ),
            ),
        ),
        ((), {"live": {CM.key: THERE}, **LEAVES}, ENTRY, deleted(WEB_LEAVES)),
        ((work(CM),), {"live": {CM.key: THERE}, **LEAVES}, replace(ENTRY, placement=WEB), None),
        ((), {"live": {CM.key: None}, **LEAVES}, ENTRY, released(ApplyText.IS_GONE())),
        (
            (),
            {"live": {CM.key: live(CM, "u2")}, **LEAVES},
            ENTRY,
            released(ApplyText.REPLACED_SOMEBODY_ELSE()),
        ),
        ((), {"live": {CM.key: live(CM)}, **LEAVES}, replace(ENTRY, uid=None), released(NOT_OURS)),
        ((), {"live": {CM.key: live(CM)}, **LEAVES}, ENTRY, released(NOT_OURS)),
        ((), {"live": {CM.key: CO_OWNED}, **LEAVES}, ENTRY, released(OWNED)),
        ((work(),), {"live": {CM.key: CO_OWNED}}, ENTRY, released(OWNED)),
        ((), {"live": {CM.key: BARE}, **LEAVES}, ENTRY, deleted(WEB_LEAVES)),
        ((), {"live": {CM.key: BARE_TWICE}, **LEAVES}, ENTRY, deleted(WEB_LEAVES)),
        ((), {"live": {CM.key: BARE}, **LEAVES}, replace(ENTRY, uid=None), released(NOT_OURS)),
        ((), {"live": {CM.key: GONE}, **LEAVES}, ENTRY, kept(KeepCode.TERMINATING, finalizers(""), GONE)),
        (
            (),
            {"live": {CM.key: MANY}, **LEAVES},
            ENTRY,
            kept(KeepCode.TERMINATING, finalizers(f" (a/{'x' * 98}, b, c and 2 more)"), MANY),
        ),
        (
            (),
            {"live": {CM.key: THERE}, "unreadable": {CM.key: "500"}, **LEAVES},
            ENTRY,
            kept(KeepCode.UNREADABLE, ApplyText.COULD_NOT_READ(unreadable="500")),
        ),
        ((), LEAVES, ENTRY, kept(KeepCode.NOT_OBSERVED, ApplyText.NOT_OBSERVED())),
        ((), {"live": {CM.key: THERE}, "removing": {WEB: ABANDON}}, ENTRY, released(ABANDONED)),
        ((), {"removing": {WEB: ABANDON}, "leaving": True}, ENTRY, released(CLUSTER_ABANDONED)),
        ((), {"removing": {WEB: ABANDON}}, ENTRY, released(ABANDONED)),
        ((), {"live": {CM.key: THERE}, "removing": {OTHER: DELETE}}, ENTRY, stays(ApplyText.NOTHING_DECIDED_ABOUT())),
        (
            (work(error="no such path"),),
            {"live": {CM.key: THERE}},
            ENTRY,
            stays(ApplyText.RESOURCES_COULD_NOT(what="overridden", error="no such path")),
        ),
        (
            (replace(work(error="no such path"), unwrapped=False),),
            {"live": {CM.key: THERE}},
            ENTRY,
            stays(ApplyText.RESOURCES_COULD_NOT(what="unwrapped", error="no such path")),
        ),
        (
            (work(CM, error="no such path"),),
            {"live": {CM.key: THERE}},
            ENTRY,
            stays(ApplyText.RESOURCES_COULD_NOT(what="overridden", error="no such path")),
        ),
        ((work(type="ReportDiff"),), {"live": {CM.key: THERE}}, ENTRY, stays(ApplyText.REPORTDIFF_CHANGES_NOTHING())),
    ],
)
def test_one_entry(
    works: tuple[Work, ...], request_: dict[str, Any], entry: InventoryEntry, operation: Operation | None
) -> None:
    found = only(*works, inventory={CM.key: entry}, **request_)
    if operation is None:
        assert isinstance(found, Keep) and found.manifest is CM, "the work answers for the object"
    else:
        assert found == operation


@pytest.mark.parametrize(
    ("thing", "propagation"),
    [
        (namespace(), "Foreground"),
        (manifest(CRD), "Foreground"),
        (CM, "Background"),
        (manifest({"apiVersion": "v1", "kind": "Secret", "metadata": CUSTOM["metadata"]}), "Background"),
        (manifest({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": CUSTOM["metadata"]}), "Foreground"),
        (manifest({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": CUSTOM["metadata"]}), "Foreground"),
        (manifest(CUSTOM), "Foreground"),
    ],
)
def test_what_makes_other_objects_is_deleted_after_them(thing: Manifest, propagation: str) -> None:
    there = live(thing, manager="gitfleet")
    found = only(live={thing.key: there}, inventory={thing.key: owned(thing, there)}, **LEAVES)
    assert isinstance(found, Delete) and found.propagation == propagation


def in_use(key: ObjectKey) -> str:
    return ApplyText.STAYS_WHILE_OBJECTS_CLUSTER(user="ClusterResourcePlacement other")


def test_a_namespace_and_a_definition_stay_for_the_first_of_those_who_need_them() -> None:
    ns, crd, custom = namespace(), manifest(CRD), manifest(CUSTOM)
    things: tuple[Manifest, ...] = (ns, crd, custom)
    there = {m.key: live(m, uid=m.key.name, manager="gitfleet") for m in things}
    inventory = {m.key: owned(m, there[m.key]) for m in things}
    inventory[custom.key] = owned(custom, there[custom.key], OTHER)
    found = plan(work(custom, placement=OTHER), live=there, inventory=inventory, **LEAVES)
    assert [o for o in found if isinstance(o, Keep) and o.placement == WEB] == [
        Keep(
            cluster="c1",
            placement=WEB,
            key=thing.key,
            reason=in_use(thing.key),
            live=there[thing.key],
            code=KeepCode.NAMESPACE_IN_USE,
        )
        for thing in (ns, crd)
    ]
    new = config_map("new")
    found = plan(
        work(new, placement=OTHER), live={**there, new.key: None}, inventory={ns.key: inventory[ns.key]}, **LEAVES
    )
    assert [o.reason for o in found if isinstance(o, Keep)] == [in_use(ns.key)], "what is yet to be made counts"
    elsewhere, other_kind = namespace("elsewhere"), manifest({**CUSTOM, "kind": "Bar"})
    there = {m.key: live(m, uid=m.key.name, manager="gitfleet") for m in (elsewhere, crd, other_kind)}
    inventory = {m.key: owned(m, there[m.key]) for m in (elsewhere, crd)}
    found = plan(work(other_kind, placement=OTHER), live=there, inventory=inventory, **LEAVES)
    assert {o.key for o in found if isinstance(o, Delete)} == {elsewhere.key, crd.key}


@pytest.mark.parametrize("names", [("other", "third"), ("third", "other")])
def test_a_namespace_stays_for_the_first_by_name_of_all_who_have_something_in_it(names: tuple[str, str]) -> None:
    ns, wanted = namespace(), {name: config_map(name) for name in names}
    ours = live(ns, manager="gitfleet")
    there = {ns.key: ours, **{one.key: None for one in wanted.values()}}
    works = [work(one, placement=PlacementKey("", name)) for name, one in wanted.items()]
    found = plan(*works, live=there, inventory={ns.key: owned(ns, ours)}, **LEAVES)
    assert [o.reason for o in found if isinstance(o, Keep)] == [in_use(ns.key)]


PVC = manifest({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": CUSTOM["metadata"]})
KEEP = "helm.sh/resource-policy: keep"
IN_NS = "Release " + ApplyText.STAYS_CLUSTER_PROTECTS_2(other="PersistentVolumeClaim/ns/x", by="{by}")
ITSELF = "Release " + ApplyText.STAYS_CLUSTER_PROTECTS(by="{by}")
WAITS = "Keep " + ApplyText.STAYS_CLUSTER_STAY(other="Namespace/ns")
UNREAD = "Keep " + ApplyText.STAYS_UNTIL_READ(other="PersistentVolumeClaim/ns/x")


@pytest.mark.parametrize(
    ("seen", "recorded", "on_cluster", "said"),
    [
        ((NS, PVC), KEEP, None, (IN_NS, ITSELF)),
        ((NS, PVC), None, "gitfleet.dev/prune: false", (IN_NS, ITSELF)),
        ((NS, PVC), None, "gitfleet.dev/prune: true", ("Delete", "Delete")),
        ((NS,), KEEP, None, (UNREAD, ("Keep " + ApplyText.NOT_OBSERVED()))),
        ((NS,), None, None, (UNREAD, ("Keep " + ApplyText.NOT_OBSERVED()))),
        ((PVC,), KEEP, None, (("Keep " + ApplyText.NOT_OBSERVED()), WAITS)),
    ],
)
def test_a_namespace_leaves_the_inventory_with_what_is_protected_in_it_and_no_later(
    seen: tuple[Manifest, ...], recorded: str | None, on_cluster: str | None, said: tuple[str, str]
) -> None:
    """Without its entry nothing would protect an object from the deletion of its namespace in a later reconcile."""
    name, _, value = (on_cluster or KEEP).partition(": ")
    more: dict[str, Any] = {"metadata": {"annotations": {name: value}}} if on_cluster else {}
    there = {m.key: live(m, uid=m.key.kind, manager="gitfleet", **(more if m is PVC else {})) for m in (NS, PVC)}
    entries = {m.key: owned(m, there[m.key]) for m in (NS, PVC)}
    entries[PVC.key] = replace(entries[PVC.key], protected_by=recorded)
    found = {o.key: o for o in plan(live={m.key: there[m.key] for m in seen}, inventory=entries, **LEAVES)}
    for key, expected in zip((NS.key, PVC.key), said, strict=True):
        operation = found[key]
        if isinstance(operation, Keep):
            unseen = part(ApplyText.NOT_OBSERVED) in expected
            why = (None, KeepCode.NOT_OBSERVED) if unseen else (there[key], KeepCode.NAMESPACE_IN_USE)
            assert (operation.live, operation.code) == why
        text = (
            type(operation).__name__
            if isinstance(operation, Delete)
            else f"{type(operation).__name__} {operation.reason}"
        )
        assert text == expected.format(by=on_cluster or KEEP)


def test_a_definition_stays_with_what_is_protected_of_its_kind() -> None:
    crd, custom, other = manifest(CRD), manifest(CUSTOM), manifest({**CUSTOM, "kind": "Bar"})
    for protected, released_ in ((custom, {crd.key, custom.key}), (other, {other.key})):
        there = {m.key: live(m, uid=m.key.kind, manager="gitfleet") for m in (crd, custom, other)}
        entries = {m.key: owned(m, there[m.key]) for m in (crd, custom, other)}
        entries[protected.key] = replace(entries[protected.key], protected_by=KEEP)
        found = plan(live=there, inventory=entries, **LEAVES)
        assert {o.key for o in found if isinstance(o, Release)} == released_
        assert {o.key for o in found if isinstance(o, Delete)} == {*there} - released_


def test_what_another_one_owns_goes_with_its_namespace_where_that_goes() -> None:
    there = {CM.key: CO_OWNED, NS.key: live(NS, uid="ns", manager="gitfleet")}
    entries = {m.key: owned(m, there[m.key]) for m in (CM, NS)}
    for protected, said in (
        (None, ApplyText.OWNS_TOO(why=ApplyText.GOES_DELETED(taker=NS.key), owner="HelmRelease x")),
        (KEEP, OWNED),
    ):
        entries[NS.key] = replace(entries[NS.key], protected_by=protected)
        found = {o.key: o for o in plan(live=there, inventory=entries, **LEAVES)}
        assert isinstance(found[NS.key], Delete) is (protected is None)
        assert found[CM.key] == released(said)


def test_a_definition_that_is_gone_or_names_no_kind_takes_nothing_along() -> None:
    crd, custom = manifest(CRD), manifest(CUSTOM)
    there = {m.key: live(m, uid=m.key.kind, manager="gitfleet") for m in (crd, custom)}
    entries = {m.key: owned(m, there[m.key]) for m in (crd, custom)}
    entries[custom.key] = replace(entries[custom.key], protected_by=KEEP)
    nameless = live(manifest({**CRD, "spec": {}}), uid="nameless", manager="gitfleet")
    for definition, becomes in ((None, Release), (nameless, Delete)):
        if definition is not None:
            entries[crd.key] = owned(crd, definition)
        found = {o.key: o for o in plan(live={**there, crd.key: definition}, inventory=entries, **LEAVES)}
        assert {key: type(operation) for key, operation in found.items()} == {crd.key: becomes, custom.key: Release}


def test_a_namespace_in_which_something_was_left_before_is_not_deleted() -> None:
    there = {NS.key: live(NS, uid="n", manager="gitfleet")}
    entry = replace(owned(NS, there[NS.key]), keeps=("PersistentVolumeClaim/ns/x",))
    (found,) = plan(live=there, inventory={NS.key: entry}, **LEAVES)
    assert isinstance(found, Release)
    assert found.reason == ApplyText.STAYS_CLUSTER_LEFT_NEVER_DELETED(left="PersistentVolumeClaim/ns/x")


def test_what_is_protected_is_let_go_of_where_its_namespace_is_wanted() -> None:
    there = {m.key: live(m, uid=m.key.kind, manager="gitfleet") for m in (NS, PVC)}
    entries = {m.key: owned(m, there[m.key]) for m in (NS, PVC)}
    entries[PVC.key] = replace(entries[PVC.key], protected_by=KEEP)
    found = plan(work(NS), live=there, inventory=entries)
    assert [type(operation) for operation in found] == [Keep, Release]


def test_a_definition_that_says_it_defines_definitions_takes_none_along() -> None:
    names = {"kind": "CustomResourceDefinition", "plural": "customresourcedefinitions"}
    odd = manifest({**CRD, "metadata": {"name": "odd"}, "spec": {"group": "apiextensions.k8s.io", "names": names}})
    there = {m.key: live(m, uid=m.key.name, manager="gitfleet") for m in (odd, manifest(CRD))}
    entries = {
        key: replace(owned(Manifest(key, {}, "", odd.origin), one), protected_by=KEEP) for key, one in there.items()
    }
    found = plan(live=there, inventory=entries, **LEAVES)
    assert [type(operation) for operation in found] == [Release, Release]


@pytest.mark.parametrize("protection", [KEEP, None])
@pytest.mark.parametrize("namespaces", [False, True], ids=["in one namespace", "in namespaces of their own"])
def test_removing_much_costs_as_much_as_there_is(protection: str | None, namespaces: bool) -> None:
    def run(size: int) -> Callable[[], object]:
        names = [f"ns{i}" for i in range(size)] if namespaces else ["ns"]
        within = [names[i % len(names)] for i in range(size)]
        maps = [manifest(make.config_map(name, f"cm{i}", {"a": "1"})) for i, name in enumerate(within)]
        gone = [*(manifest(make.namespace(name)) for name in names), *maps]
        there = {m.key: live(m, uid=str(m.key), manager="gitfleet") for m in gone}
        by = {m.key: protection if m.key.kind == "ConfigMap" else None for m in gone}
        entries = {m.key: replace(owned(m, there[m.key]), protected_by=by[m.key]) for m in gone}
        return lambda: plan(live=there, inventory=entries, **LEAVES)

    assert grows_with_its_input(run)


@pytest.mark.parametrize(("error", "stays"), [(None, True), ("no such path", False)])
def test_a_namespace_stays_for_all_that_is_compared_in_it(error: str | None, stays: bool) -> None:
    ns, elsewhere = namespace(), config_map("a", namespace="elsewhere")
    seen = live(ns, manager="gitfleet")
    there = {ns.key: seen, CM.key: None, elsewhere.key: None}
    reports = work(elsewhere, CM, placement=OTHER, error=error, type="ReportDiff")
    found = plan(reports, live=there, inventory={ns.key: owned(ns, seen)}, **LEAVES)
    (of_web,) = [one for one in found if one.placement == WEB]
    assert (of_web.reason == in_use(ns.key)) is stays and isinstance(of_web, Keep if stays else Delete)


@pytest.mark.parametrize(
    ("conditions", "said"),
    [
        ([], ""),
        ([("NamespaceDeletionDiscoveryFailure", "False", "All resources successfully discovered")], ""),
        (
            [
                ("NamespaceContentRemaining", "True", "configmaps. has 1 resource instances"),
                ("NamespaceDeletionDiscoveryFailure", "True", "Discovery failed for some groups, 1 failing: a\n b"),
            ],
            "NamespaceDeletionDiscoveryFailure: Discovery failed for some groups, 1 failing: a b",
        ),
        ([("NamespaceFinalizersRemaining", "True", "x" * 400)], f"NamespaceFinalizersRemaining: {'x' * 300}"),
    ],
)
def test_a_namespace_that_does_not_go_says_why(conditions: list[tuple[str, str, str]], said: str) -> None:
    found = [{"type": type_, "status": status, "message": message} for type_, status, message in conditions]
    key = ObjectKey("", "v1", "Namespace", "", "web")
    body = {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}, "status": {"conditions": found}}
    assert stuck_namespace(LiveObject(key, body)) == said
    assert stuck_namespace(LiveObject(ObjectKey("", "v1", "Pod", "web", "web"), body)) == ""


def test_what_the_gate_does_not_let_go_stays_and_so_does_its_namespace() -> None:
    ns = namespace()
    there = {one.key: live(one, one.key.name, manager="gitfleet") for one in (CM, ns)}
    entries = {one.key: owned(one, there[one.key]) for one in (CM, ns)}
    why = "waits for hold-web-1 (Emptied)"
    gate = ClusterGate("c1", {ns.key.identity: "requested"}, {CM.key.identity: why})
    request = ApplyRequest(cluster="c1", live=there, inventory=entries, gate=gate, **LEAVES)
    outer, inside = plan_apply(request)
    assert inside == kept(KeepCode.REMOVAL_HELD, ApplyText.REMOVAL_HELD(why=why), there[CM.key])
    assert isinstance(outer, Keep) and outer.code is KeepCode.REMOVAL_HELD
    unknown = plan_apply(replace(request, gate=replace(gate, held={})))
    assert [one.code for one in unknown if isinstance(one, Keep)] == [KeepCode.REMOVAL_HELD] * 2
    let = replace(gate, let_go={one.key.identity: "hold-web-1" for one in (CM, ns)}, held={})
    permits = [one.permit for one in plan_apply(replace(request, gate=let)) if isinstance(one, Delete)]
    assert permits == [Permit("c1", CM.key.identity, "hold-web-1"), Permit("c1", ns.key.identity, "hold-web-1")]
