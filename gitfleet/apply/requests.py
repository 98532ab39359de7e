"""The question to `plan_apply`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import Identity, Manifest, ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.strategies import DeletePropagation
from gitfleet.apply.comparisons import Comparisons
from gitfleet.apply.ignored import Ignored
from gitfleet.model.observations import LiveObjects
from gitfleet.model.state import Inventory
from gitfleet.model.works import Work


def unknown(_: InventoryEntry) -> None:
    """Of no object is it known what was applied last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyRequest:
    """All that concerns one cluster.

    `works` are the works of every placement on the cluster. `removing` are the placements that give it up, each with
    its deleteStrategy: "Delete" prunes what the inventory names for it, "Abandon" releases it untouched. The objects
    of a placement that stands in neither are left alone. `live` and `unreadable` come from one observation of the keys
    of works and inventory; a key in neither was not observed and is left as it is. `known_namespaces` are those the
    cluster was seen to have, None when they were not read. Where the cluster is `leaving` the fleet, `removing` follows
    its deleteOptions; it `may_leave` while a hold waits for the answer to that. `going` are the placements that are
    being removed: what they still have is handed over as they leave. `given_up` are the objects that placements are to
    lose, by their newest content, and `held` those that they have only because the removal is held; `keepers` say of
    a placement what keeps it whole, and what to do. `outdated` are those whose work is not their newest content, with
    those whose content is no newer than it: what any other one changed since is not changed back by it. `yielding` are,
    by placement that has its newest content there, those that hand over to it at once what they are to lose, whatever
    it changes in it. `applied` finds the manifest that was applied last, where it is known.
    """

    cluster: str
    works: tuple[Work, ...] = ()
    removing: Mapping[PlacementKey, DeletePropagation] = field(default_factory=dict)
    inventory: Inventory = field(default_factory=dict)
    live: LiveObjects = field(default_factory=dict)
    unreadable: Mapping[ObjectKey, str] = field(default_factory=dict)
    known_namespaces: Collection[str] | None = None
    leaving: bool = False
    may_leave: bool = False
    going: Collection[PlacementKey] = frozenset()
    outdated: Mapping[PlacementKey, Collection[PlacementKey]] = field(default_factory=dict)
    yielding: Mapping[PlacementKey, Collection[PlacementKey]] = field(default_factory=dict)
    given_up: Mapping[PlacementKey, Collection[Identity]] = field(default_factory=dict)
    held: Mapping[PlacementKey, Collection[Identity]] = field(default_factory=dict)
    keepers: Mapping[PlacementKey, str] = field(default_factory=dict)
    ignored: Ignored = Ignored()
    compared: Comparisons = field(default_factory=Comparisons, compare=False)
    applied: Callable[[InventoryEntry], Manifest | None] = field(default=unknown, compare=False)
