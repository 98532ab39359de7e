"""Which of the commits that clusters still wait for another commit takes back, by the trees alone (`git revert`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from typing import Final

from gitfleet.api.bindings import is_active
from gitfleet.errors import BadInput, UnreadableCommit
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.ports.repos import RepoReader

_MOST_COMMITS: Final = 5
"""So many commits with an unfinished rollout are compared, the newest."""
_MOST_TOGETHER: Final = 10
"""So many commits that came at once are taken back together."""


def taken_back(repo: RepoReader, commit: str, state: FleetState) -> frozenset[str]:
    """Of the commits whose content a cluster still waits for, those that a commit takes back: what they changed, with
    none or some of those right before them, is as it was, and the commit changes nothing else."""
    if state.observed_commit in (None, commit) or not (waited := _waited_for(state)):
        return frozenset()
    with suppress(BadInput, UnreadableCommit):  # history was rewritten: nothing can be compared
        changed = repo.changed_paths(state.observed_commit or "", commit).keys()
        return frozenset(one for one in waited if changed and _is_taken_back(repo, one, commit, set(changed)))
    return frozenset()


def _is_taken_back(repo: RepoReader, brought: str, commit: str, changed: set[str]) -> bool:
    with suppress(BadInput, UnreadableCommit):
        for older in repo.ancestors(brought, most=_MOST_TOGETHER):
            others = repo.changed_paths(older, commit).keys()
            if others.isdisjoint(changed) and others.isdisjoint(repo.changed_paths(older, brought)):
                return True
    return False


def _waited_for(state: FleetState) -> list[str]:
    """The commits whose snapshots not every cluster of their placement has been given, the newest first."""
    found: dict[str, datetime] = {}
    for record in state.placements.values():
        if record.placement.deleting is None:
            found.update(_unfinished(record))
    return sorted(found, key=lambda one: (found[one], one), reverse=True)[:_MOST_COMMITS]


def _unfinished(record: PlacementRecord) -> Iterator[tuple[str, datetime]]:
    given = {binding.resource_snapshot for binding in record.bindings if is_active(binding)}
    oldest = next((snapshot.index for snapshot in record.resource_snapshots if snapshot.name in given), None)
    if oldest is not None:
        later = (snapshot for snapshot in record.resource_snapshots if snapshot.index > oldest)
        yield from ((snapshot.commit, snapshot.created) for snapshot in later)
