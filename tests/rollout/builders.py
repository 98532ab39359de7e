"""Short ways to write a rolling update in tests."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from gitfleet.api.bindings import Binding, BindingState
from gitfleet.api.conditions import Condition, Status
from gitfleet.api.placements import PlacementKey, PlacementType
from gitfleet.api.strategies import ApplyStrategy, RollingUpdate
from gitfleet.model.rolling import PlacementGate, RolloutRequest
from gitfleet.rollout.texts import RolloutText

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def condition(type_: str, status: Status, reason: str, *, age: float = 3600, generation: int = 1) -> Condition:
    return Condition(
        type=type_,
        status=status,
        reason=reason,
        last_transition_time=NOW - timedelta(seconds=age),
        observed_generation=generation,
    )


def available(*, generation: int = 1) -> Condition:
    return condition("Available", Status.TRUE, "AllWorkAreAvailable", generation=generation)


def unavailable(*, age: float = 10, generation: int = 1) -> Condition:
    return condition("Available", Status.FALSE, "NotAllWorkAreAvailable", age=age, generation=generation)


def takes_no_more(available: str, floor: int, limit: str, until: str = "", what: str = "update") -> str:
    """Why no further cluster is taken down, where so many are available."""
    return RolloutText.ALLOWS_NO_FURTHER(
        state=f"{available} available",
        must=RolloutText.LEAST_MUST_STAY(floor=floor),
        limit=f"maxUnavailable {limit}",
        what=what,
        until=until and f" until {until}",
    )


OPEN = PlacementGate(frozen={}, refused="")
"""Nothing is closed."""


def bound(cluster: str, *conditions: Condition, snapshot: str = "s-0", **more: Any) -> Binding:
    return Binding(
        placement=PlacementKey("", "web"),
        cluster=cluster,
        state=more.pop("state", BindingState.BOUND),
        policy_snapshot="web-0",
        resource_snapshot=snapshot or None,
        conditions=conditions,
        **more,
    )


def scheduled(cluster: str, **more: Any) -> Binding:
    return bound(cluster, snapshot="", state=BindingState.SCHEDULED, **more)


def request(bindings: Sequence[Binding], *, latest: str | None = "s-1", **more: Any) -> RolloutRequest:
    limits = {k: more.pop(k) for k in ("max_unavailable", "max_surge", "unavailable_period_seconds") if k in more}
    return RolloutRequest(
        placement_type=more.pop("placement_type", PlacementType.PICK_ALL),
        number_of_clusters=more.pop("number_of_clusters", None),
        cluster_names=more.pop("cluster_names", ()),
        rolling_update=RollingUpdate(**limits),
        apply_strategy=more.pop("apply_strategy", ApplyStrategy()),
        bindings=tuple(bindings),
        latest_snapshot=latest,
        now=more.pop("now", NOW),
        gate=PlacementGate(frozen=more.pop("frozen", {}), refused=more.pop("refused", "")),
        **more,
    )
