"""What must be kept so that removals do not happen, what of it the commit has itself, and the holds that say so."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from gitfleet.api.holds import Hold, HoldReason, HoldRule, Removal, RemovalKind, removals_digest
from gitfleet.model.desired import Desired
from gitfleet.removals import HeldBack, Kept, new_holds, still_wanted
from tests.removals.fleets import SHOP, WEB, config_map, envelope, fleet, of_binding, of_cluster, of_object, placed

A, B = config_map("a"), config_map("b")
AN, BN = A.key.identity, B.key.identity
OF_WEB = Removal(kind=RemovalKind.PLACEMENT, placement=WEB)
STRATEGY = Removal(kind=RemovalKind.STRATEGY, placement=WEB)
NOW = datetime(2026, 1, 2, tzinfo=UTC)


def overridden(manifest: object, cluster: str) -> Removal:
    """An object that an override deletes on a cluster."""
    key = config_map(str(manifest)).key
    return Removal(kind=RemovalKind.OVERRIDDEN, placement=WEB, cluster=cluster, object=key)


@pytest.mark.parametrize(
    ("removals", "kept"),
    [
        ([], Kept()),
        ([OF_WEB], Kept(placements=frozenset({WEB}))),
        ([STRATEGY], Kept(strategies=frozenset({WEB}))),
        ([of_cluster("c1"), of_cluster("c2")], Kept(clusters=frozenset({"c1", "c2"}))),
        ([of_binding("c1"), of_binding("c2")], Kept(bindings={WEB: frozenset({"c1", "c2"})})),
        (
            [of_object(A), of_object(B), of_object(A, SHOP)],
            Kept(
                objects={WEB: frozenset({AN, BN}), SHOP: frozenset({AN})},
                unwritten={WEB: frozenset({BN})},
            ),
        ),
        (
            [overridden("a", "c1"), overridden("b", "c1"), overridden("a", "c2")],
            Kept(overridden={WEB: {"c1": frozenset({AN, BN}), "c2": frozenset({AN})}}),
        ),
    ],
    ids=["nothing", "placement", "strategy", "clusters", "bindings", "objects", "overridden"],
)
def test_what_is_kept_for_removals_asks_for_these_and_no_others(removals: list[Removal], kept: Kept) -> None:
    """The object a stands in a file, b does not."""
    every = [
        OF_WEB,
        STRATEGY,
        of_cluster("c1"),
        of_binding("c1"),
        of_object(A),
        of_object(B, SHOP),
        overridden("a", "c1"),
    ]
    assert Kept.of(removals, [A]) == Kept.of(removals, [envelope(A)]) == kept
    asked = {removal.id for removal in (*every, *removals) if kept.asks_for(removal)}
    assert asked == {removal.id for removal in removals}


BEFORE = fleet(placed(WEB, ("c1",), A), placed(SHOP, ("c2",), B))


@pytest.mark.parametrize(
    ("kept", "has", "added"),
    [
        (Kept(), {}, Kept()),
        (Kept(placements=frozenset({WEB})), {}, Kept(placements=frozenset({WEB}))),
        (Kept(placements=frozenset({WEB})), {"placements": {WEB}}, Kept()),
        (Kept(clusters=frozenset({"c1"})), {}, Kept(clusters=frozenset({"c1"}))),
        (Kept(clusters=frozenset({"c1"})), {"clusters": {"c1"}}, Kept()),
        (Kept(clusters=frozenset({"gone"})), {}, Kept()),
        (
            Kept(placements=frozenset({WEB, SHOP}), clusters=frozenset({"c1"}), bindings={WEB: frozenset({"c1"})}),
            {"placements": {SHOP}, "clusters": {"c2"}},
            Kept(placements=frozenset({WEB}), clusters=frozenset({"c1"}), bindings={WEB: frozenset({"c1"})}),
        ),
    ],
)
def test_what_is_kept_and_not_written_any_more_is_added(kept: Kept, has: dict[str, set[str]], added: Kept) -> None:
    known: dict[str, dict[Any, Any]] = {
        "placements": {key: record.placement for key, record in BEFORE.placements.items()},
        "clusters": dict(BEFORE.clusters),
    }
    objects = {kind: {key: one for key, one in known[kind].items() if key in has.get(kind, ())} for kind in known}
    wanted = Desired(commit="d", objects={**objects, "budgets": {}})
    after, left = still_wanted(wanted, BEFORE, kept)
    assert left == added
    every: dict[str, dict[Any, Any]] = {
        "placements": {key: one for key, one in known["placements"].items() if key in has.get("placements", ())}
        | {key: known["placements"][key] for key in added.placements},
        "clusters": {name: one for name, one in known["clusters"].items() if name in has.get("clusters", ())}
        | {name: known["clusters"][name] for name in added.clusters},
        "budgets": {},
    }
    assert after == replace(wanted, objects=every)
    assert (after is wanted) == (not added.placements and not added.clusters)


@pytest.mark.parametrize(
    ("removals", "subject"),
    [
        ([of_cluster("c1")], "c1"),
        ([of_object(A), of_object(B), of_binding("c1")], "web"),
        ([of_object(A), of_object(A, SHOP)], "fleet"),
        ([of_cluster("c1"), of_cluster("c2")], "fleet"),
        ([Removal(kind=RemovalKind.PLACEMENT, placement=replace(WEB, namespace="team"))], "team-web"),
        ([of_cluster(f"{'x' * 59}-.y")], "x" * 59),
        ([of_cluster("y" * 70)], "y" * 60),
    ],
)
def test_a_hold_is_named_by_its_subject_and_its_digest(removals: list[Removal], subject: str) -> None:
    reasons = (HoldReason(rule=HoldRule.LIKELY_TYPO, message="why"),)
    group = HeldBack(reasons=reasons, removals=tuple(removals))
    digest = removals_digest("d", removals)
    name = f"hold-{subject}-{digest[:10]}"
    assert new_holds([group], "d", "c", NOW) == {
        name: Hold(
            name=name, commit="d", after="c", since=NOW, digest=digest, reasons=reasons, removals=tuple(removals)
        )
    }


def test_holds_are_in_the_order_of_their_names() -> None:
    groups = [HeldBack(reasons=(), removals=(of_cluster(name),)) for name in ("b", "c", "a")]
    assert [hold.removals[0].cluster for hold in new_holds(groups, "d", "c", NOW).values()] == ["a", "b", "c"]
