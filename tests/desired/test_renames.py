"""What a new placement with `gitfleet.dev/renamed-from` may name, and what is refused."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from gitfleet.api.conditions import Condition, Status
from gitfleet.api.placements import Placement
from gitfleet.api.runs import RunRecord, RunStatus
from gitfleet.api.texts import ApiText
from gitfleet.api.values import NamespacedName
from gitfleet.desired.texts import DesiredText
from gitfleet.model.state import FleetState, PlacementRecord
from tests import builders
from tests.conformance.documents import accepted
from tests.desired.commits import read

NOW = datetime(2026, 1, 1, tzinfo=UTC)
Body = dict[str, Any]
WEB, SHOP = builders.placement("web"), builders.placement("shop", "web", renamed_from="web")
FIXED = {**SHOP, "spec": {**SHOP["spec"], "policy": builders.pick_fixed("c1")}}
UNKNOWN = DesiredText.RENAMED_PLACEMENT_UNKNOWN(old="{}")
SAME_KIND = ApiText.MUST_NAME_PLACEMENT_SAME_KIND()


def named(name: str, former: str) -> Body:
    return builders.placement(name, "web", renamed_from=former)


def scoped(name: str, **metadata: Any) -> Body:
    selector = {"group": "", "version": "v1", "kind": "ConfigMap"}
    body = builders.an_object(
        builders.PLACEMENT_API, "ResourcePlacement", name, namespace="web", spec={"resourceSelectors": [selector]}
    )
    return {**body, "metadata": {**body["metadata"], **metadata}}


def run(name: str = "go", placement: str = "web") -> Body:
    return builders.staged_run(name, placement=placement, strategy="all")


def state(had: Iterable[Body], runs: Iterable[RunRecord] = ()) -> FleetState:
    placements = [accepted(Placement, body) for body in had]
    records = {one.key: PlacementRecord(placement=one) for one in placements}
    return FleetState(placements=records, runs={one.key: one for one in runs})


def files(bodies: Iterable[Body]) -> dict[str, str]:
    every = [builders.namespace("web"), builders.member_cluster("c1"), *bodies]
    return {builders.path_of(body): builders.to_yaml(body) for body in every}


def a_run(*, over: bool = False) -> RunRecord:
    why = Condition(type="Succeeded", status=Status.TRUE, reason="r", message="", last_transition_time=NOW)
    status = RunStatus(conditions=(why,) if over else ())
    return RunRecord(
        key=NamespacedName("", "go"), placement_name="web", strategy_name="all", created=NOW, status=status
    )


def by(place: str) -> str:
    return DesiredText.RENAMED_PLACEMENT_NAMED(old="web", places=place, key="shop")


THERE = DesiredText.RENAMED_PLACEMENT_THERE(old="web", origin="placements/web.yaml:1")
TAKEN = DesiredText.RENAMED_BY_ANOTHER(
    old="web", other="ClusterResourcePlacement/shop", origin="placements/shop.yaml:1"
)
PIN = builders.pin("web", 0, "0" * 64)
WINDOWS = builders.fleet_config(
    freezeWindows=[{"name": "n", "schedule": "0 2 * * *", "duration": "1h", "scope": {"placements": ["web"]}}]
)


@pytest.mark.parametrize(
    ("had", "has", "errors", "goes_on"),
    [
        ([WEB], [SHOP], [], ["shop"]),
        ([WEB], [WEB, SHOP], [THERE], ["web"]),
        ([], [named("shop", "shop")], [THERE.replace("web", "shop")], []),
        # The annotation may stay, also where the old name is used again.
        ([SHOP], [SHOP], [], ["shop"]),
        ([SHOP], [WEB, SHOP], [], ["shop", "web"]),
        ([SHOP, WEB], [SHOP, named("new", "web")], [], ["new", "shop"]),
        ([SHOP], [named("store", "shop")], [], ["store"]),
        # One of two takes over; by its path, or because it did so before.
        ([WEB], [SHOP, named("two", "web")], [TAKEN], ["shop"]),
        ([SHOP], [SHOP, named("aaa", "web")], [TAKEN], ["shop"]),
        # Another kind or namespace.
        ([WEB], [named("shop", "web/web")], [SAME_KIND], []),
        ([scoped("web")], [scoped("shop", annotations={"gitfleet.dev/renamed-from": "web"})], [], ["web/shop"]),
        # What an edit may not change.
        ([WEB], [FIXED], [DesiredText.CANNOT_CHANGE_FROM(
            before="PickAll", after="PickFixed", recreate=DesiredText.REMOVE_OBJECT_ONE_COMMIT_ADD())], ["web"]),
        # What still has the old name.
        ([WEB], [SHOP, PIN], [by("pins/web.yaml:1")], ["web"]),
        ([WEB], [SHOP, {**PIN, "spec": {**PIN["spec"], "placement": "shop"}}], [], ["shop"]),
        ([WEB], [SHOP, builders.quarantine("bad", "web", "0" * 64)], [by("quarantines/bad.yaml:1")], ["web"]),
        ([WEB], [SHOP, builders.placement_budget("web", minAvailable=1)], [by("budgets/web.yaml:1")], ["web"]),
        ([WEB], [SHOP, builders.freeze("f", "2027-01-01T00:00:00Z", scope={"placements": ["*"]})], [], ["shop"]),
    ],
)  # fmt: skip
def test_a_renamed_placement(had: list[Body], has: list[Body], errors: list[str], goes_on: list[str]) -> None:
    found = read(files(has), before=files(had), accepted=state(had))
    said = [fault.message for fault in found.faults if fault.severity == "error"]
    assert [text.partition("; or ")[0] for text in said] == errors
    if SAME_KIND not in errors:
        again = read(files(has), before=files(has), accepted=replace(state(had), faults=found.faults))
        assert sorted(map(str, found.placements)) == sorted(map(str, again.placements)) == goes_on


@pytest.mark.parametrize("namespaced", [False, True])
def test_a_placement_without_a_record_is_taken_over_by_none(namespaced: bool) -> None:
    """One of another kind is none of this name."""
    has = scoped("shop", annotations={"gitfleet.dev/renamed-from": "web"}) if namespaced else SHOP
    (fault,) = read(files([has]), accepted=state([WEB] if namespaced else [])).faults
    assert (fault.message, fault.severity) == (UNKNOWN.format("web/web" if namespaced else "web"), "warning")
    assert fault.field == 'metadata.annotations["gitfleet.dev/renamed-from"]' and fault.line > 1


@pytest.mark.parametrize("over", [False, True])
@pytest.mark.parametrize("edited", [False, True])
def test_a_run_is_renamed_in_the_same_commit_unless_it_is_over(edited: bool, over: bool) -> None:
    had, has = [WEB, run()], [SHOP, run(placement="shop" if edited else "web")]
    found = read(files(has), before=files(had), accepted=state([WEB], [a_run(over=over)]))
    said = [one.message for one in found.faults if one.severity == "error"]
    assert said == ([] if edited or over else [by("runs/go.yaml:1")])
    key = NamespacedName("", "go")
    assert found.runs[key].placement_name == ("shop" if edited else "web")


def test_a_run_of_the_new_name_goes_on_under_the_old_one_while_the_rename_is_refused() -> None:
    """Also where the placement is refused for what stands beside it."""
    odd = {**SHOP, "spec": {"resourceSelectors": [{"group": "", "version": "v1", "kind": "Namespce", "name": "web"}]}}
    for refused in (odd, FIXED, {**SHOP, "spec": {}}):
        found = read(
            files([refused, run(placement="shop")]), before=files([WEB, run()]), accepted=state([WEB], [a_run()])
        )
        assert [str(key) for key in found.placements] == ["web"]
        assert found.runs[NamespacedName("", "go")].placement_name == "web"
