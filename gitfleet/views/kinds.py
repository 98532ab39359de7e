"""What `get` and `describe` show of the state branch: KubeFleet's printer columns, and whole objects.

Kinds go by kubectl's names, long, short or plural (`api.kinds`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.kinds import list_named, scope_named
from gitfleet.api.objects import JsonObject
from gitfleet.api.quarantines import Quarantine
from gitfleet.api.runs import ApprovalRequest
from gitfleet.errors import BadInput
from gitfleet.state import StateReader
from gitfleet.views import columns, models
from gitfleet.views.evictions import eviction_views
from gitfleet.views.freezes import freeze_views
from gitfleet.views.holds import holds_of, waiting_holds
from gitfleet.views.models import ClusterView, OwnView, PlacementView, View
from gitfleet.views.runs import run_views
from gitfleet.views.tables import Table, namespaced
from gitfleet.views.texts import ViewsText
from gitfleet.views.workload_rollouts import rollout_views


@dataclass(frozen=True, slots=True)
class _Kind:
    """How one kind is listed, shown in a table, and made whole objects; a name may be given to read less."""

    views: Callable[[StateReader, str | None], Iterable[Any]]
    columns: tuple[columns.Column, ...]
    bodies: Callable[[StateReader, str | None], Iterable[JsonObject]]


def table_of(kind: str, state: StateReader, name: str | None = None, *, now: datetime, wide: bool = False) -> Table:
    """The objects of a kind, or the one of a name (`name` or `namespace/name`), as rows. BadInput for an unknown
    kind.

    A NAMESPACE column is there only when an object has a namespace. AGE counts from the first thing that is dated.
    """
    listing, scope = _kind(kind), scope_named(kind)
    shown = [column for column in listing.columns if wide or not column[1]]
    rows = [
        (view.namespace, view.name, *(cell(view, now) for _, _, cell in shown))
        for view in listing.views(state, name)
        if _is_named(view, name) and scope in (None, bool(view.namespace))
    ]
    return namespaced(("NAMESPACE", "NAME", *(title for title, _, _ in shown)), rows)


def objects_of(kind: str, state: StateReader, name: str | None = None) -> list[JsonObject]:
    """The objects of a kind, or the one of a name, as Kubernetes would show them. BadInput for an unknown kind."""
    return in_scope(kind, _kind(kind).bodies(state, name))


def in_scope(kind: str, bodies: Iterable[JsonObject]) -> list[JsonObject]:
    """The objects of the scope that a word stands for: `crp` has no namespace, `rp` has one, `placements` may."""
    scope = scope_named(kind)
    if scope is None:
        return list(bodies)
    return [body for body in bodies if scope == bool(body["metadata"].get("namespace"))]


def kinds() -> tuple[str, ...]:
    """The kinds that can be asked for, by what they are listed under."""
    return tuple(_KINDS)


def _kind(word: str) -> _Kind:
    listed_as = list_named(word)
    if listed_as not in _KINDS:
        raise BadInput(ViewsText.NO_KIND_STATE_BRANCH(word=word), hint=ViewsText.ASK_ONE(kinds=", ".join(_KINDS)))
    return _KINDS[listed_as]


def _is_named(view: View, name: str | None) -> bool:
    return name is None or name in (view.name, f"{view.namespace}/{view.name}")


def _by_view(views: Callable[[StateReader, str | None], Iterable[Any]], shown: tuple[columns.Column, ...]) -> _Kind:
    """A kind whose views hold the whole object."""

    def bodies(state: StateReader, name: str | None) -> Iterable[JsonObject]:
        return (view.body() for view in views(state, name) if _is_named(view, name))

    return _Kind(views, shown, bodies)


def _placements(state: StateReader, name: str | None) -> Iterator[PlacementView]:
    files, waiting = state.placements(name), waiting_holds(state)
    return (PlacementView(file, holds_of(file.placement.key, waiting)) for file in files)


def _own(values: Iterable[Any]) -> Iterator[OwnView]:
    return (OwnView(value, "", value.name) for value in values)


def _bindings(state: StateReader, name: str | None) -> Iterator[OwnView]:
    return (OwnView(binding, binding.placement.namespace, binding.name) for binding in state.bindings(name))


def _requests(state: StateReader, name: str | None) -> Iterator[OwnView]:
    requests = sorted(state.each(ApprovalRequest, name), key=lambda request: request.key)
    return (OwnView(request, request.key.namespace, request.key.name) for request in requests)


_KINDS: Final[dict[str, _Kind]] = {
    "placements": _Kind(_placements, columns.PLACEMENTS, models.placement_bodies),
    "clusters": _by_view(lambda state, name: map(ClusterView.of, state.named(MemberCluster, name)), columns.CLUSTERS),
    "bindings": _by_view(_bindings, columns.BINDINGS),
    "snapshots": _by_view(models.snapshot_views, columns.SNAPSHOTS),
    "policies": _by_view(models.policy_views, columns.POLICIES),
    "holds": _by_view(lambda state, name: _own(waiting_holds(state, name)), columns.HOLDS),
    "evictions": _by_view(eviction_views, columns.EVICTIONS),
    "freezes": _by_view(freeze_views, columns.FREEZES),
    "quarantines": _by_view(lambda state, name: _own(state.named(Quarantine, name)), columns.QUARANTINES),
    "runs": _by_view(run_views, columns.RUNS),
    "approvals": _by_view(_requests, columns.APPROVALS),
    "rollouts": _by_view(rollout_views, columns.ROLLOUTS),
    "overrides": _by_view(models.override_views, columns.OVERRIDES),
}
