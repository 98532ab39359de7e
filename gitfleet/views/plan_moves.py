"""Which clusters a commit makes a placement leave and join, and because of what (contracts.md §4, `moves`)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from gitfleet import rollout
from gitfleet.api.bindings import is_active
from gitfleet.api.clusters import is_leaving
from gitfleet.api.holds import Removal
from gitfleet.api.placements import PlacementKey, PlacementType
from gitfleet.formats.sentences import agreeing, counted, named_briefly
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.views.texts import ViewsText

_MOST_NAMED: Final = 3


def moves_document(
    key: PlacementKey, before: FleetState, after: FleetState, pending: Iterable[Removal]
) -> dict[str, Any]:
    """`{leave, held, join, because}` of one placement between two states: clusters by name, those among them of which a
    `pending` removal is held, and why in half a sentence, "" when nothing moves."""
    old, new = before.placements.get(key), after.placements.get(key)
    had, has = _picked(old), _picked(new)
    is_deleted = _is_deleted(new)
    leave, join = sorted(had if is_deleted and had != has else had - has), sorted(has - had)
    because = " and ".join(dict.fromkeys(_causes(key, leave, join, before, after))) if leave or join else ""
    concerned = [removal.cluster for removal in pending if removal.placement in (key, None)]
    held = set(leave if is_deleted and "" in concerned else concerned)  # "": an object, on all of its clusters
    return {"leave": leave, "held": sorted(held.intersection(leave)), "join": join, "because": because}


def moves_sentence(moves: Mapping[str, Any]) -> str:
    """`3 clusters leave, 1 would leave if approved, 2 join, because ...`; "" when nothing moves."""
    held, join = len(moves["held"]), len(moves["join"])
    leave = len(moves["leave"]) - held
    parts = [f"{counted(leave, 'cluster')} {agreeing(leave, 'leaves', 'leave')}"] if leave else []
    if held:
        parts.append(ViewsText.WOULD_LEAVE_IF_APPROVED(clusters=held if leave else counted(held, "cluster")))
    if join:
        parts.append(f"{join if parts else counted(join, 'cluster')} {agreeing(join, 'joins', 'join')}")
    return f"{', '.join(parts)}, because {moves['because']}" if parts else ""


def _is_deleted(record: PlacementRecord | None) -> bool:
    return record is None or record.placement.deleting is not None


def _picked(record: PlacementRecord | None) -> set[str]:
    if record is None:
        return set()
    return {binding.cluster for binding in record.bindings if is_active(binding)}


def _causes(
    key: PlacementKey, leave: Collection[str], join: Collection[str], before: FleetState, after: FleetState
) -> Iterator[str]:
    """What people changed, and what follows from it; the first that explains a move counts."""
    old, new = before.placements.get(key), after.placements.get(key)
    if new is None or _is_deleted(new):
        yield ViewsText.PLACEMENT_DELETED()
        return
    if old is None:
        yield ViewsText.PLACEMENT_NEW()
        return
    leaving = [name for name in leave if is_leaving(after.clusters.get(name))]
    if leaving:
        yield ViewsText.FLEET(names=_names(leaving), verb=_verb(leaving, "leaves", "leave"))
    evictions = rollout.evicted_since(before.evictions, after.evictions)
    evicted = [name for name in leave if (key, name) in evictions and name not in leaving]
    if evicted:
        yield f"{_names(evicted)} {_verb(evicted, 'is', 'are')} evicted"
    leaving += evicted
    policy = _policy_cause(old, new)
    if policy and (len(leaving) < len(leave) or join):
        yield policy
        return
    if len(leaving) < len(leave):
        yield ViewsText.SCHEDULED_AGAIN()
    yield from _joining(new, leaving, join, before)


def _joining(
    new: PlacementRecord, leaving: Collection[str], join: Collection[str], before: FleetState
) -> Iterator[str]:
    fresh = [name for name in join if name not in before.clusters]
    if fresh:
        yield ViewsText.FLEET(names=_names(fresh), verb=_verb(fresh, "joins", "join"))
    if leaving and new.placement.effective_policy.placement_type is PlacementType.PICK_N and len(fresh) < len(join):
        yield "PickN finds a replacement"
        return
    eligible = [name for name in join if name not in fresh]
    if eligible:
        yield ViewsText.BECOME_ELIGIBLE(names=_names(eligible), verb=_verb(eligible, "has", "have"))


def _policy_cause(old: PlacementRecord, new: PlacementRecord) -> str:
    old_policy, new_policy = old.latest_policy, new.latest_policy
    if old_policy is None or new_policy is None:
        return ""
    if old_policy.name != new_policy.name:
        return ViewsText.POLICY_CHANGED()
    if old_policy.number_of_clusters != new_policy.number_of_clusters:
        return ViewsText.NUMBEROFCLUSTERS_IS_AND_WAS(
            number_of_clusters=new_policy.number_of_clusters, number_of_clusters_2=old_policy.number_of_clusters
        )
    return ""


def _names(clusters: Iterable[str]) -> str:
    return named_briefly(list(clusters), _MOST_NAMED)


def _verb(clusters: Collection[str], singular: str, plural: str) -> str:
    return agreeing(len(clusters), singular, plural)
