"""What a pinned placement keeps at older content, and another one selects, waits for the pin: the refusal names it."""

from __future__ import annotations

from gitfleet.api.placements import PlacementKey
from gitfleet.apply.texts import ApplyText
from tests import builders
from tests.scenarios.test_faulty_renames import placing
from tests.scenarios.test_unclear_commits import placed

OF_X = ("Namespace/x", "Deployment/x/app")


def test_who_waits_for_what_a_pinned_placement_keeps_is_told_of_the_pin() -> None:
    world = placed(placing("web", "web", "x"))
    latest = world.state().placements[PlacementKey("", "web")].latest_resources
    assert latest is not None
    world.commit(builders.pin("web", latest.index, latest.hash))
    world.settle()
    world.commit(placing("web", "web"), placing("store", "x"))
    world.settle()
    said = {one.message for b in world.state().placements[PlacementKey("", "store")].bindings for one in b.failed}
    why = "which a pin keeps at older content; remove the pin to hand it over, or take it out of store"
    assert said == {
        (f"{what}" + ApplyText.BELONGS_CLUSTER(key="", holder="ClusterResourcePlacement", holder_2="web") + f", {why}")
        for what in OF_X
    }
