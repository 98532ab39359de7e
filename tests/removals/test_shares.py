"""Which share of what is placed is too much (D25): of the fleet, of a cluster, of a placement, and of the clusters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from gitfleet.api.fleet import MassDelete
from gitfleet.api.holds import HoldRule, Removal, RemovalKind
from gitfleet.model.state import FleetState
from gitfleet.removals.kept import Kept
from gitfleet.removals.placed import Losses
from gitfleet.removals.shares import Asked, shares_exceeded
from tests.removals.fleets import (
    SHOP,
    WEB,
    config_map,
    fleet,
    none_overridden,
    of_binding,
    of_cluster,
    of_object,
    placed,
)
from tests.state.builders import T0

FIVE = tuple(f"c{number}" for number in range(1, 6))
A = config_map("a")
WEBS = tuple(config_map(f"w{number}") for number in range(10))
SHOPS = tuple(config_map(f"s{number}", "shop") for number in range(10))
BEFORE = fleet(placed(WEB, FIVE, *WEBS), placed(SHOP, FIVE, *SHOPS))
ALL = "(more than 30%)"


def found(
    new: Iterable[Removal],
    held: Iterable[Removal] = (),
    *,
    before: FleetState = BEFORE,
    wanted: MassDelete | None = None,
) -> dict[str, list[str]]:
    """The sentence of each share that is exceeded, with what it holds."""
    losses = Losses.between(before, before, Kept.of([*new, *held]), none_overridden)
    asked = Asked(new={r: losses.of(r) for r in new}, held={r: losses.of(r) for r in held})
    shares = list(shares_exceeded(asked, before, losses.placed, wanted or before.mass_delete))
    assert {one.reason.rule for one in shares} <= {HoldRule.MASS_DELETION}
    return {one.reason.message: [removal.id for removal in one.removals] for one in shares}


def webs(*numbers: int) -> list[Removal]:
    """Objects of the placement web that go."""
    return [of_object(WEBS[number]) for number in numbers]


def test_more_than_the_share_of_a_placement_is_too_much_and_the_share_itself_is_not() -> None:
    assert found(webs(0, 1, 2)) == {}
    sentence = f"the commit removes 20 of the 50 objects that placement web has, from 5 clusters {ALL}"
    assert found(webs(0, 1, 2, 3)) == {sentence: [removal.id for removal in webs(0, 1, 2, 3)]}


def test_what_stays_by_its_own_annotation_is_not_removed() -> None:
    protected = replace(BEFORE.inventory["c1"][WEBS[3].key], protected_by="helm.sh/resource-policy: keep")
    before = replace(BEFORE, inventory={**BEFORE.inventory, "c1": {**BEFORE.inventory["c1"], WEBS[3].key: protected}})
    sentence = f"the commit removes 19 of the 50 objects that placement web has, from 5 clusters {ALL}"
    assert found(webs(0, 1, 2, 3), before=before) == {sentence: [removal.id for removal in webs(0, 1, 2, 3)]}


def test_what_is_held_of_the_placement_counts_and_is_not_held_twice() -> None:
    own = "the commit removes 5 of the 50 objects that placement web has, from 5 clusters"
    sentence = f"{own}, and 20 with what is held already {ALL}"
    assert found(webs(0), webs(1, 2, 3)) == {sentence: [webs(0)[0].id]}
    assert found(webs(0), webs(0, 1, 2)) == {}
    assert found(webs(0), [of_object(one, SHOP) for one in SHOPS[:9]]) == {}


def test_a_share_of_the_fleet_holds_everything_and_says_no_smaller_share() -> None:
    gone = [*webs(*range(7)), of_object(SHOPS[0], SHOP)]
    sentence = f"the commit removes 40 of the 100 objects that the fleet has, from 5 clusters {ALL}"
    assert found(gone) == {sentence: [removal.id for removal in gone]}


def test_a_share_of_one_cluster_holds_what_takes_from_it() -> None:
    twice = (
        [config_map(f"x{number}") for number in range(10)],
        [config_map(f"y{number}", "shop") for number in range(10)],
    )
    big = fleet(placed(WEB, ("c1",), *WEBS, *twice[0]), placed(SHOP, FIVE, *SHOPS, *twice[1]))
    gone = [of_binding("c1"), of_object(SHOPS[0], SHOP)]
    assert f"the commit removes 21 of the 40 objects that cluster c1 has {ALL}" in found(gone, before=big)
    few = [of_object(config_map(f"x{n}")) for n in range(7)]
    assert found([*few, of_object(SHOPS[0], SHOP)], before=big) == {
        f"the commit removes 7 of the 20 objects that placement web has, from 1 cluster {ALL}": [r.id for r in few]
    }


@pytest.mark.parametrize(
    ("names", "limits", "is_exceeded"),
    [
        (["c1"], MassDelete(), False),
        (["c1", "c2"], MassDelete(), True),
        (["c1", "c2"], MassDelete(max_percent=40), False),
        (["c1", "c2"], MassDelete(min_clusters=6), False),
        (["c1"], MassDelete(max_percent=0), True),
    ],
)
def test_so_many_clusters_are_counted_by_their_number(names: list[str], limits: MassDelete, is_exceeded: bool) -> None:
    before = replace(BEFORE, mass_delete=limits)
    sentence = f"the commit takes {len(names)} of 5 clusters out of the fleet (more than {limits.max_percent}%)"
    expected = {sentence: [f"Cluster {name}" for name in names]} if is_exceeded else {}
    assert found(map_clusters(names), before=before) == expected, "Abandon is the default: no object goes"


def test_a_cluster_that_leaves_already_is_not_counted_again() -> None:
    leaving = {**BEFORE.clusters, "c5": replace(BEFORE.clusters["c5"], deleting=T0)}
    before = replace(BEFORE, clusters=leaving, mass_delete=MassDelete(min_clusters=4))
    assert list(found(map_clusters(["c1", "c2"]), before=before)) == [
        f"the commit takes 2 of 4 clusters out of the fleet {ALL}"
    ]
    assert found(map_clusters(["c1", "c2"]), before=replace(before, mass_delete=MassDelete())) == {}


def map_clusters(names: Iterable[str]) -> list[Removal]:
    """Clusters that leave."""
    return [of_cluster(name) for name in names]


@pytest.mark.parametrize(
    ("clusters", "objects", "is_counted"),
    [(4, 4, False), (4, 5, True), (5, 1, True), (1, 19, False), (1, 20, True)],
)
def test_a_scope_counts_from_so_many_clusters_or_objects_on(clusters: int, objects: int, is_counted: bool) -> None:
    has = [config_map(f"o{number}") for number in range(objects)]
    before = fleet(placed(WEB, FIVE[:clusters], *has))
    assert bool(found([of_object(one) for one in has], before=before)) == is_counted


def test_a_cluster_counts_as_one_cluster_and_a_placement_as_all_that_have_it() -> None:
    two = replace(BEFORE, mass_delete=MassDelete(min_clusters=2, min_objects=1000))
    assert found([of_binding("c1")], before=two) == {}
    before = fleet(
        placed(SHOP, ("c1",), *SHOPS, *(config_map(f"t{n}", "shop") for n in range(4))), placed(WEB, FIVE, A)
    )
    sentence = f"the commit removes 5 of the 5 objects that placement web has, from 5 clusters {ALL}"
    assert found([of_object(A)], before=before) == {sentence: [of_object(A).id]}


def test_the_stricter_limits_count_and_the_sentence_says_so() -> None:
    lifted = MassDelete(max_percent=100, min_clusters=100, min_objects=1000)
    (sentence,) = found(webs(0, 1, 2, 3), wanted=lifted)
    assert sentence.endswith("(more than 30%; massDelete as it was before this commit counts for it too)")
    (sentence,) = found(webs(0), wanted=MassDelete(max_percent=5))
    assert sentence.endswith("web has, from 5 clusters (more than 5%)"), (
        "a commit that lowers them is measured by its own"
    )


def test_what_takes_nothing_away_exceeds_nothing() -> None:
    nothing = MassDelete(max_percent=0, min_clusters=1, min_objects=1)
    assert found([of_object(config_map("never-placed"))], wanted=nothing) == {}
    assert found([of_object(A)], before=fleet(placed(SHOP, FIVE, *SHOPS)), wanted=nothing) == {}


def test_what_others_keep_for_a_placement_counts_as_had_by_it() -> None:
    moved = {one.key for one in WEBS[:4]}
    owned = {
        name: {key: replace(entry, placement=SHOP) if key in moved else entry for key, entry in entries.items()}
        for name, entries in BEFORE.inventory.items()
    }
    limits = MassDelete(max_percent=60)
    before = replace(BEFORE, inventory=owned, mass_delete=limits)
    sentence = "the commit removes 50 of the 50 objects that placement web has, from 5 clusters (more than 60%)"
    gone = Removal(kind=RemovalKind.PLACEMENT, placement=WEB)
    assert found([gone], before=before, wanted=limits) == {sentence: [gone.id]}
