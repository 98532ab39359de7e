"""Where a freeze holds, and what a rolling update makes of it: nothing starts, all counts stay, and time wakes it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.bindings import BindingState
from gitfleet.api.clusters import MEMBER_NAME_LABEL
from gitfleet.api.faults import Fault, Severity
from gitfleet.api.freeze_files import Freeze, FreezeOverride, FreezeRules
from gitfleet.api.freezes import FreezeScope, FreezeWindow
from gitfleet.api.labels import LabelSelector
from gitfleet.api.objects import Origin
from gitfleet.api.placements import Placement, PlacementKey
from gitfleet.formats.times import moment_text
from gitfleet.model.rolling import Frozen, RolloutPlan
from gitfleet.model.state import PlacementRecord
from gitfleet.rollout import freezes_at, frozen_removals, next_expiry, plan_rollout
from gitfleet.rollout.texts import RolloutText
from tests import builders
from tests.rollout.builders import NOW, available, bound, condition, request, scheduled, takes_no_more, unavailable

WEB, CART = PlacementKey("", "web"), PlacementKey("shop", "cart")
CLUSTERS = {
    name: builders.member_of(builders.member_cluster(name, labels={"region": name[:2]})) for name in ("eu-1", "us-1")
}


def window(name: str = "night", hours: float = 1, schedule: str = "0 0 * * *", **scope: Any) -> FreezeWindow:
    return FreezeWindow(name=name, schedule=schedule, duration=hours * 3600, scope=FreezeScope(**scope))


@pytest.mark.parametrize(
    ("scope", "key", "stage", "frozen"),
    [
        ({}, WEB, "", ["eu-1", "us-1", "gone"]),
        ({}, WEB, "production", ["eu-1", "us-1", "gone"]),
        ({"placements": ("web",)}, WEB, "", ["eu-1", "us-1", "gone"]),
        ({"placements": ("w*", "other")}, WEB, "", ["eu-1", "us-1", "gone"]),
        ({"placements": ("cart",)}, CART, "", []),
        ({"placements": ("shop/cart",)}, CART, "", ["eu-1", "us-1", "gone"]),
        ({"placements": ("shop/*",)}, WEB, "", []),
        ({"stages": ("production",)}, WEB, "", []),
        ({"stages": ("prod*",)}, WEB, "production", ["eu-1", "us-1", "gone"]),
        ({"stages": ("canary",)}, WEB, "production", []),
        ({"clusters": LabelSelector({"region": "eu"})}, WEB, "", ["eu-1"]),
        ({"clusters": LabelSelector({"region": "eu"}), "placements": ("other",)}, WEB, "", []),
        ({"clusters": LabelSelector({"region": "eu"}), "stages": ("a",)}, WEB, "a", ["eu-1"]),
        ({"clusters": LabelSelector({MEMBER_NAME_LABEL: "eu-1"})}, WEB, "", ["eu-1"]),
        ({"stages": ("*",)}, WEB, "", []),
        ({"stages": ("*",)}, WEB, "a", ["eu-1", "us-1", "gone"]),
    ],
)
def test_where_a_freeze_holds(scope: dict[str, Any], key: PlacementKey, stage: str, frozen: list[str]) -> None:
    freezes = freezes_at(FreezeRules(windows=(window(**scope),)), NOW)
    assert list(freezes.of(key, ["eu-1", "us-1", "gone"], CLUSTERS, stage)) == frozen


DATED = Freeze(name="sale", owner="ann", reason="r", until=NOW + timedelta(hours=1), scope=FreezeScope())


LATER = NOW + timedelta(hours=1)
LIFTS = FreezeOverride(name="lift", owner="bob", reason="r", expires=LATER)
SALE = "frozen by sale until "


@pytest.mark.parametrize(
    ("override", "left"),
    [
        (None, ["window", "freeze"]),
        (LIFTS, []),
        (replace(LIFTS, windows=("night",)), ["freeze"]),
        (replace(LIFTS, freezes=("sale",)), ["window"]),
        (replace(LIFTS, windows=("other",), freezes=("sale",)), ["window"]),
        (replace(LIFTS, windows=("night",), freezes=("other",)), ["freeze"]),
        (replace(LIFTS, expires=NOW), ["window", "freeze"]),
        (replace(LIFTS, scope=FreezeScope(placements=("other",))), ["window", "freeze"]),
    ],
)
def test_what_an_override_lifts(override: FreezeOverride | None, left: list[str]) -> None:
    overrides = (override,) if override is not None else ()
    alone = {
        "window": FreezeRules(windows=(window(),), overrides=overrides),
        "freeze": FreezeRules(freezes=(DATED,), overrides=overrides),
    }
    found = {name: freezes_at(rules, NOW).of(WEB, ["eu-1"], CLUSTERS) for name, rules in alone.items()}
    assert [name for name, frozen in found.items() if frozen] == left


@pytest.mark.parametrize(
    ("changes", "holds"),
    [
        ({}, True), ({"start": NOW}, True), ({"start": LATER}, False), ({"until": NOW}, False),
        ({"start": LATER, "until": NOW}, False),
    ],
)  # fmt: skip
def test_when_a_dated_freeze_holds(changes: dict[str, Any], holds: bool) -> None:
    found = freezes_at(FreezeRules(freezes=(replace(DATED, **changes),)), NOW)
    assert [(one.reason.startswith(SALE), one.until) for one in found.of(WEB, ["a"], {}).values()] == (
        [(True, LATER)] if holds else []
    )


def test_what_has_expired_is_said_where_it_stands() -> None:
    at = Origin("freezes/x.yaml", 7)
    over, ended = replace(DATED, until=NOW, origin=at), replace(LIFTS, expires=NOW, origin=at)
    rules = FreezeRules(
        freezes=(over, replace(DATED, origin=at), replace(DATED, until=NOW)),
        overrides=(ended, replace(LIFTS, origin=at)),
    )
    said = RolloutText.EXPIRED_COUNTS_NOTHING(end=moment_text(NOW))
    assert freezes_at(rules, NOW).notices == (
        Fault("freezes/x.yaml", 7, "Freeze/sale", "spec.until", said, Severity.WARNING),
        Fault("freezes/x.yaml", 7, "FreezeOverride/lift", "spec.expires", said, Severity.WARNING),
    )


def test_when_the_next_freeze_or_override_of_one_expires() -> None:
    hours = [NOW + timedelta(hours=n) for n in range(4)]
    freezes = tuple(replace(DATED, until=end) for end in (hours[0], hours[3], hours[2]))
    override = FreezeOverride(name="o", owner="ann", reason="r", expires=hours[1], scope=FreezeScope())
    assert next_expiry(FreezeRules(), NOW) is None
    assert next_expiry(FreezeRules(freezes=freezes[:1]), NOW) is None
    assert next_expiry(FreezeRules(freezes=freezes), NOW) == hours[2]
    assert next_expiry(FreezeRules(freezes=freezes, overrides=(override,)), NOW) == hours[1]


def test_of_several_freezes_the_one_that_ends_last_is_named() -> None:
    windows = (window("a", 1), window("b", 3), window("c", 2), window("later", 9, "0 5 * * *"))
    assert freezes_at(FreezeRules(windows=windows), NOW).of(WEB, ["eu-1"], CLUSTERS) == {
        "eu-1": Frozen("frozen by window b until 2026-01-01 03:00 UTC", NOW + timedelta(hours=3))
    }


def on(*clusters: str, hours: float = 1) -> dict[str, Frozen]:
    return dict.fromkeys(clusters, Frozen("frozen by window w", NOW + timedelta(hours=hours)))


def test_nothing_of_any_kind_starts_on_a_frozen_cluster_and_time_wakes_it() -> None:
    failed = condition("Applied", status=available().status.FALSE, reason="WorkNotApplied")
    bindings = [
        bound("a", available()),
        bound("b", failed),
        bound("c", unavailable(age=10)),
        scheduled("d"),
        bound("e", available(), state=BindingState.UNSCHEDULED),
        bound("f", available(), snapshot="s-1"),
    ]
    plan = plan_rollout(request(bindings, frozen=on(*"abcdef"), max_unavailable=9, max_surge=9))
    assert plan.moves == ()
    assert plan.blocked == dict.fromkeys("abcde", "frozen by window w")
    assert plan.up_to_date == ("f",)
    assert plan.need_roll
    messages = {b.cluster: c.message for b in plan.bindings for c in b.conditions if c.type == "RolloutStarted"}
    assert {name: messages[name] for name in "abcd"} == dict.fromkeys("abcd", "frozen by window w")
    assert plan_rollout(request([bound("a", available())], frozen=on("a"))).clock == timedelta(hours=1)


def test_frozen_clusters_count_as_ever_and_the_others_go_on_within_the_budget() -> None:
    bindings = [bound(name, available()) for name in "abcd"]
    plan = plan_rollout(request(bindings, frozen=on("a", "b"), max_unavailable=1))
    assert [m.cluster for m in plan.moves] == ["c"]
    assert plan.blocked == {
        "a": "frozen by window w",
        "b": "frozen by window w",
        "d": takes_no_more("4 of 4 clusters are", 3, "1", "c is available"),
    }


def test_a_deleted_placement_stays_on_its_frozen_clusters() -> None:
    bindings = (bound("a"), bound("b"), bound("c", deleting=NOW), bound("d"))
    deleted = Placement(key=WEB, selectors=(), deleting=NOW)
    frozen = {**on("a", hours=3), **on("b", "c", "nowhere", hours=1)}
    frozen["b"] = Frozen("frozen by window v", NOW + timedelta(hours=2))
    record = PlacementRecord(placement=deleted, bindings=bindings)
    assert frozen_removals(record, frozen, NOW) == RolloutPlan(
        moves=(),
        blocked={"a": "frozen by window w", "b": "frozen by window v"},
        up_to_date=(),
        need_roll=True,
        bindings=bindings,
        clock=timedelta(hours=2),
    )
    assert frozen_removals(record, on("c", "nowhere"), NOW) is None
    assert frozen_removals(replace(record, placement=replace(deleted, deleting=None)), frozen, NOW) is None
