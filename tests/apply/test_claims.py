"""What an object needs before it can be: its namespace, and the definition of its kind; and who has it of two."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.placements import PlacementKey
from gitfleet.api.strategies import DeletePropagation
from gitfleet.apply import ApplyRequest
from gitfleet.apply.claims import index_claims
from gitfleet.apply.texts import ApplyText
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.operations import Create, Keep, KeepCode, Operation, Refuse, RefuseCode, Update
from gitfleet.model.successors import Successors
from tests.apply.model_cluster import config_map, manifest, namespace
from tests.apply.test_plan_apply import CRD, CUSTOM, OTHER, WEB, live, owned, plan, work


@pytest.mark.parametrize(
    ("more", "needed"),
    [
        ({}, True),
        ({"status": None}, True),
        ({"status": {"conditions": None}}, True),
        ({"status": {"conditions": [{"type": "Established", "status": "False"}]}}, True),
        ({"status": {"conditions": [{"type": "NamesAccepted", "status": "True"}]}}, True),
        ({"status": {"conditions": [{}, {"type": "Established", "status": "True"}]}}, False),
    ],
)
def test_a_definition_is_needed_until_it_is_established(more: dict[str, Any], needed: bool) -> None:
    crd, custom = manifest(CRD), manifest(CUSTOM)
    (_, create) = plan(work(crd, custom), live={crd.key: live(crd, **more), custom.key: None})
    assert isinstance(create, Create)
    assert create.needs == ((crd.key,) if needed else ())


def test_a_definition_or_a_namespace_that_is_being_deleted_is_needed_however_it_looks() -> None:
    crd, custom, ns = manifest(CRD), manifest(CUSTOM), namespace()
    gone: dict[str, Any] = {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}
    established: dict[str, Any] = {"status": {"conditions": [{"type": "Established", "status": "True"}]}}
    there = {crd.key: live(crd, **gone, **established), ns.key: live(ns, **gone), custom.key: None}
    needs = [o.needs for o in plan(work(crd, custom, ns), live=there) if isinstance(o, Create)]
    assert needs == [(ns.key, crd.key)]


def test_an_update_needs_what_a_creation_needs() -> None:
    """The namespace may be going while the object is still to be seen."""
    custom, ns = manifest(CUSTOM), namespace()
    changed, there = manifest({**CUSTOM, "spec": {"size": 2}}), live(custom)
    asked = {"live": {custom.key: there, ns.key: None}, "inventory": {custom.key: owned(custom, there)}}
    (update, _) = sorted(plan(work(changed, ns), **asked), key=lambda o: o.key.name != "x")
    assert isinstance(update, Update) and update.needs == (ns.key,)


def test_a_definition_that_cannot_be_read_defines_nothing_and_is_noted() -> None:
    odd: Any = object()
    broken, failures = replace(manifest(CRD), body=odd), Failures()
    claims = index_claims(ApplyRequest(cluster="c1", works=(work(broken),)), failures, Successors({}))
    assert claims.crds == {}
    assert [failure.subject for failure in failures.found] == [Subject.of_object(broken.key)]


CM = config_map("cm", a="1")
THERE = live(CM)
OLDER = {"applied_digest": "older"}
A_CM, ANOTHER = (CM.key.identity,), (config_map("another").key.identity,)
THIRD = PlacementKey("", "third")


def left(placement: PlacementKey, code: KeepCode | RefuseCode, why: str) -> Operation:
    """Nothing is written for a placement."""
    found: dict[str, Any] = {"cluster": "c1", "placement": placement, "key": CM.key, "manifest": CM, "live": THERE}
    made: Callable[..., Operation] = Refuse if isinstance(code, RefuseCode) else Keep
    return made(**found, code=code, reason=why)


def refused(why: str) -> Operation:
    """web does not get it."""
    has = ApplyText.BELONGS_CLUSTER(key="ConfigMap/ns/cm", holder="ClusterResourcePlacement", holder_2="other")
    return left(WEB, RefuseCode.FAILED_TO_TAKE_OVER, has + why)


AS_IS = left(OTHER, KeepCode.IN_PLACE, "as applied")
CHANGES = ApplyText.MANIFEST_CHANGED(key="ConfigMap/ns/cm")
SELECTED_TWICE = refused(ApplyText.SELECT_ONE_TWO_ALONE())
GIVEN = left(
    OTHER,
    KeepCode.HANDED_OVER,
    ApplyText.HANDED_OVER(key="ConfigMap/ns/cm", holder="ClusterResourcePlacement", holder_2="web"),
)
TAKEN = ApplyText.HANDED_OVER_2(key="ConfigMap/ns/cm", placement="ClusterResourcePlacement", placement_2="other")
GIVES = left(
    WEB,
    KeepCode.HANDED_OVER,
    ApplyText.HANDED_OVER(key="ConfigMap/ns/cm", holder="ClusterResourcePlacement", holder_2="other"),
)
WAITS = left(
    WEB,
    KeepCode.HANDED_OVER_LATER,
    (
        ApplyText.BELONGS_CLUSTER(key="ConfigMap/ns/cm", holder="ClusterResourcePlacement", holder_2="other")
        + ApplyText.BEING_REMOVED_HANDED_OVER_LEAVES()
    ),
)


@pytest.mark.parametrize(
    ("entry", "request_", "theirs", "mine"),
    [
        ({}, {}, AS_IS, SELECTED_TWICE),
        ({}, {"given_up": {OTHER: A_CM}}, GIVEN, TAKEN),
        ({}, {"held": {OTHER: A_CM}}, GIVEN, TAKEN),
        ({}, {"going": {OTHER}}, GIVEN, TAKEN),
        ({}, {"given_up": {OTHER: A_CM, WEB: A_CM}}, AS_IS, GIVES),
        ({}, {"given_up": {WEB: A_CM}}, AS_IS, GIVES),
        ({}, {"given_up": {OTHER: ANOTHER}}, AS_IS, SELECTED_TWICE),
        ({}, {"given_up": {THIRD: A_CM}}, AS_IS, SELECTED_TWICE),
        (OLDER, {"given_up": {OTHER: A_CM}}, CHANGES, SELECTED_TWICE),
        (OLDER, {"given_up": {OTHER: A_CM}, "yielding": {WEB: {OTHER}}}, GIVEN, TAKEN),
        (OLDER, {"given_up": {OTHER: A_CM}, "yielding": {WEB: {THIRD}}}, CHANGES, SELECTED_TWICE),
        (OLDER, {"given_up": {OTHER: A_CM}, "yielding": {THIRD: {OTHER}}}, CHANGES, SELECTED_TWICE),
        (OLDER, {"given_up": {OTHER: ANOTHER}, "yielding": {WEB: {OTHER}}}, CHANGES, SELECTED_TWICE),
        (OLDER, {"given_up": {OTHER: A_CM, WEB: A_CM}, "yielding": {WEB: {OTHER}}}, CHANGES, GIVES),
        (
            OLDER,
            {"given_up": {OTHER: A_CM}, "yielding": {WEB: {OTHER}}, "keepers": {OTHER: "which a pin keeps"}},
            CHANGES,
            refused(", which a pin keeps"),
        ),
        (OLDER, {"held": {OTHER: A_CM}}, GIVEN, TAKEN),
        (OLDER, {"held": {THIRD: A_CM}}, CHANGES, SELECTED_TWICE),
        (OLDER, {"going": {OTHER}}, CHANGES, WAITS),
        ({}, {"keepers": {OTHER: "because {taker}"}}, AS_IS, refused(", because web")),
        ({}, {"keepers": {WEB: "h"}}, AS_IS, SELECTED_TWICE),
        (
            {"placement": THIRD},
            {"given_up": {OTHER: A_CM}, "removing": {THIRD: DeletePropagation.DELETE}},
            ApplyText.HANDED_OVER_2(key="ConfigMap/ns/cm", placement="ClusterResourcePlacement", placement_2="third"),
            SELECTED_TWICE,
        ),
        (
            None,
            {"given_up": {OTHER: A_CM}},
            ApplyText.TAKEN_OVER(key="ConfigMap/ns/cm", found=ApplyText.WAS_THERE_BEFORE()),
            SELECTED_TWICE,
        ),
    ],
)
def test_who_has_an_object_that_two_placements_want(
    entry: dict[str, Any] | None, request_: dict[str, Any], theirs: Operation | str, mine: Operation | str
) -> None:
    """other has it, unless something else is said; both want it as it is there. Of updates the reason."""
    inventory = {CM.key: replace(owned(CM, THERE, OTHER), **entry)} if entry is not None else {}
    found = plan(work(CM), work(CM, placement=OTHER), live={CM.key: THERE}, inventory=inventory, **request_)
    assert [one.reason if isinstance(one, Update) else one for one in found] == [theirs, mine]


def test_whoever_has_an_object_that_two_want_keeps_it() -> None:
    inventory = {CM.key: owned(CM, THERE, WEB)}
    found = plan(work(CM), work(CM, placement=OTHER), live={CM.key: THERE}, inventory=inventory)
    assert [(one.placement, type(one)) for one in found] == [(OTHER, Refuse), (WEB, Keep)]


def test_an_object_is_seen_in_the_version_that_is_asked_for() -> None:
    newer = replace(CM.key, version="v2")
    request = ApplyRequest(cluster="c1", live={CM.key: None, newer: THERE})
    claims = index_claims(request, Failures(), Successors({}))
    assert (claims.live(CM.key), claims.live(newer)) == (None, THERE)
    assert claims.live(replace(CM.key, version="v3")) is THERE


@pytest.mark.parametrize(
    ("digest", "request_", "mine"),
    [
        ("older", {"outdated": {WEB: ()}}, left(
            WEB, KeepCode.HANDED_OVER,
            ApplyText.STAYS_LEFT_UNTIL_NEWEST_SNAPSHOT(key="ConfigMap/ns/cm", placement="ClusterResourcePlacement",
                placement_2="other"),
        )),
        ("older", {"outdated": {WEB: (OTHER,)}}, TAKEN),
        ("older", {"outdated": {OTHER: ()}}, TAKEN),
        ("older", {}, TAKEN),
        (CM.digest, {"outdated": {WEB: ()}}, TAKEN),
        (None, {"outdated": {WEB: ()}}, TAKEN),
    ],
)  # fmt: skip
def test_what_another_placement_changed_is_not_changed_back(
    digest: str | None, request_: dict[str, Any], mine: Operation | str
) -> None:
    """other leaves the cluster; web takes the object over with an older snapshot than its newest."""
    inventory = {CM.key: replace(owned(CM, THERE, OTHER), applied_digest=digest)}
    leaves: dict[str, Any] = {"removing": {OTHER: DeletePropagation.DELETE}, **request_}
    planned = plan(work(CM), live={CM.key: THERE}, inventory=inventory, **leaves)
    (found,) = (one for one in planned if one.placement == WEB)
    assert (found.reason if isinstance(found, Update) else found) == mine
    said = [(one.placement, one.code, one.reason) for one in planned if isinstance(one, Keep) and one is not found]
    why = ApplyText.STAYS_UNTIL_NEWEST_CONTENT_HERE(
        entry="ConfigMap/ns/cm", holder="ClusterResourcePlacement", holder_2="web"
    )
    assert said == ([] if isinstance(found, Update) else [(OTHER, KeepCode.KEPT_FOR_SUCCESSOR, why)])
