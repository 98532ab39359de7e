"""Snapshots of one placement: numbered from 0, a new one exactly when the content changed, old ones dropped."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import Protocol, TypeVar

from gitfleet.api.envelopes import carried_identities
from gitfleet.api.objects import Identity, Manifest
from gitfleet.api.placements import Placement, PlacementKey, PlacementPolicy
from gitfleet.api.snapshots import DocumentRef, PolicySnapshot, ResourceSnapshot, snapshot_name
from gitfleet.errors import BadInput
from gitfleet.formats.batches import in_batches
from gitfleet.formats.canonical_json import digest_of
from gitfleet.model.state import PlacementRecord
from gitfleet.snapshots.denied import denial_of
from gitfleet.snapshots.index import PayloadIndex, index_payload
from gitfleet.snapshots.order import order_of
from gitfleet.snapshots.selection import Selection, UserError, select, unusable
from gitfleet.snapshots.strip import strip
from gitfleet.snapshots.texts import SnapshotsText


class _Named(Protocol):
    @property
    def name(self) -> str: ...


_Snapshot = TypeVar("_Snapshot", bound=_Named)
_Keyed = TypeVar("_Keyed", DocumentRef, Manifest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retained:
    """What must not go: `snapshots` that an unfinished run needs, by name, and `objects` of the latest snapshot, by
    identity, whose removal is held. `pinned` is the snapshot, loaded, whose content takes the place of the
    selection."""

    snapshots: Collection[str] = ()
    objects: Collection[Identity] = ()
    pinned: ResourceSnapshot | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotResult:
    """All snapshots that are kept, oldest first. With a `user_error` they are the ones that were there before.

    `retained` are the objects that the latest one has only because their removal is held. `waiting` is what the
    placement selects in place of the pinned content, as the beginning of a sentence; "" where that is the same.
    """

    resource_snapshots: tuple[ResourceSnapshot, ...]
    policy_snapshots: tuple[PolicySnapshot, ...]
    user_error: UserError | None = None
    retained: frozenset[Identity] = frozenset()
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
    waiting, late = "", frozenset[Identity]()
    if keep.pinned is not None:
        waiting = _waiting(selection, keep.pinned, resources)
        _, late = _with_retained(selection.manifests if selection else None, keep.objects, record, index)
        selection = Selection(manifests=keep.pinned.manifests or ())
        index = replace(index, objects={})  # what is held of pinned content stays as it was, and not as it is written
    selection = _allowed(placement, selection, index, record)
    if selection is not None and selection.error is not None:
        return SnapshotResult(
            resource_snapshots=resources,
            policy_snapshots=policies,
            user_error=selection.error,
            retained=frozenset(keep.objects),
            waiting=waiting,
        )
    selected, retained = _with_retained(selection.manifests if selection else None, keep.objects, record, index)
    fresh = _resource_snapshot(placement, selected, resources, commit, now) if selected is not None else None
    used = {*keep.snapshots, *_used(record)}
    if fresh is not None:
        fresh = replace(fresh, index=max(fresh.index, _first_free_index(placement.key, used)))
    limit = placement.revision_history_limit
    return SnapshotResult(
        resource_snapshots=_trim((*resources, fresh) if fresh else resources, limit, used),
        policy_snapshots=_trim(_policy_snapshots(placement, policies), limit, used),
        retained=retained | late,
        waiting=waiting,
    )


def _waiting(selection: Selection | None, pinned: ResourceSnapshot, known: Sequence[ResourceSnapshot]) -> str:
    """What a placement selects in place of its pinned content, as the beginning of a sentence; "" where it is the same
    or not known."""
    if selection is None:
        return ""
    if selection.error is not None:
        return SnapshotsText.SELECTS_NOW_CANNOT_USED()
    documents = _references(selection.manifests)
    same = _is_unedited(documents, pinned)
    content = pinned.hash if same else _content_hash(map(strip, selection.manifests))
    if content == pinned.hash:
        return ""
    newest = next((snapshot for snapshot in reversed(known) if snapshot.hash == content), None)
    return "newer content" if newest is None else f"snapshot {newest.index}"


def _with_retained(
    selected: Sequence[Manifest] | None,
    wanted: Collection[Identity],
    record: PlacementRecord | None,
    index: PayloadIndex,
) -> tuple[Sequence[Manifest] | None, frozenset[Identity]]:
    """The selection with the objects of the latest snapshot whose removal is held, and which these are: as they are
    written now, and where nobody writes them any more as they were. None for a selection: the latest snapshot must stay
    as it is, because its objects cannot be carried over."""
    latest = _with_given_up(record, wanted) if record and wanted else None
    if latest is None:
        return selected, frozenset()
    chosen = {m.key.identity for m in selected or ()}.union(*carried_identities(selected or ()).values())
    carrying = carried_identities(latest.manifests or ())
    there = {document.key.identity for document in latest.documents}.union(*carrying.values())
    # What a snapshot's envelopes carry is not known while it is not loaded: then whatever is held is in one.
    missing = frozenset(wanted if latest.manifests is None else there.intersection(wanted)) - chosen
    if selected is None or not missing:
        return selected, missing
    # An envelope that has lost such an object stays as it was, and what it carries is not placed beside it.
    envelopes = {envelope for envelope, inner in carrying.items() if inner & missing}
    stay = missing | envelopes
    # By the whole key: an object that is written under another version now may be one that no cluster knows.
    keys = [d.key for d in latest.documents if d.key.identity in stay]
    before = {m.key: m for m in latest.manifests or ()}
    now = {key: index.objects.get(key.identity) for key in keys if key.identity not in envelopes}
    found = [m if (m := now.get(key)) is not None and m.key == key else before.get(key) for key in keys]
    kept = [m for m in found if m is not None]
    if len(kept) < len(keys) or (latest.manifests is None and missing - {key.identity for key in keys}):
        return None, missing
    beside = envelopes.union(*(carrying[envelope] for envelope in envelopes))
    return sorted([*(m for m in selected if m.key.identity not in beside), *kept], key=order_of), missing


def _with_given_up(record: PlacementRecord, wanted: Collection[Identity]) -> ResourceSnapshot | None:
    """The latest snapshot, and beside its objects those that it has no more, that are wanted back, and that clusters
    have by older snapshots; an envelope that carries one as it was there."""
    latest = record.latest_resources
    if latest is None or latest.manifests is None:
        return latest
    there = {document.key.identity for document in latest.documents}.union(
        *carried_identities(latest.manifests).values()
    )
    lacking = set(wanted) - there
    named = {binding.resource_snapshot for binding in record.bindings} if lacking else set()
    for older in (one for one in reversed(record.resource_snapshots) if one.name in named and one.manifests):
        carrying = carried_identities(older.manifests or ())
        holding = {one.key.identity: {one.key.identity, *carrying.get(one.key.identity, ())} for one in older.documents}
        back = {identity for identity, inside in holding.items() if inside & lacking}
        lacking -= set[Identity]().union(*(holding[one] for one in back))
        latest = replace(
            latest,
            documents=tuple(_with_those_of(older.documents, latest.documents, back)),
            manifests=tuple(_with_those_of(older.manifests or (), latest.manifests or (), back)),
        )
    return latest


def _with_those_of(others: Iterable[_Keyed], mine: Iterable[_Keyed], back: Collection[Identity]) -> Iterator[_Keyed]:
    """What is mine, but for what comes back of the others."""
    yield from (one for one in mine if one.key.identity not in back)
    yield from (one for one in others if one.key.identity in back)


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
        manifests.append(strip(manifest))
    return replace(snapshot, manifests=tuple(manifests))


def _content_hash(manifests: Iterable[Manifest]) -> str:
    return sha256("\n".join([m.digest for m in manifests]).encode()).hexdigest()


def split_by_size(sizes: Sequence[int], limit: int) -> Iterator[list[int]]:
    """Group objects of these sizes (bytes), in order, as KubeFleet splits a snapshot: a group takes objects while their
    sum stays within the limit, and an object beyond the limit stands alone."""
    return in_batches(sizes, int, limit)


def _select(placement: Placement, index: PayloadIndex, record: PlacementRecord | None) -> Selection | None:
    """The selection; None when removals are held and the latest snapshot cannot be carried over, so that it must stay.

    While removals are held (all, or those of objects that cannot be read), what the latest snapshot has and the payload
    lacks takes part in the selection as if it were still there: a file that could not be read takes nothing away, a
    changed selector still does.
    """
    latest = record.latest_resources if record and index.holds_some else None
    if latest is None:
        return select(placement, index)
    missing = {d.key for d in latest.documents if index.holds(d.key)}
    if not missing:
        return select(placement, index)
    if latest.manifests is None:
        return None
    held = index_payload([m for m in latest.manifests if m.key in missing], index.namespaced)
    return None if held.failed else select(placement, index, held)


def _allowed(
    placement: Placement, selection: Selection | None, index: PayloadIndex, record: PlacementRecord | None
) -> Selection | None:
    """The selection, or a user error where the fleet's policy denies some of it to this placement."""
    if selection is None or selection.error is not None:
        return selection
    latest = record.latest_resources if record else None
    denial = denial_of(placement, selection.manifests, index.policy, latest)
    return Selection(error=unusable(placement, denial)) if denial else selection


def _resource_snapshot(
    placement: Placement,
    selected: Sequence[Manifest],
    existing: Sequence[ResourceSnapshot],
    commit: str,
    now: datetime,
) -> ResourceSnapshot | None:
    """A new snapshot, or None when the latest has the same content. Going back to old content is a change (D16)."""
    latest = existing[-1] if existing else None
    documents = _references(selected)
    if latest is not None and _is_unedited(documents, latest):
        return None
    manifests = tuple(strip(m) for m in selected)
    content = _content_hash(manifests)
    # A later version may reckon the hash in another way: that alone is no change.
    if latest is not None and content in (latest.hash, _content_hash(latest.manifests or ())):
        return None
    return ResourceSnapshot(
        placement=placement.key,
        index=latest.index + 1 if latest else 0,
        hash=content,
        commit=commit,
        created=now,
        documents=documents,
        manifests=manifests,
    )


def _is_unedited(documents: tuple[DocumentRef, ...], snapshot: ResourceSnapshot) -> bool:
    """Whether these are the snapshot's documents of the same blobs: then nothing needs to be hashed."""
    return documents == snapshot.documents and all(document.blob for document in documents)


def _references(selected: Iterable[Manifest]) -> tuple[DocumentRef, ...]:
    return tuple(DocumentRef(m.origin.path, m.origin.blob, m.origin.document, m.key) for m in selected)


def _first_free_index(key: PlacementKey, used: Iterable[str]) -> int:
    """An index that no binding means anything else by: where snapshots were lost, bindings may name later ones than
    those that are left."""
    names = (name.removeprefix(f"{key.name}-").removesuffix("-snapshot") for name in used if name.endswith("-snapshot"))
    return max((int(index) + 1 for index in names if index.isascii() and index.isdigit()), default=0)


def lost_name(record: PlacementRecord) -> str:
    """A name for a resource snapshot of which nothing is left: later than any that is known of."""
    known = (*_used(record), *(snapshot.name for snapshot in record.resource_snapshots))
    return snapshot_name(record.placement.key.name, _first_free_index(record.placement.key, known))


def restored_policy(placement: Placement, index: int) -> PolicySnapshot:
    """The policy snapshot of a placement as it was accepted last, under the index that it had."""
    (snapshot,) = _policy_snapshots(placement, ())
    return replace(snapshot, index=index)


def _policy_snapshots(placement: Placement, existing: tuple[PolicySnapshot, ...]) -> tuple[PolicySnapshot, ...]:
    """The policy snapshots with the present policy as the latest; scaling and a new generation edit it in place."""
    policy, content = placement.effective_policy, _policy_hash(placement.effective_policy)
    latest = existing[-1] if existing else None
    same = latest is not None and content in (latest.hash, _policy_hash(latest.policy))
    present = PolicySnapshot(
        placement=placement.key,
        index=latest.index + (0 if same else 1) if latest else 0,
        hash=content,
        policy=policy,
        number_of_clusters=policy.number_of_clusters,
        placement_generation=placement.generation,
    )
    if latest is not None and same:
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
