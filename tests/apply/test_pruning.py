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
from gitfleet.desired.texts import DesiredText
from gitfleet.model.failures import Failures
from gitfleet.model.observations import LiveObject
from gitfleet.model.operations import Delete, Keep, KeepCode, Operation, PropagationPolicy, Release, Update
from gitfleet.model.state import MisreadObjects, PlacementRecord
from gitfleet.model.successors import Successors
from gitfleet.model.works import Work
from tests import builders as make
from tests.apply.model_cluster import config_map, manifest, namespace
from tests.apply.test_plan_apply import CRD, CUSTOM, OTHER, WEB, live, only, owned, plan, work
from tests.growth import grows_with_its_input
from tests.removals.fleets import placed

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
OWNED = ApplyText.STAYS_CLUSTER() + ": HelmRelease x owns it, too"
DELETE, ABANDON = DeletePropagation.DELETE, DeletePropagation.ABANDON
LEAVES: dict[str, Any] = {"removing": {WEB: DELETE}}


def deleted(why: str) -> Delete:
    """The object goes, as long as it has the uid that was seen."""
    return Delete(
        cluster="c1",
        placement=WEB,
        key=CM.key,
        uid="u1",
        wave=1,
        reason=f"ClusterResourcePlacement web {why}",
        propagation=PropagationPolicy.BACKGROUND,
    )


def released(why: str) -> Release:
    """The entry goes and the object is not touched."""
    return Release(cluster="c1", placement=WEB, key=CM.key, reason=f"ConfigMap/ns/cm {why}")


def kept(code: KeepCode, why: str, there: LiveObject | None = None) -> Keep:
    """Entry and object stay."""
    return Keep(cluster="c1", placement=WEB, key=CM.key, reason=f"ConfigMap/ns/cm {why}", live=there, code=code)


OTHER_CM = ("", "ConfigMap", "ns", "other")
FINALIZERS = "is being deleted and waits for its finalizers"


@pytest.mark.parametrize(
    ("works", "request_", "entry", "operation"),
    [
        ((work(),), {"live": {CM.key: THERE}}, ENTRY, deleted("has it no longer")),
        (
            (replace(work(), deleted={CM.key.identity: OverrideKey("ns", "drop")}),),
            {"live": {CM.key: THERE}},
            ENTRY,
            replace(
                deleted(""),
                reason=ApplyText.DELETES_CLUSTER(
                    override="ResourceOverride",
                    override_2="ns/drop",
                    placement="ClusterResourcePlacement",
                    placement_2="web",
                ),
            ),
        ),
        (
            (replace(work(), deleted={OTHER_CM: OverrideKey("ns", "drop")}),),
            {"live": {CM.key: THERE}},
            ENTRY,
            deleted("has it no longer"),
        ),
        ((), {"live": {CM.key: THERE}, **LEAVES}, ENTRY, deleted("leaves the cluster")),
        ((work(CM),), {"live": {CM.key: THERE}, **LEAVES}, replace(ENTRY, placement=WEB), None),
        ((), {"live": {CM.key: None}, **LEAVES}, ENTRY, released("is gone")),
        ((), {"live": {CM.key: live(CM, "u2")}, **LEAVES}, ENTRY, released(ApplyText.REPLACED_SOMEBODY_ELSE())),
        ((), {"live": {CM.key: live(CM)}, **LEAVES}, replace(ENTRY, uid=None), released("is not applied by gitfleet")),
        ((), {"live": {CM.key: live(CM)}, **LEAVES}, ENTRY, released("is not applied by gitfleet")),
        ((), {"live": {CM.key: CO_OWNED}, **LEAVES}, ENTRY, released(OWNED)),
        ((work(),), {"live": {CM.key: CO_OWNED}}, ENTRY, released(OWNED)),
        ((), {"live": {CM.key: BARE}, **LEAVES}, ENTRY, deleted("leaves the cluster")),
        ((), {"live": {CM.key: BARE_TWICE}, **LEAVES}, ENTRY, deleted("leaves the cluster")),
        ((), {"live": {CM.key: BARE}, **LEAVES}, replace(ENTRY, uid=None), released("is not applied by gitfleet")),
        ((), {"live": {CM.key: GONE}, **LEAVES}, ENTRY, kept(KeepCode.TERMINATING, FINALIZERS, GONE)),
        (
            (),
            {"live": {CM.key: MANY}, **LEAVES},
            ENTRY,
            kept(KeepCode.TERMINATING, f"{FINALIZERS} (a/{'x' * 98}, b, c and 2 more)", MANY),
        ),
        (
            (),
            {"live": {CM.key: THERE}, "unreadable": {CM.key: "500"}, **LEAVES},
            ENTRY,
            kept(KeepCode.UNREADABLE, (DesiredText.COULD_NOT_READ() + ": 500")),
        ),
        ((), LEAVES, ENTRY, kept(KeepCode.NOT_OBSERVED, "was not observed")),
        (
            (),
            {"live": {CM.key: THERE}, "removing": {WEB: ABANDON}},
            ENTRY,
            released(ApplyText.STAYS_CLUSTER() + ": the deleteStrategy is Abandon"),
        ),
        (
            (),
            {"removing": {WEB: ABANDON}, "leaving": True},
            ENTRY,
            released(ApplyText.STAYS_CLUSTER() + ": the MemberCluster's deleteOptions.propagationPolicy is Abandon"),
        ),
        (
            (),
            {"removing": {WEB: ABANDON}},
            ENTRY,
            released(ApplyText.STAYS_CLUSTER() + ": the deleteStrategy is Abandon"),
        ),
        (
            (),
            {"live": {CM.key: THERE}, "removing": {OTHER: DELETE}},
            ENTRY,
            kept(KeepCode.HELD, ("stays as it is: " + ApplyText.NOTHING_DECIDED_ABOUT())),
        ),
        (
            (work(error="no such path"),),
            {"live": {CM.key: THERE}},
            ENTRY,
            kept(
                KeepCode.HELD,
                ("stays as it is: " + ApplyText.RESOURCES_COULD_NOT(what="overridden", error="no such path")),
            ),
        ),
        (
            (replace(work(error="no such path"), unwrapped=False),),
            {"live": {CM.key: THERE}},
            ENTRY,
            kept(
                KeepCode.HELD,
                ("stays as it is: " + ApplyText.RESOURCES_COULD_NOT(what="unwrapped", error="no such path")),
            ),
        ),
        (
            (work(CM, error="no such path"),),
            {"live": {CM.key: THERE}},
            ENTRY,
            kept(
                KeepCode.HELD,
                ("stays as it is: " + ApplyText.RESOURCES_COULD_NOT(what="overridden", error="no such path")),
            ),
        ),
        (
            (work(type="ReportDiff"),),
            {"live": {CM.key: THERE}},
            ENTRY,
            kept(KeepCode.HELD, ("stays as it is: " + ApplyText.REPORTDIFF_CHANGES_NOTHING())),
        ),
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


def test_what_another_placement_wants_too_is_handed_over_and_not_deleted() -> None:
    """The leaving placement's entry says nothing: the other's work answers for the object."""
    request: dict[str, Any] = {"live": {CM.key: THERE}, "inventory": {CM.key: ENTRY}}
    assert [type(o).__name__ for o in plan(work(CM, placement=OTHER), **LEAVES, **request)] == ["Update"]
    (held,) = plan(work(CM, placement=OTHER, type="ReportDiff"), **LEAVES, **request)
    assert isinstance(held, Keep) and held.placement == OTHER, "what is compared is not deleted under the comparison"


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


def test_a_namespace_and_a_definition_stay_for_the_first_of_those_who_need_them() -> None:
    ns, crd, custom = namespace(), manifest(CRD), manifest(CUSTOM)
    things: tuple[Manifest, ...] = (ns, crd, custom)
    there = {m.key: live(m, uid=m.key.name, manager="gitfleet") for m in things}
    inventory = {m.key: owned(m, there[m.key]) for m in things}
    inventory[custom.key] = owned(custom, there[custom.key], OTHER)
    found = plan(work(custom, placement=OTHER), live=there, inventory=inventory, **LEAVES)
    why = "stays while ClusterResourcePlacement other has objects in it on this cluster"
    assert [o for o in found if isinstance(o, Keep) and o.placement == WEB] == [
        Keep(
            cluster="c1",
            placement=WEB,
            key=thing.key,
            reason=f"{thing.key} {why}",
            live=there[thing.key],
            code=KeepCode.NAMESPACE_IN_USE,
        )
        for thing in (ns, crd)
    ]
    new = config_map("new")
    found = plan(
        work(new, placement=OTHER), live={**there, new.key: None}, inventory={ns.key: inventory[ns.key]}, **LEAVES
    )
    assert [o.reason for o in found if isinstance(o, Keep)] == [f"{ns.key} {why}"], "what is yet to be made counts"
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
    why = "stays while ClusterResourcePlacement other has objects in it on this cluster"
    assert [o.reason for o in found if isinstance(o, Keep)] == [f"{ns.key} {why}"]


PVC = manifest({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": CUSTOM["metadata"]})
KEEP = "helm.sh/resource-policy: keep"
IN_NS = "Release " + ApplyText.STAYS_CLUSTER_PROTECTS_2(
    entry="Namespace/ns", other="PersistentVolumeClaim/ns/x", by="{by}"
)
ITSELF = "Release " + ApplyText.STAYS_CLUSTER_PROTECTS(entry="PersistentVolumeClaim/ns/x", by="{by}")
WAITS = "Keep " + ApplyText.STAYS_CLUSTER_STAY(entry="PersistentVolumeClaim/ns/x", other="Namespace/ns")
UNREAD = "Keep " + ApplyText.STAYS_UNTIL_READ(entry="Namespace/ns", other="PersistentVolumeClaim/ns/x")


@pytest.mark.parametrize(
    ("seen", "recorded", "on_cluster", "said"),
    [
        ((NS, PVC), KEEP, None, (IN_NS, ITSELF)),
        ((NS, PVC), None, "gitfleet.dev/prune: false", (IN_NS, ITSELF)),
        ((NS, PVC), None, "gitfleet.dev/prune: true", ("Delete", "Delete")),
        ((NS,), KEEP, None, (UNREAD, ("Keep " + ApplyText.NOT_OBSERVED(key="PersistentVolumeClaim/ns/x")))),
        ((NS,), None, None, (UNREAD, ("Keep " + ApplyText.NOT_OBSERVED(key="PersistentVolumeClaim/ns/x")))),
        ((PVC,), KEEP, None, (("Keep " + ApplyText.NOT_OBSERVED(key="Namespace/ns")), WAITS)),
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
            unseen = "was not observed" in expected
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
        (None, (ApplyText.GOES_DELETED(taker=NS.key) + ": HelmRelease x owns it, too")),
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
    why = ApplyText.STAYS_CLUSTER() + " with PersistentVolumeClaim/ns/x, left in it as never to be deleted"
    assert found.reason == f"Namespace/ns {why}"


def test_what_is_protected_is_let_go_of_where_its_namespace_is_wanted() -> None:
    there = {m.key: live(m, uid=m.key.kind, manager="gitfleet") for m in (NS, PVC)}
    entries = {m.key: owned(m, there[m.key]) for m in (NS, PVC)}
    entries[PVC.key] = replace(entries[PVC.key], protected_by=KEEP)
    found = plan(work(NS), live=there, inventory=entries)
    assert [type(operation) for operation in found] == [Keep, Release]


HAS_NS: dict[str, Any] = {"works": (work(NS, placement=OTHER),)}


@pytest.mark.parametrize(
    ("request_", "waits"),
    [
        (HAS_NS, False),
        ({**HAS_NS, "held": {OTHER: {NS.key.identity}}}, True),
        ({**HAS_NS, "given_up": {OTHER: {NS.key.identity}}}, True),
        ({**HAS_NS, "held": {WEB: {NS.key.identity}}, "given_up": {OTHER: {PVC.key.identity}}}, False),
        ({**HAS_NS, "going": {OTHER}}, True),
        ({**HAS_NS, "keepers": {OTHER: "hold-a"}}, True),
        ({**HAS_NS, "may_leave": True}, True),
        ({}, False),
    ],
)
def test_what_is_protected_waits_for_what_it_lies_in_where_that_stays_only_for_now(
    request_: dict[str, Any], waits: bool
) -> None:
    """The removal of the namespace waits for an answer or a rollout: nobody asks again before it is done."""
    there = {m.key: live(m, uid=m.key.kind, manager="gitfleet") for m in (NS, PVC)}
    entries = {NS.key: owned(NS, there[NS.key], OTHER), PVC.key: replace(owned(PVC, there[PVC.key]), protected_by=KEEP)}
    request = ApplyRequest(cluster="c1", live=there, inventory=entries, removing={WEB: DELETE}, **request_)
    (found,) = (operation for operation in plan_apply(request) if operation.key == PVC.key)
    said = WAITS if waits else ITSELF.format(by=KEEP)
    assert f"{type(found).__name__} {found.reason}" == said


def test_a_namespace_that_stays_for_another_one_may_be_deleted_yet() -> None:
    there = {m.key: live(m, uid=m.key.kind, manager="gitfleet") for m in (NS, PVC)}
    entries = {m.key: replace(owned(m, there[m.key]), protected_by=KEEP if m is PVC else None) for m in (NS, PVC)}
    records = {OTHER: placed(OTHER, ("c1",), NS)}
    request = ApplyRequest(cluster="c1", live=there, inventory=entries, **LEAVES)
    found = plan_apply(request, Failures(), Successors(records))
    assert [getattr(operation, "code", None) for operation in found] == [
        KeepCode.KEPT_FOR_SUCCESSOR, KeepCode.NAMESPACE_IN_USE
    ]  # fmt: skip


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


def without_any(record: PlacementRecord) -> PlacementRecord:
    """The placement, of which nothing was applied anywhere."""
    return replace(record, bindings=tuple(replace(one, applied_snapshot=None) for one in record.bindings))


HAVE_IT = placed(OTHER, ("c1",), CM)
ELSEWHERE = replace(HAVE_IT, bindings=())
DROPS = {CM.key.identity: OverrideKey("ns", "drop")}
STAYS = "stays until ClusterResourcePlacement other, which selects it, has it here"


@pytest.mark.parametrize(
    ("records", "works", "request_", "operation"),
    [
        ([], (), {}, deleted("leaves the cluster")),
        ([HAVE_IT], (), {}, kept(KeepCode.KEPT_FOR_SUCCESSOR, STAYS, THERE)),
        ([HAVE_IT], (), {"leaving": True}, deleted("leaves the cluster")),
        ([HAVE_IT], (replace(work(placement=OTHER), deleted=DROPS),), {}, deleted("leaves the cluster")),
        (
            [ELSEWHERE], (), {},
            kept(
                KeepCode.KEPT_FOR_SUCCESSOR,
                "stays until ClusterResourcePlacement other, which selects it, has it where it is picked", THERE,
            ),
        ),
        ([placed(WEB, ("c2",), CM)], (), {}, deleted("leaves the cluster")),
        ([without_any(placed(WEB, ("c2",), CM))], (), {}, deleted("leaves the cluster")),
    ],
)  # fmt: skip
def test_what_a_placement_gives_up_stays_for_another_one(
    records: list[PlacementRecord], works: tuple[Work, ...], request_: dict[str, Any], operation: Operation
) -> None:
    request = ApplyRequest(cluster="c1", works=works, live={CM.key: THERE}, inventory={CM.key: ENTRY}, **LEAVES)
    successors = Successors({record.placement.key: record for record in records})
    assert plan_apply(replace(request, **request_), Failures(), successors) == (operation,)


THIRD = PlacementKey("", "third")
WANTS = replace(placed(THIRD, ("c1",), CM), conditions=())


@pytest.mark.parametrize(
    ("other", "more", "stays"),
    [({}, {}, False), ({"type": "ReportDiff"}, {}, True), ({}, {"going": {OTHER}}, True)],
    ids=["applies it", "reports", "leaves, and gave it away"],
)
def test_what_another_one_applies_here_already_stays_for_no_third_one(
    other: dict[str, Any], more: dict[str, Any], stays: bool
) -> None:
    """A placement that leaves counts this cluster among those that it may leave at once, unless all that it has here is
    said to stay."""
    request = ApplyRequest(
        cluster="c1", works=(work(CM, placement=OTHER, **other),), live={CM.key: THERE},
        inventory={CM.key: ENTRY}, known_namespaces=("ns",), **LEAVES, **more,
    )  # fmt: skip
    found = plan_apply(request, Failures(), Successors({THIRD: WANTS}))
    waits = kept(KeepCode.KEPT_FOR_SUCCESSOR, STAYS.replace("other", "third"), THERE)
    assert [one for one in found if one.placement == WEB] == ([waits] if stays else [])
    assert [type(one) for one in found if one.placement == OTHER] == [Keep if stays else Update]


def test_an_error_that_concerns_another_object_is_not_what_it_stays_for() -> None:
    request = ApplyRequest(cluster="c1", live={CM.key: THERE}, inventory={CM.key: ENTRY}, **LEAVES)
    misread = {OTHER: MisreadObjects("placements/other.yaml", frozenset({OTHER_CM}))}
    successors = Successors({OTHER: HAVE_IT}, misread=misread)
    assert plan_apply(request, Failures(), successors) == (kept(KeepCode.KEPT_FOR_SUCCESSOR, STAYS, THERE),)


@pytest.mark.parametrize(("error", "stays"), [(None, True), ("no such path", False)])
def test_a_namespace_stays_for_all_that_is_compared_in_it(error: str | None, stays: bool) -> None:
    ns, elsewhere = namespace(), config_map("a", namespace="elsewhere")
    seen = live(ns, manager="gitfleet")
    there = {ns.key: seen, CM.key: None, elsewhere.key: None}
    reports = work(elsewhere, CM, placement=OTHER, error=error, type="ReportDiff")
    found = plan(reports, live=there, inventory={ns.key: owned(ns, seen)}, **LEAVES)
    (of_web,) = [one for one in found if one.placement == WEB]
    why = f"{ns.key}" + ApplyText.STAYS_WHILE_OBJECTS_CLUSTER(entry="", user="ClusterResourcePlacement", user_2="other")
    assert (of_web.reason == why) is stays and isinstance(of_web, Keep if stays else Delete)


@pytest.mark.parametrize(("records", "stays"), [([HAVE_IT], True), ([], False)])
def test_a_namespace_stays_for_what_is_let_go_of_in_it_until_another_one_has_that(
    records: list[PlacementRecord], stays: bool
) -> None:
    """web lets go of the object and leaves it there, a third placement deletes the namespace."""
    ns, third = namespace(), replace(OTHER, name="third")
    there = {CM.key: THERE, ns.key: live(ns, uid="ns", manager="gitfleet")}
    inventory = {CM.key: ENTRY, ns.key: owned(ns, there[ns.key], third)}
    request = ApplyRequest(
        cluster="c1", live=there, inventory=inventory, removing={WEB: ABANDON, third: DELETE}, known_namespaces=("ns",)
    )
    successors = Successors({record.placement.key: record for record in records})
    found = plan_apply(request, Failures(), successors)
    assert {one.key: type(one) for one in found} == {CM.key: Release, ns.key: Keep if stays else Delete}


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
        (
            [("NamespaceFinalizersRemaining", "True", "x" * 400)],
            f"NamespaceFinalizersRemaining: {'x' * 300}",
        ),
    ],
)
def test_a_namespace_that_does_not_go_says_why(conditions: list[tuple[str, str, str]], said: str) -> None:
    found = [{"type": type_, "status": status, "message": message} for type_, status, message in conditions]
    key = ObjectKey("", "v1", "Namespace", "", "web")
    body = {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}, "status": {"conditions": found}}
    assert stuck_namespace(LiveObject(key, body)) == said
    assert stuck_namespace(LiveObject(ObjectKey("", "v1", "Pod", "web", "web"), body)) == ""
