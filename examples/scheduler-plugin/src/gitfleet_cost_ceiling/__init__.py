"""A filter for gitfleet's scheduler: clusters whose label names a price above a ceiling are not picked.

FleetConfig:

    scheduler:
      plugins:
        - {name: CostCeiling, args: {label: example.com/hourly-cost, ceiling: "2.50"}}
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from gitfleet.ports.scheduling import (
    Cycle,
    Fact,
    JsonObject,
    MemberCluster,
    PlacementKey,
    PlacementPolicy,
    Refusal,
    SchedulerPlugin,
)


@dataclass(frozen=True)
class CostCeiling(SchedulerPlugin):
    """Stage filter. A cluster without the label, or with one that is no number, may be picked."""

    name = "CostCeiling"
    depends_on_bindings = False
    label: str
    ceiling: Decimal

    def depends_on(self, placement: PlacementKey, policy: PlacementPolicy) -> Iterable[Fact]:
        """One label: placements are scheduled again only when it changes on some cluster."""
        return [Fact("label", self.label)]

    def filter(self, cycle: Cycle, cluster: MemberCluster) -> Refusal | None:
        """Why the cluster may not be picked, None when it may."""
        cost = _price(cluster.labels.get(self.label, ""))
        if cost is None or cost <= self.ceiling:
            return None
        return Refusal(f"cluster costs {cost}, above the ceiling of {self.ceiling}")

    def remedy(self, cycle: Cycle, cluster: MemberCluster) -> str:
        """What `gitfleet explain` advises."""
        return f"lower label {self.label} to {self.ceiling} or raise the ceiling of {self.name}"


def cost_ceiling(args: JsonObject) -> CostCeiling:
    """The factory that the entry point names; ValueError for args that it cannot use."""
    ceiling = _price(str(args.get("ceiling", "")))
    if set(args) - {"label", "ceiling"} or ceiling is None:
        raise ValueError("it takes label and ceiling, and needs ceiling, a number")
    return CostCeiling(label=str(args.get("label", "example.com/hourly-cost")), ceiling=ceiling)


def _price(text: str) -> Decimal | None:
    try:
        price = Decimal(text)
    except InvalidOperation:
        return None
    return price if price.is_finite() else None
