"""What is decided about one manifest, as the whole operation: code, sentence, what was found there and the details."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.bindings import FieldWriter
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.placements import PlacementKey
from gitfleet.api.strategies import DeletePropagation
from gitfleet.apply.texts import ApplyText
from gitfleet.model.observations import LiveObject
from gitfleet.model.operations import Create, Keep, KeepCode, Operation, Refuse, RefuseCode, Update
from tests.apply.model_cluster import config_map, manifest
from tests.apply.test_plan_apply import OTHER, WEB, live, only, owned, plan, work

CM = config_map("cm", a="1")
SAME, DRIFTED, MORE = live(CM), live(config_map("cm", a="9")), live(config_map("cm", a="1", b="2"))
TWO = live(config_map("cm", a="9", c="3"))
ENTRY = owned(CM, SAME)
GONE = live(CM, metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
A_DIFFERS = (("/data/a", "9", "1"),)
B_IS_MORE = (("/data/b", "2", None),)
NOT_ASKED = "; " + ApplyText.SERVER_FILLED_COUNTS_WELL(error=ApplyText.SERVER_NOT_ASKED_YET())
FULL: dict[str, Any] = {"comparison_option": "FullComparison"}
REPORT: dict[str, Any] = {"type": "ReportDiff"}
CAREFUL: dict[str, Any] = {"when_to_apply": "IfNotDrifted"}


def kept(code: KeepCode, reason: str, there: LiveObject | None, details: Any = ()) -> Keep:
    """The object stays as it is."""
    return Keep(
        cluster="c1", placement=WEB, key=CM.key, reason=reason, manifest=CM, live=there, code=code, details=details
    )


def refused(code: RefuseCode, reason: str, there: LiveObject | None, details: Any = ()) -> Refuse:
    """The object is not applied."""
    return Refuse(
        cluster="c1", placement=WEB, key=CM.key, code=code, reason=reason, manifest=CM, live=there, details=details
    )


def updated(reason: str, there: LiveObject, **more: Any) -> Update:
    """The object is applied."""
    return Update(cluster="c1", placement=WEB, manifest=CM, wave=1, reason=reason, live=there, **more)


A_IS_9 = ApplyText.IS_AND_SHOULD_BE(path="/data/a", there="9", wanted="", by="", more_than_first="1")
B_IS_THERE = ApplyText.SHOULD_NOT(path="/data/b", by=NOT_ASKED)
HERE_BEFORE, REPLACED = ApplyText.WAS_THERE_BEFORE(), ApplyText.REPLACED_SOMEBODY_ELSE()
UNCONFIRMED = ApplyText.LAST_APPLY_NOT_CONFIRMED()
IF_NO_DIFF: dict[str, Any] = {"when_to_take_over": "IfNoDiff"}
NEVER: dict[str, Any] = {"when_to_take_over": "Never"}


def drifted(first: str, there: LiveObject, details: Any) -> Refuse:
    """The object is not applied over drift."""
    return refused(RefuseCode.FOUND_DRIFTS, ApplyText.DRIFTED(first=first, doubt=""), there, details)


def differs(first: str, there: LiveObject, details: Any) -> Refuse:
    """The object is not taken over."""
    why = ApplyText.DIFFERS_FROM_MANIFEST(found=HERE_BEFORE, first="", doubt=first)
    return refused(RefuseCode.FAILED_TO_TAKE_OVER, why, there, details)


def created(reason: str) -> Create:
    """The object is made."""
    return Create(cluster="c1", placement=WEB, manifest=CM, wave=1, reason=reason)


def found(first: str, there: LiveObject, details: Any) -> Keep:
    """The object is reported."""
    return kept(KeepCode.FOUND_DIFF, ApplyText.DIFFERS(first=first, doubt=""), there, details)


@pytest.mark.parametrize(
    ("strategy", "there", "entry", "operation"),
    [
        ({}, SAME, ENTRY, kept(KeepCode.IN_PLACE, ApplyText.AS_APPLIED(), SAME)),
        (FULL, SAME, ENTRY, kept(KeepCode.IN_PLACE, ApplyText.AS_APPLIED(), SAME)),
        (FULL, MORE, ENTRY, kept(KeepCode.IN_PLACE, ApplyText.AS_APPLIED(), MORE, B_IS_MORE)),
        (CAREFUL, SAME, ENTRY, kept(KeepCode.IN_PLACE, ApplyText.AS_APPLIED(), SAME)),
        (CAREFUL, DRIFTED, ENTRY, drifted(A_IS_9, DRIFTED, A_DIFFERS)),
        (CAREFUL | FULL, MORE, ENTRY, drifted(B_IS_THERE, MORE, B_IS_MORE)),
        (
            CAREFUL | FULL,
            TWO,
            ENTRY,
            drifted(f"{A_IS_9} (and 1 more){NOT_ASKED}", TWO, (*A_DIFFERS, ("/data/c", "3", None))),
        ),
        ({}, DRIFTED, ENTRY, updated(ApplyText.DRIFTED(first=A_IS_9, doubt=""), DRIFTED)),
        (
            {},
            SAME,
            replace(ENTRY, shape_digest="before"),
            updated(ApplyText.DRIFTED(first=ApplyText.LABELS_ANNOTATIONS_CHANGED(), doubt=""), SAME),
        ),
        ({}, SAME, replace(ENTRY, applied_digest="old"), updated(ApplyText.MANIFEST_CHANGED(), SAME)),
        ({}, SAME, replace(ENTRY, applied_digest=None), updated(UNCONFIRMED, SAME)),
        ({}, SAME, replace(ENTRY, shape_digest=None), updated(UNCONFIRMED, SAME)),
        (CAREFUL, SAME, replace(ENTRY, shape_digest=None), updated(UNCONFIRMED, SAME, resource_version="7")),
        ({}, GONE, ENTRY, kept(KeepCode.TERMINATING, ApplyText.BEING_DELETED_MADE_AGAIN_ONCE(), GONE)),
        ({}, None, ENTRY, created(ApplyText.REMOVED_FROM_CLUSTER())),
        ({}, None, replace(ENTRY, uid=None), created(ApplyText.NOT_CLUSTER_YET())),
        ({}, SAME, None, updated(ApplyText.TAKEN_OVER(found=HERE_BEFORE), SAME)),
        ({}, SAME, replace(ENTRY, uid=None), updated(ApplyText.TAKEN_OVER(found=HERE_BEFORE), SAME)),
        ({}, SAME, replace(ENTRY, uid="older"), updated(ApplyText.TAKEN_OVER(found=REPLACED), SAME)),
        (
            NEVER,
            SAME,
            replace(ENTRY, uid="older"),
            refused(RefuseCode.NOT_TAKEN_OVER, ApplyText.WHENTOTAKEOVER_NEVER(found=REPLACED), SAME),
        ),
        (IF_NO_DIFF, DRIFTED, None, differs(A_IS_9, DRIFTED, A_DIFFERS)),
        (IF_NO_DIFF | FULL, MORE, None, differs(B_IS_THERE, MORE, B_IS_MORE)),
        (IF_NO_DIFF, MORE, None, updated(ApplyText.TAKEN_OVER(found=HERE_BEFORE), MORE)),
        (REPORT, SAME, None, kept(KeepCode.NO_DIFF_FOUND, ApplyText.NO_DIFFERENCE_FOUND(), SAME)),
        (REPORT | FULL, MORE, None, found(B_IS_THERE, MORE, B_IS_MORE)),
        (REPORT, DRIFTED, None, found(A_IS_9, DRIFTED, A_DIFFERS)),
        (
            REPORT,
            None,
            None,
            kept(KeepCode.FOUND_DIFF, ApplyText.NOT_CLUSTER(), None, (("/", None, ApplyText.WHOLE_OBJECT()),)),
        ),
    ],
)
def test_one_manifest(
    strategy: dict[str, Any], there: LiveObject | None, entry: InventoryEntry | None, operation: Operation
) -> None:
    inventory = {CM.key: entry} if entry else {}
    assert only(work(CM, **strategy), live={CM.key: there}, inventory=inventory) == operation


@pytest.mark.parametrize(
    ("owner", "why"),
    [
        (WEB, ApplyText.DRIFTED(first=A_IS_9, doubt="")),
        (OTHER, ApplyText.HANDED_OVER_2(placement="ClusterResourcePlacement other")),
    ],
)
def test_what_was_applied_before_and_is_wanted_no_more_goes_with_drift_and_as_it_is_handed_over(
    owner: PlacementKey, why: str
) -> None:
    there = live(config_map("cm", a="9", b="2"))
    entry = replace(ENTRY, placement=owner)
    asked: dict[str, Any] = {"live": {CM.key: there}, "inventory": {CM.key: entry}}
    before = {entry: config_map("cm", a="1", b="2")}
    operation = only(work(CM), applied=before.get, removing={OTHER: DeletePropagation.DELETE}, **asked)
    assert operation == updated(why, there, removes={"f:data": {"f:b": {}}})


def deployment(web: str, log: str) -> dict[str, Any]:
    """Two containers."""
    containers = [{"name": "web", "image": web}, {"name": "log", "image": log}]
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "x", "namespace": "ns"},
        "spec": {"template": {"spec": {"containers": containers}}},
    }


def wrote(manager: str, container: str) -> dict[str, Any]:
    """A manager that owns the image of a container."""
    image: dict[str, Any] = {"f:containers": {f'k:{{"name":"{container}"}}': {"f:image": {}}}}
    fields = {"f:spec": {"f:template": {"f:spec": image}}}
    return {"manager": manager, "operation": "Update", "apiVersion": "apps/v1", "time": "t", "fieldsV1": fields}


def test_who_wrote_what_drifted_is_said_of_the_first_and_listed_of_all() -> None:
    wanted = manifest(deployment("web:1", "log:1"))
    before = live(wanted)
    managed = [wrote("kubectl", "web"), wrote("helm", "log")]
    metadata = {**before.body["metadata"], "managedFields": managed}
    there = LiveObject(wanted.key, {**deployment("web:2", "log:2"), "metadata": metadata})
    place = "/spec/template/spec/containers"
    writers = (FieldWriter(f"{place}/0/image", "kubectl", "t"), FieldWriter(f"{place}/1/image", "helm", "t"))
    said = f"{place}" + ApplyText.IS_AND_SHOULD_BE(
        path="/0/image", there="web:2", wanted="", by="", more_than_first="web:1, written by kubectl (and 1 more)"
    )
    asked: dict[str, Any] = {"live": {wanted.key: there}, "inventory": {wanted.key: owned(wanted, before)}}
    drifted_, differs_ = ApplyText.DRIFTED, ApplyText.DIFFERS
    for strategy, kind, why in (({}, Update, drifted_), (CAREFUL, Refuse, drifted_), (REPORT, Keep, differs_)):
        operation = only(work(wanted, **strategy), **asked)
        assert isinstance(operation, kind) and isinstance(operation, Update | Refuse | Keep)
        assert (operation.reason, operation.writers) == (why(first=said, doubt=""), writers)


@pytest.mark.parametrize("policy", ["Always", "IfNoDiff"])
def test_an_owned_object_is_refused_by_its_owner(policy: str) -> None:
    theirs = live(CM, metadata={"ownerReferences": ["odd", {"kind": "HelmRelease", "name": "x"}, {"kind": "B"}]})
    assert only(work(CM, when_to_take_over=policy), live={CM.key: theirs}) == refused(
        RefuseCode.FAILED_TO_TAKE_OVER,
        ApplyText.OWNED_ALLOWCOOWNERSHIP_NOT_SET(found=ApplyText.WAS_THERE_BEFORE(), owner="HelmRelease x"),
        theirs,
    )
    co_owned = only(work(CM, when_to_take_over=policy, allow_co_ownership=True), live={CM.key: theirs})
    assert isinstance(co_owned, Update)


def test_what_another_placement_has_and_what_could_not_be_seen() -> None:
    entry = replace(ENTRY, placement=OTHER)
    keep, refusal = plan(work(CM), work(CM, placement=OTHER), live={CM.key: SAME}, inventory={CM.key: entry})
    assert keep == replace(kept(KeepCode.IN_PLACE, ApplyText.AS_APPLIED(), SAME), placement=OTHER)
    assert refusal == refused(
        RefuseCode.FAILED_TO_TAKE_OVER,
        (ApplyText.BELONGS_CLUSTER(holder="ClusterResourcePlacement other") + ApplyText.SELECT_ONE_TWO_ALONE()),
        SAME,
    )
    unreadable = only(work(CM), unreadable={CM.key: "forbidden"}, live={CM.key: SAME}, inventory={CM.key: ENTRY})
    assert unreadable == kept(KeepCode.UNREADABLE, ApplyText.COULD_NOT_READ(unreadable="forbidden"), None)
    assert only(work(CM)) == kept(KeepCode.NOT_OBSERVED, ApplyText.NOT_OBSERVED(), None)
    after = config_map("z")
    twice = plan(work(CM, CM, after), live={CM.key: SAME, after.key: None}, inventory={CM.key: ENTRY})
    why = ApplyText.STANDS_MORE_ONCE(placement="ClusterResourcePlacement web")
    assert twice[1] == refused(RefuseCode.DUPLICATED, why, None)
    assert isinstance(twice[2], Create)
