"""Snapshots of one placement: numbered from 0, a new one exactly when the content changed, old ones dropped."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import Protocol, TypeVar

from gitfleet.api import write
from gitfleet.api.folders import FolderVariants
from gitfleet.api.objects import Manifest
from gitfleet.api.placements import Placement, PlacementPolicy
from gitfleet.api.snapshots import DocumentRef, PolicySnapshot, ResourceSnapshot
from gitfleet.api.steps import stepped_folders
from gitfleet.errors import BadInput
from gitfleet.formats.canonical_json import digest_of
from gitfleet.model.state import PlacementRecord
from gitfleet.snapshots.index import PayloadIndex, index_payload
from gitfleet.snapshots.selection import Selection, UserError, denial_of, select, unusable
from gitfleet.snapshots.strip import strip
from gitfleet.snapshots.texts import SnapshotsText


class _Named(Protocol):
    @property
    def name(self) -> str: ...


_Snapshot = TypeVar("_Snapshot", bound=_Named)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retained:
    """What must not go: `snapshots` that an unfinished run needs, by name. `pinned` is the snapshot, loaded, whose
    content takes the place of the selection."""

    snapshots: Collection[str] = ()
    pinned: ResourceSnapshot | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotResult:
    """All snapshots that are kept, oldest first. With a `user_error` they are the ones that were there before.

    `waiting` is what the placement selects in place of the pinned content, as the beginning of a sentence; "" where
    that is the same.
    """

    resource_snapshots: tuple[ResourceSnapshot, ...]
    policy_snapshots: tuple[PolicySnapshot, ...]
    user_error: UserError | None = None
    waiting: str = ""


def take_snapshots(
    placement: Placement,
    index: PayloadIndex,
    record: PlacementRecord | None,
    *,
    commit: str,
    now: datetime,
    retain: Retained | None = None,
) -> SnapshotResult:
    """The placement's snapshots after a commit, External ones included (decision D26).

    `record` holds what was there before (None: nothing), its latest resource snapshot with its manifests. Snapshots
    that bindings name are kept anyway (decision D17). Never raises for what people wrote.
    """
    keep = retain or Retained()
    resources = record.resource_snapshots if record else ()
    policies = record.policy_snapshots if record else ()
    selection = _select(placement, index, record)
    waiting = ""
    if keep.pinned is not None:
        waiting = _waiting(selection, keep.pinned, resources)
        selection = Selection(manifests=keep.pinned.manifests or (), folders=keep.pinned.folders)
    fresh = None
    if selection is not None:
        latest = resources[-1] if resources else None
        denial = denial_of(placement, selection.manifests, index.policy, latest)
        error = selection.error or (unusable(placement, denial) if denial else None)
        if error is not None:
            return SnapshotResult(
                resource_snapshots=resources, policy_snapshots=policies, user_error=error, waiting=waiting
            )
        fresh = _resource_snapshot(placement, selection, resources, commit, now)
    used = {*keep.snapshots, *_used(record)}
    limit = placement.revision_history_limit
    return SnapshotResult(
        resource_snapshots=_trim((*resources, fresh) if fresh else resources, limit, used),
        policy_snapshots=_trim(_policy_snapshots(placement, policies), limit, used),
        waiting=waiting,
    )


def _waiting(selection: Selection | None, pinned: ResourceSnapshot, snapshots: Sequence[ResourceSnapshot]) -> str:
    """What a placement selects in place of its pinned content, as the beginning of a sentence; "" where it is the same
    or not known."""
    if selection is None:
        return ""
    if selection.error is not None:
        return SnapshotsText.SELECTS_NOW_CANNOT_USED()
    unedited = _is_unedited(_references(selection.manifests), selection.folders, pinned)
    content = pinned.hash if unedited else _content_hash(map(strip, selection.manifests), selection.folders)
    if content == pinned.hash:
        return ""
    newest = next((snapshot for snapshot in reversed(snapshots) if snapshot.hash == content), None)
    return "newer content" if newest is None else f"snapshot {newest.index}"


def restore_snapshot(snapshot: ResourceSnapshot, documents: Mapping[tuple[str, int], Manifest]) -> ResourceSnapshot:
    """The snapshot with its manifests, stripped and in order, from the documents (blob id, index) it refers to.

    BadInput names the first document that is not there. The hash is not checked: git has checked the blobs, and a later
    version may reckon it in another way.
    """
    manifests: list[Manifest] = []
    for reference in snapshot.documents:
        manifest = documents.get((reference.blob, reference.document))
        if manifest is None:
            raise BadInput(
                SnapshotsText.SNAPSHOT_NEEDS_FROM_DOCUMENT(
                    snapshot=snapshot.name,
                    reference=reference.key,
                    document=reference.document,
                    reference_2=reference.path,
                    blob=reference.blob or "(none)",
                )
            )
        manifests.append(replace(strip(manifest), folder=reference.folder, variants=reference.variants))
    return replace(snapshot, manifests=tuple(manifests))


def _content_hash(manifests: Iterable[Manifest], folders: Iterable[FolderVariants]) -> str:
    lines = [" ".join((m.digest, m.folder, *m.variants)) if m.variants else m.digest for m in manifests]
    lines += [digest_of(write(folder)) for folder in folders]
    return sha256("\n".join(lines).encode()).hexdigest()


def _select(placement: Placement, index: PayloadIndex, record: PlacementRecord | None) -> Selection | None:
    """The selection; None when the latest snapshot must stay, as it cannot be carried over.

    While nothing counts as removed (at all, or of objects that cannot be read), what the latest snapshot has and the
    payload lacks takes part in the selection as if it were still there: a file that could not be read takes nothing
    away, a changed selector still does.
    """
    latest = record.latest_resources if record else None
    if latest is None:
        return select(placement, index)
    if not index.retains_some:
        return select(placement, index, before=latest.folders)
    missing = {d.key for d in latest.documents if index.retains(d.key)}
    if not missing:
        return select(placement, index, before=latest.folders)
    if latest.manifests is None:
        return None
    retained = index_payload([m for m in latest.manifests if m.key in missing], index.namespaced, folders=index.folders)
    return None if retained.failed else select(placement, index, retained, before=latest.folders)


def _resource_snapshot(
    placement: Placement,
    selection: Selection,
    existing: Sequence[ResourceSnapshot],
    commit: str,
    now: datetime,
) -> ResourceSnapshot | None:
    """A new snapshot, or None when the latest has the same content. Going back to old content is a change (D16)."""
    latest = existing[-1] if existing else None
    documents = _references(selection.manifests)
    if latest is not None and _is_unedited(documents, selection.folders, latest):
        return None
    manifests = tuple(strip(m) for m in selection.manifests)
    content = _content_hash(manifests, selection.folders)
    # A later version may reckon the hash in another way: that alone is no change.
    if latest is not None and content in (latest.hash, _content_hash(latest.manifests or (), latest.folders)):
        return None
    return ResourceSnapshot(
        placement=placement.key,
        index=latest.index + 1 if latest else 0,
        hash=content,
        commit=commit,
        created=now,
        documents=documents,
        folders=selection.folders,
        manifests=manifests,
    )


def _is_unedited(
    documents: tuple[DocumentRef, ...], folders: tuple[FolderVariants, ...], snapshot: ResourceSnapshot
) -> bool:
    """Whether these are the snapshot's documents of the same blobs: then nothing needs to be hashed."""
    is_same = (documents, folders) == (snapshot.documents, snapshot.folders)
    return is_same and all(document.blob for document in documents)


def _references(selected: Collection[Manifest]) -> tuple[DocumentRef, ...]:
    stepped = stepped_folders(selected)
    return tuple(
        DocumentRef(
            m.origin.path,
            m.origin.blob,
            m.origin.document,
            m.key,
            folder=m.folder if m.variants or m.folder in stepped else "",
            variants=m.variants,
        )
        for m in selected
    )


def _policy_snapshots(placement: Placement, existing: tuple[PolicySnapshot, ...]) -> tuple[PolicySnapshot, ...]:
    """The policy snapshots with the present policy as the latest; scaling and a new generation edit it in place."""
    policy, content = placement.effective_policy, _policy_hash(placement.effective_policy)
    latest = existing[-1] if existing else None
    unchanged = latest is not None and content in (latest.hash, _policy_hash(latest.policy))
    present = PolicySnapshot(
        placement=placement.key,
        index=latest.index + (0 if unchanged else 1) if latest else 0,
        hash=content,
        policy=policy,
        number_of_clusters=policy.number_of_clusters,
        placement_generation=placement.generation,
    )
    if latest is not None and unchanged:
        return existing if present == latest else (*existing[:-1], present)
    return (*existing, present)


def _policy_hash(policy: PlacementPolicy) -> str:
    return digest_of({**asdict(policy), "number_of_clusters": None})


def _used(record: PlacementRecord | None) -> Iterator[str]:
    for binding in record.bindings if record else ():
        yield binding.policy_snapshot
        yield from (name for name in (binding.resource_snapshot, binding.applied_snapshot) if name)


def _trim(snapshots: tuple[_Snapshot, ...], limit: int, used: Collection[str]) -> tuple[_Snapshot, ...]:
    """The newest `limit` snapshots, and older ones that are in use."""
    spare = len(snapshots) - max(1, limit)
    if spare <= 0:
        return snapshots
    return (*(s for s in snapshots[:spare] if s.name in used), *snapshots[spare:])
