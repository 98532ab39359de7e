"""What a cluster costs, as a property that placements can ask for.

The platform team of each cluster keeps a ConfigMap with the prices of a cpu and of a gigabyte of memory for an hour:

    apiVersion: v1
    kind: ConfigMap
    metadata: {name: prices, namespace: platform}
    data: {per-cpu-hour: "0.031", per-gb-hour: "0.0042"}
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from gitfleet.ports.properties import Collected, JsonObject, PropertyProvider, ReportedCondition, Status

PREFIX = "cost.example.com/"
PRICES = ("per-cpu-hour", "per-gb-hour")


class CostProvider(PropertyProvider):
    """`args` are what gitfleet.yaml says: `namespace` and `name` of the ConfigMap."""

    def __init__(self, args: JsonObject) -> None:
        unknown = sorted(set(args) - {"namespace", "name"})
        if unknown:
            raise ValueError(f"unknown arguments: {', '.join(unknown)}")
        self._path = f"/api/v1/namespaces/{args.get('namespace', 'platform')}/configmaps/{args.get('name', 'prices')}"

    def collect(self) -> Collected:
        """The prices that can be read, and a condition of our own that says whether there are any."""
        found = self.cluster.get(self._path)
        if found is None:
            missing = ReportedCondition("PricesKnown", Status.FALSE, "NoPriceList", f"{self._path} is not there")
            return Collected(conditions=(missing,))
        data = found.get("data") or {}
        prices = {name: str(data[name]).strip() for name in PRICES if _is_price(data.get(name))}
        wrong = ", ".join(name for name in PRICES if name not in prices)
        known = ReportedCondition("PricesKnown", Status.TRUE, "PriceListRead", f"{len(prices)} prices read")
        return Collected(
            properties={PREFIX + name: price for name, price in prices.items()},
            conditions=(known,),
            problem=f"{self._path} has no price for {wrong}" if wrong else "",
        )


def _is_price(text: object) -> bool:
    try:
        return Decimal(str(text)) >= 0
    except InvalidOperation:
        return False
