"""Kinds that people write and that nothing reports on yet: listed from the watched branch, as they were written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from gitfleet.api.objects import JsonObject
from gitfleet.model.desired import Desired
from gitfleet.views import Table

_ALIASES: Final[Mapping[str, str]] = {
    alias: plain
    for plain, aliases in {
        "runs": "run csur sur clusterstagedupdaterun clusterstagedupdateruns stagedupdaterun stagedupdateruns",
        "strategies": "strategy csus sus clusterstagedupdatestrategy clusterstagedupdatestrategies "
        "stagedupdatestrategy stagedupdatestrategies",
        "approvals": "approval careq areq clusterapprovalrequest clusterapprovalrequests approvalrequest "
        "approvalrequests",
        "evictions": "eviction crpe clusterresourceplacementeviction clusterresourceplacementevictions",
        "budgets": "budget crpdb clusterresourceplacementdisruptionbudget clusterresourceplacementdisruptionbudgets",
        "rollouts": "rollout",
    }.items()
    for alias in (plain, *aliases.split())
}


def kinds() -> tuple[str, ...]:
    """Their plain names."""
    return tuple(dict.fromkeys(_ALIASES.values()))


def plain_kind(word: str) -> str | None:
    """The plain name of such a kind; None for any other word."""
    return _ALIASES.get(word.lower())


def objects_of(kind: str, desired: Desired, name: str | None = None) -> list[JsonObject]:
    """The objects of a kind, or the one of a name (`name` or `namespace/name`), in the order of their names."""
    found = sorted(_bodies(kind, desired), key=_identity)
    return [body for body in found if name is None or name in (_identity(body)[1], "/".join(_identity(body)))]


def table_of(objects: Iterable[JsonObject]) -> Table:
    """Name and kind of each, the namespace where one has any."""
    rows = [(*_identity(body), str(body.get("kind", ""))) for body in objects]
    if any(space for space, _, _ in rows):
        return Table(("NAMESPACE", "NAME", "KIND"), tuple(rows))
    return Table(("NAME", "KIND"), tuple(row[1:] for row in rows))


def _bodies(kind: str, desired: Desired) -> list[JsonObject]:
    match kind:
        case "runs":
            return [run.body for run in desired.runs.values()]
        case "strategies":
            return [strategy.body for strategy in desired.strategies.values()]
        case "approvals":
            return [approval.body for approval in desired.approvals.values()]
        case "evictions":
            return [eviction.body for eviction in desired.evictions.values()]
        case "budgets":
            return [budget.body for budget in desired.budgets.values()]
        case _:
            return [body for body, _ in desired.rollouts]


def _identity(body: JsonObject) -> tuple[str, str]:
    metadata: Mapping[str, Any] = body.get("metadata") or {}
    return str(metadata.get("namespace") or ""), str(metadata.get("name") or "")
