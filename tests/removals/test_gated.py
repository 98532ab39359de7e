"""What goes from a placement that something stops to another one: what is held of it, why, and until when."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from gitfleet.api.bindings import BindingState
from gitfleet.api.holds import Hold, HoldReason, HoldRule, Removal, RemovalKind
from gitfleet.api.placements import PlacementKey
from gitfleet.api.strategies import RolloutStrategy, RolloutStrategyType
from gitfleet.model.rolling import Frozen
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.removals import Gates, Kept
from gitfleet.removals.placed import Losses
from tests.removals.fleets import (
    CLUSTERS,
    NOW,
    SHOP,
    WEB,
    config_map,
    fleet,
    hold,
    none_overridden,
    of_binding,
    of_cluster,
    of_object,
    placed,
    with_web,
)
from tests.state.builders import condition

OTHER, NEXT = PlacementKey("", "other"), PlacementKey("", "next")
OBJECTS = [config_map(name) for name in "abcde"]
A, B = OBJECTS[:2]
OF_WEB = Removal(kind=RemovalKind.PLACEMENT, placement=WEB)
EXTERNAL = RolloutStrategy(type=RolloutStrategyType.EXTERNAL)
SOON, LATE = NOW + timedelta(hours=1), NOW + timedelta(hours=2)
WEB_HAS = placed(WEB, CLUSTERS, *OBJECTS)
SHOP_HAS = placed(SHOP, CLUSTERS, config_map("own"))
BEFORE = fleet(WEB_HAS, SHOP_HAS)


def external(record: PlacementRecord) -> PlacementRecord:
    """The record, rolled out by runs alone."""
    return replace(record, placement=replace(record.placement, strategy=EXTERNAL))


def taking(key: PlacementKey = OTHER, clusters: Iterable[str] = CLUSTERS) -> PlacementRecord:
    """A placement that has all that web has."""
    return placed(key, clusters, *OBJECTS)


def freezing(**frozen: Mapping[str, Any]) -> Gates:
    """Freezes by placement and cluster, with their end; the reason of each names its placement and cluster."""

    def found(key: PlacementKey, names: Iterable[str]) -> dict[str, Frozen]:
        ends = frozen.get(key.name, {})
        return {name: Frozen(f"frozen by {{{key.name}}} {name}", ends[name]) for name in names if name in ends}

    return Gates(frozen=found)


def lost(gates: Gates, removals: Iterable[Removal], *after: PlacementRecord, before: FleetState = BEFORE) -> list[Any]:
    """The rule, sentence and removals of each finding; what is taken over lies where it was."""
    left = replace(before, placements={SHOP: SHOP_HAS, **{one.placement.key: one for one in after}})
    losses = Losses.between(before, left, Kept(), none_overridden)
    return [(one.reason, one.removals) for one in gates.lost(before, left, removals, losses)]


def because(rule: HoldRule, message: str) -> HoldReason:
    """Why something is held."""
    return HoldReason(rule=rule, message=message)


TO_ALL = "its latest snapshot and all later ones would go to every cluster without stages and approvals"
NOT_EXTERNAL = because(
    HoldRule.NOT_EXTERNAL,
    f"ClusterResourcePlacement other, which is not External, takes over what placement web has: {TO_ALL}",
)
NOT_PINNED = because(
    HoldRule.GATE_LOST,
    "ClusterResourcePlacement other takes over what placement web has, and the Pin of web is not for it: newer content "
    "would go out",
)
NOT_QUARANTINED = because(
    HoldRule.GATE_LOST,
    "ClusterResourcePlacement other takes over what placement web has, and the Quarantine of web's newest content is "
    "not for it: that would go out",
)


def not_frozen(cluster: str, taker: str = "other") -> HoldReason:
    """What is said of a freeze that does not count for the other one."""
    return because(
        HoldRule.GATE_LOST,
        f"ClusterResourcePlacement {taker} takes over what placement web has, and is not frozen by {{web}} {cluster}",
    )


DIGEST = WEB_HAS.resource_snapshots[0].hash
QUARANTINED = Gates(quarantined={WEB: [DIGEST]})
IS_PINNED = replace(WEB_HAS, conditions=(*WEB_HAS.conditions, condition("ClusterResourcePlacementPinned")))


@pytest.mark.parametrize(
    ("web", "gates", "after", "reasons"),
    [
        (WEB_HAS, Gates(), [taking()], []),
        (external(WEB_HAS), Gates(), [taking()], [NOT_EXTERNAL]),
        (external(WEB_HAS), Gates(), [external(taking())], []),
        (external(WEB_HAS), Gates(), [taking(clusters=["c9"])], []),
        (external(WEB_HAS), QUARANTINED, [taking()], [NOT_EXTERNAL, NOT_QUARANTINED]),
        (WEB_HAS, QUARANTINED, [taking()], [NOT_QUARANTINED]),
        (WEB_HAS, Gates(quarantined={WEB: [DIGEST], OTHER: [taking().resource_snapshots[0].hash]}), [taking()], []),
        (WEB_HAS, Gates(quarantined={WEB: ["older"], SHOP: [DIGEST]}), [taking()], []),
        (replace(WEB_HAS, resource_snapshots=()), QUARANTINED, [taking()], []),
        (IS_PINNED, Gates(pinned=[WEB]), [taking()], [NOT_PINNED]),
        (IS_PINNED, Gates(pinned=[SHOP]), [taking()], []),
        (WEB_HAS, Gates(pinned=[WEB]), [taking()], []),
        (WEB_HAS, freezing(web={"c1": SOON}), [taking()], [not_frozen("c1")]),
        (WEB_HAS, freezing(web={"c1": SOON, "c2": None}), [taking()], [not_frozen("c1")]),
        (WEB_HAS, freezing(web={"c2": SOON}, other={"c1": LATE}), [taking()], [not_frozen("c2")]),
        (WEB_HAS, freezing(web={"c1": SOON, "c2": LATE}, other={"c1": SOON, "c2": SOON}), [taking()],
         [not_frozen("c2")]),
        (WEB_HAS, freezing(web={"c1": SOON, "c2": None}, other={"c1": LATE, "c2": None}), [taking()], []),
        (WEB_HAS, freezing(web={"c1": None}, other={"c1": LATE}), [taking()], [not_frozen("c1")]),
        (WEB_HAS, freezing(web={"c1": SOON}), [taking(clusters=["c2"])], []),
        (WEB_HAS, freezing(web={"c1": SOON}), [taking(NEXT), taking()], [not_frozen("c1", "next")]),
    ],
)  # fmt: skip
def test_a_gate_is_lost_that_does_not_count_where_it_goes(
    web: PlacementRecord, gates: Gates, after: list[PlacementRecord], reasons: list[HoldReason]
) -> None:
    """Each gate by itself; of freezes the first cluster is named that is not frozen for as long."""
    found = lost(gates, [of_cluster("c1"), OF_WEB], *after, before=with_web(BEFORE, web))
    assert found == [(reason, (OF_WEB,)) for reason in reasons]


def test_what_goes_is_named_by_its_objects_and_once() -> None:
    """What no placement has, what only leaves a cluster, and what nobody knows goes nowhere."""
    gone = [of_object(one) for one in OBJECTS]
    unknown = Removal(kind=RemovalKind.PLACEMENT, placement=PlacementKey("", "gone"))
    beside = [of_binding("c1"), unknown, of_object(config_map("own"), SHOP)]
    left = external(placed(WEB, CLUSTERS, config_map("z")))
    found = lost(Gates(), [*beside, *gone], taking(NEXT), taking(), left, before=with_web(BEFORE, external(WEB_HAS)))
    what = "ConfigMap/web/a, ConfigMap/web/b, ConfigMap/web/c and 2 more of placement web"
    message = f"ClusterResourcePlacement next, which is not External, takes over {what}: {TO_ALL}"
    assert found == [(because(HoldRule.NOT_EXTERNAL, message), tuple(gone))]


WAITS = because(HoldRule.GATE_LOST, "it is not frozen")
MASS = because(HoldRule.MASS_DELETION, "too much")


def waiting(*reasons: HoldReason, removals: Iterable[Removal] = (OF_WEB,), answer: str = "") -> Hold:
    """A hold for these reasons."""
    conditions = (condition("Approved", answer),) if answer else ()
    return replace(hold("web-1", tuple(removals), conditions=conditions), reasons=reasons)


FREEZES = freezing(web={"c1": SOON, "c2": LATE}, shop={"c1": LATE, "c9": None})
SOONER, LATER = Frozen("frozen by {web} c1", SOON), Frozen("frozen by {web} c2", LATE)
OF_SHOP = Removal(kind=RemovalKind.PLACEMENT, placement=SHOP)
UNPICKED = replace(
    WEB_HAS, bindings=(WEB_HAS.bindings[0], replace(WEB_HAS.bindings[1], state=BindingState.UNSCHEDULED))
)


@pytest.mark.parametrize(
    ("web", "gates", "known", "stays", "until"),
    [
        (WEB_HAS, FREEZES, waiting(WAITS), True, LATER),
        (WEB_HAS, FREEZES, waiting(WAITS, NOT_EXTERNAL), True, LATER),
        (WEB_HAS, FREEZES, waiting(WAITS, removals=[OF_WEB, of_cluster("c1")]), True, LATER),
        (UNPICKED, FREEZES, waiting(WAITS), True, SOONER),
        (WEB_HAS, freezing(web={"c1": None, "c2": LATE}), waiting(WAITS), True, Frozen("frozen by {web} c1", None)),
        (external(WEB_HAS), FREEZES, waiting(WAITS), True, None),
        (WEB_HAS, Gates(), waiting(WAITS), False, None),
        (WEB_HAS, Gates(), waiting(WAITS, removals=[OF_WEB, OF_SHOP]), False, None),
        (WEB_HAS, freezing(shop={"c1": LATE}), waiting(WAITS, removals=[OF_WEB, OF_SHOP]), True,
         Frozen("frozen by {shop} c1", LATE)),
        (WEB_HAS, freezing(web={"c1": SOON}, shop={"c1": LATE}), waiting(WAITS, removals=[OF_SHOP, OF_WEB]), True,
         Frozen("frozen by {shop} c1", LATE)),
        (WEB_HAS, QUARANTINED, waiting(WAITS), True, None),
        (IS_PINNED, Gates(pinned=[WEB]), waiting(WAITS), True, None),
        (WEB_HAS, FREEZES, waiting(WAITS, MASS), True, None),
        (WEB_HAS, Gates(), waiting(WAITS, MASS), True, None),
        (WEB_HAS, Gates(), waiting(), True, None),
        (WEB_HAS, FREEZES, waiting(WAITS, answer="False"), True, None),
        (WEB_HAS, Gates(), waiting(WAITS, answer="True"), True, None),
        (WEB_HAS, Gates(), waiting(WAITS, removals=[OF_WEB, replace(OF_WEB, placement=OTHER)]), True, None),
    ],
)  # fmt: skip
def test_a_hold_of_gates_ends_with_them(
    web: PlacementRecord, gates: Gates, known: Hold, stays: bool, until: datetime | None
) -> None:
    """One that is answered, or is for more than gates, or names what nobody knows, goes on; with a freeze it ends at
    the end of the last one, where nothing else holds."""
    before = with_web(BEFORE, web)
    beside = replace(waiting(MASS), name="shop-1")
    found = gates.without_ended({"web-1": known, "shop-1": beside}, before)
    assert found == {**({"web-1": known} if stays else {}), "shop-1": beside}
    assert gates.until(known, before) == until
