"""Which clusters a commit makes a placement leave and join, and because of what (contracts.md §4, `moves`)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from gitfleet import rollout
from gitfleet.api.bindings import is_active
from gitfleet.api.clusters import MemberCluster, is_leaving
from gitfleet.api.placements import PlacementKey, PlacementType
from gitfleet.formats.sentences import agreeing, counted, named_briefly
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.views.texts import ViewsText

_MOST_NAMED: Final = 3


def moves_document(key: PlacementKey, before: FleetState, after: FleetState) -> dict[str, Any]:
    """`{leave, join, because}` of one placement between two states: clusters by name, and why in half a sentence, ""
    when nothing moves."""
    old, new = before.placements.get(key), after.placements.get(key)
    had, has = _picked(old), _picked(new)
    leave, join = sorted(had - has), sorted(has - had)
    because = " and ".join(dict.fromkeys(_causes(key, leave, join, before, after))) if leave or join else ""
    return {"leave": leave, "join": join, "because": because}


def moves_sentence(moves: Mapping[str, Any]) -> str:
    """`3 clusters leave, 2 join, because ...`; "" when nothing moves."""
    leave, join = len(moves["leave"]), len(moves["join"])
    parts = [f"{counted(leave, 'cluster')} {agreeing(leave, 'leaves', 'leave')}"] if leave else []
    if join:
        parts.append(f"{join if leave else counted(join, 'cluster')} {agreeing(join, 'joins', 'join')}")
    return f"{', '.join(parts)}, because {moves['because']}" if parts else ""


def _picked(record: PlacementRecord | None) -> set[str]:
    if record is None:
        return set()
    return {binding.cluster for binding in record.bindings if is_active(binding)}


def _causes(
    key: PlacementKey, leave: Collection[str], join: Collection[str], before: FleetState, after: FleetState
) -> Iterator[str]:
    """What people changed, and what follows from it; the first that explains a move counts."""
    old, new = before.placements.get(key), after.placements.get(key)
    if new is None or new.placement.deleting is not None:
        yield ViewsText.PLACEMENT_DELETED()
        return
    if old is None:
        yield ViewsText.PLACEMENT_NEW()
        return
    gone = [name for name in leave if is_leaving(after.clusters.get(name))]
    if gone:
        yield ViewsText.FLEET(names=_names(gone), verb=_verb(gone, "leaves", "leave"))
    evictions = rollout.evicted_since(before.evictions, after.evictions)
    evicted = [name for name in leave if (key, name) in evictions and name not in gone]
    if evicted:
        yield f"{_names(evicted)} {_verb(evicted, 'is', 'are')} evicted"
    gone += evicted
    policy = _policy_cause(old, new)
    if policy and (len(gone) < len(leave) or join):
        yield policy
        return
    if len(gone) < len(leave):
        yield ViewsText.SCHEDULED_AGAIN()
    yield from _joining(new, gone, join, before, after)


def _joining(
    new: PlacementRecord, gone: Collection[str], join: Collection[str], before: FleetState, after: FleetState
) -> Iterator[str]:
    fresh = [name for name in join if name not in before.clusters]
    if fresh:
        yield ViewsText.FLEET(names=_names(fresh), verb=_verb(fresh, "joins", "join"))
    if gone and new.placement.effective_policy.placement_type is PlacementType.PICK_N and len(fresh) < len(join):
        yield "PickN finds a replacement"
        return
    for what, changed in (("label", _labels_changed), ("taint", _taints_changed)):
        found = [n for n in join if n not in fresh and changed(before.clusters[n], after.clusters.get(n))]
        if found:
            yield f"the {what}s of {_names(found)} changed"
        fresh += found
    rest = [name for name in join if name not in fresh]
    if rest:
        yield ViewsText.BECOME_ELIGIBLE(names=_names(rest), verb=_verb(rest, "has", "have"))


def _policy_cause(old: PlacementRecord, new: PlacementRecord) -> str:
    was, now = old.latest_policy, new.latest_policy
    if was is None or now is None:
        return ""
    if was.name != now.name:
        return ViewsText.POLICY_CHANGED()
    if was.number_of_clusters != now.number_of_clusters:
        return ViewsText.NUMBEROFCLUSTERS_IS_AND_WAS(
            number_of_clusters=now.number_of_clusters, number_of_clusters_2=was.number_of_clusters
        )
    return ""


def _labels_changed(old: MemberCluster, new: MemberCluster | None) -> bool:
    return new is not None and dict(old.labels) != dict(new.labels)


def _taints_changed(old: MemberCluster, new: MemberCluster | None) -> bool:
    return new is not None and old.taints != new.taints


def _names(clusters: Iterable[str]) -> str:
    return named_briefly(list(clusters), _MOST_NAMED)


def _verb(clusters: Collection[str], one: str, many: str) -> str:
    return agreeing(len(clusters), one, many)
