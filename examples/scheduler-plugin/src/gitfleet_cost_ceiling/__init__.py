"""A filter for gitfleet's scheduler: clusters whose label names a price above a ceiling are not picked.

FleetConfig:

    scheduler:
      plugins:
        - {name: CostCeiling, args: {label: example.com/hourly-cost, ceiling: "2.50"}}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gitfleet.formats.quantities import InvalidQuantity, Quantity, parse_quantity
from gitfleet.model.clusters import MemberCluster
from gitfleet.model.placements import PlacementKey, PlacementPolicy
from gitfleet.ports.scheduling import Cycle, Fact, Refusal


@dataclass(frozen=True, slots=True)
class CostCeiling:
    """Stage filter. A cluster without the label, or with one that is no number, may be picked."""

    label: str
    ceiling: Quantity
    name: str = "CostCeiling"
    depends_on_bindings: bool = False

    def depends_on(self, placement: PlacementKey, policy: PlacementPolicy) -> Iterable[Fact]:
        """One label: placements are scheduled again only when it changes somewhere."""
        return [Fact("label", self.label)]

    def filter(self, cycle: Cycle, cluster: MemberCluster) -> Refusal | None:
        """Why the cluster may not be picked, None when it may."""
        text = cluster.labels.get(self.label)
        if text is None:
            return None
        try:
            cost = parse_quantity(text)
        except InvalidQuantity:
            return None
        return Refusal(f"cluster costs {text}, above the ceiling of {self.ceiling}") if cost > self.ceiling else None

    def remedy(self, cycle: Cycle, cluster: MemberCluster) -> str:
        """What `gitfleet explain` advises."""
        return f"lower label {self.label} to {self.ceiling} or raise the ceiling of {self.name}"


def cost_ceiling(args: Mapping[str, Any]) -> CostCeiling:
    """The factory that the entry point names; ValueError for args that it cannot use."""
    unknown = set(args) - {"label", "ceiling"}
    if unknown or "ceiling" not in args:
        raise ValueError("it takes label and ceiling, and needs ceiling")
    return CostCeiling(
        label=str(args.get("label", "example.com/hourly-cost")), ceiling=parse_quantity(str(args["ceiling"]))
    )
