"""What an object needs before it can be: its namespace, and the definition of its kind; and who has it of two."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.placements import PlacementKey
from gitfleet.apply import ApplyRequest
from gitfleet.apply.claims import index_claims
from gitfleet.apply.texts import ApplyText
from gitfleet.model.operations import Create, Delete, Keep, KeepCode, Operation, Refuse, RefuseCode, Update
from gitfleet.model.removals import Content
from gitfleet.model.works import Work
from tests.apply.model_cluster import config_map, manifest, namespace
from tests.apply.test_plan_apply import CRD, CUSTOM, OTHER, WEB, live, owned, plan, work
from tests.gates import open_gate


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


CM = config_map("cm", a="1")
THERE = live(CM)
OLDER = {"applied_digest": "older"}
A_CM, ANOTHER = frozenset({CM.key.identity}), frozenset({config_map("another").key.identity})


def left(placement: PlacementKey, code: KeepCode | RefuseCode, why: str) -> Operation:
    """Nothing is written for a placement."""
    found: dict[str, Any] = {"cluster": "c1", "placement": placement, "key": CM.key, "manifest": CM, "live": THERE}
    made: Callable[..., Operation] = Refuse if isinstance(code, RefuseCode) else Keep
    return made(**found, code=code, reason=why)


def refused(why: str) -> Operation:
    """web does not get it."""
    has = ApplyText.BELONGS_CLUSTER(holder="ClusterResourcePlacement other")
    return left(WEB, RefuseCode.FAILED_TO_TAKE_OVER, has + why)


AS_IS = left(OTHER, KeepCode.IN_PLACE, ApplyText.AS_APPLIED())
CHANGES = ApplyText.MANIFEST_CHANGED()
SELECTED_TWICE = refused(ApplyText.SELECT_ONE_TWO_ALONE())
GIVEN = left(OTHER, KeepCode.HANDED_OVER, ApplyText.HANDED_OVER(holder="ClusterResourcePlacement web"))
TAKEN = ApplyText.HANDED_OVER_2(placement="ClusterResourcePlacement other")
GIVES = left(WEB, KeepCode.HANDED_OVER, ApplyText.HANDED_OVER(holder="ClusterResourcePlacement other"))
NOTHING: Content = frozenset()
BOTH: dict[PlacementKey, Content | None] = {WEB: A_CM, OTHER: A_CM}


@pytest.mark.parametrize(
    ("entry", "wants", "theirs", "mine"),
    [
        ({}, BOTH, AS_IS, SELECTED_TWICE),
        (OLDER, BOTH, CHANGES, SELECTED_TWICE),
        ({}, {**BOTH, OTHER: None}, AS_IS, SELECTED_TWICE),
        ({}, {**BOTH, OTHER: NOTHING}, GIVEN, TAKEN),
        (OLDER, {**BOTH, OTHER: NOTHING}, GIVEN, TAKEN),
        ({}, {**BOTH, OTHER: ANOTHER}, GIVEN, TAKEN),
        ({}, {WEB: A_CM}, GIVEN, TAKEN),
        ({}, {WEB: NOTHING, OTHER: NOTHING}, AS_IS, GIVES),
        (None, BOTH, ApplyText.TAKEN_OVER(found=ApplyText.WAS_THERE_BEFORE()), SELECTED_TWICE),
    ],
)
def test_who_has_an_object_that_the_works_of_two_placements_have(
    entry: dict[str, Any] | None,
    wants: dict[PlacementKey, Content | None],
    theirs: Operation | str,
    mine: Operation | str,
) -> None:
    """other owns it; `wants` are what both head for. Of updates the reason."""
    inventory = {CM.key: replace(owned(CM, THERE, OTHER), **entry)} if entry is not None else {}
    found = plan(work(CM), work(CM, placement=OTHER), live={CM.key: THERE}, inventory=inventory, wants=wants)
    assert [one.reason if isinstance(one, Update) else one for one in found] == [theirs, mine]


@pytest.mark.parametrize(
    ("works", "wants", "kind", "code"),
    [
        ((work(), work(placement=OTHER)), {WEB: A_CM, OTHER: NOTHING}, Keep, KeepCode.KEPT_FOR_SUCCESSOR),
        ((work(), work(CM, placement=OTHER)), {WEB: A_CM, OTHER: NOTHING}, Keep, KeepCode.IN_PLACE),
        ((work(CM),), {WEB: A_CM, OTHER: NOTHING}, Update, None),
        ((), {OTHER: None}, Keep, KeepCode.STAYS),
        ((), {}, Keep, KeepCode.STAYS),
        ((work(placement=OTHER),), {OTHER: NOTHING}, Delete, None),
        ((work(placement=OTHER),), {OTHER: A_CM}, Keep, KeepCode.STAYS),
        ((work(CM, type="ReportDiff"), work(placement=OTHER)), {WEB: None, OTHER: NOTHING}, Keep, None),
    ],
    ids=["awaited", "not its turn", "taken over", "all", "unknown", "orphan", "newer content", "reported"],
)
def test_what_becomes_of_an_object_of_another_placement(
    works: tuple[Work, ...], wants: dict[PlacementKey, Content | None], kind: type, code: KeepCode | None
) -> None:
    """other owns it."""
    mine = live(CM, manager="gitfleet")
    inventory = {CM.key: owned(CM, mine, OTHER)}
    (*_, found) = plan(*works, live={CM.key: mine}, inventory=inventory, wants=wants)
    assert isinstance(found, kind) and (code is None or getattr(found, "code", None) is code)


def test_an_object_is_seen_in_the_version_that_is_asked_for() -> None:
    newer = replace(CM.key, version="v2")
    request = ApplyRequest(gate=open_gate("c1"), cluster="c1", live={CM.key: None, newer: THERE})
    claims = index_claims(request)
    assert (claims.live(CM.key), claims.live(newer)) == (None, THERE)
    assert claims.live(replace(CM.key, version="v3")) is THERE
