"""The state branch for readers that have no driver: which commit of it is in force, and one source for many threads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from threading import Lock
from typing import Final

from gitfleet.errors import BadInput
from gitfleet.formats.limits import MAX_FILE_BYTES
from gitfleet.ports.repos import RepoReader, TreeEntry
from gitfleet.state import StateReader

_CONFIG: Final = b"FleetConfig"
_KUSTOMIZATIONS: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_MOST_CHANGES: Final = 1000


class SharedSource:
    """A repository's trees and blobs for any number of threads, one at a time."""

    def __init__(self, repo: RepoReader) -> None:
        self._repo = repo
        self._lock = Lock()

    def list_tree(self, commit: str, under: str = "") -> Mapping[str, TreeEntry]:
        """As RepoReader."""
        with self._lock:
            return self._repo.list_tree(commit, under)

    def read_blobs(self, oids: Iterable[str], *, limit: int) -> Mapping[str, bytes]:
        """As RepoReader."""
        with self._lock:
            return self._repo.read_blobs(oids, limit=limit)


def certain_state_head(repo: RepoReader, heads: Mapping[str, str], watch: str, state: str) -> str | None:
    """The head of the branch `state`, where it is certain that the FleetConfig on `watch` still means this branch; None
    where only reading the whole configuration shows it.

    The state says which desired commit it was made from, and that commit's FleetConfig named this branch. So nothing
    else can be in force when no file with a FleetConfig has changed since.
    """
    head, now = heads.get(state), heads.get(watch)
    if head is None or now is None:
        return None
    try:
        observed = StateReader(repo, head).head().observed_commit
        if observed is None:
            return None
        return head if observed == now or not _config_changed(repo, observed, now) else None
    except BadInput:
        return None  # the observed commit is gone, or the branch is somebody else's


def _config_changed(repo: RepoReader, old: str, new: str) -> bool:
    changes = repo.changed_paths(old, new)
    if len(changes) > _MOST_CHANGES:
        return True
    before = repo.list_tree(old)
    if any(path.rpartition("/")[2] in _KUSTOMIZATIONS for path in (*before, *changes)):
        return True  # a build may make a FleetConfig out of files that do not name it
    blobs = {entry.oid for entry in changes.values() if entry is not None}
    blobs |= {before[path].oid for path in changes if path in before}
    return any(_CONFIG in content for content in repo.read_blobs(blobs, limit=MAX_FILE_BYTES).values())
