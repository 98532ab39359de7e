"""What to do about one object that a work wants (kubefleet.md §6, "Per manifest")."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import assert_never

from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import Manifest
from gitfleet.api.placements import PlacementKey
from gitfleet.api.strategies import WhenToTakeOver
from gitfleet.apply.claims import Claims, is_terminating, needs_of, stuck_namespace
from gitfleet.apply.held import of_others, taken_back
from gitfleet.apply.ledgers import is_unreported, other_owner
from gitfleet.apply.removed_fields import edited_ports, removed_fields
from gitfleet.apply.texts import ApplyText
from gitfleet.apply.writers import names_of, writers_of
from gitfleet.formats.field_trees import FieldTree, union
from gitfleet.formats.kinds import wave_of
from gitfleet.formats.managed_fields import FIELD_MANAGER, ROLLOUT_MANAGER, managed_entries
from gitfleet.formats.sentences import more_than_first
from gitfleet.model.observations import LiveObject
from gitfleet.model.operations import Create, DifferenceDetails, Keep, KeepCode, Operation, Refuse, RefuseCode, Update
from gitfleet.model.works import Work

_BEFORE_FIRST_APPLY = "before-first-apply"
"""The manager that Kubernetes makes up for fields that were there before the first server-side apply."""
_OURS = frozenset({FIELD_MANAGER, ROLLOUT_MANAGER, _BEFORE_FIRST_APPLY})


def operation_for(manifest: Manifest, work: Work, claims: Claims) -> Operation:
    """One operation for one manifest. A refusal says in `code` and `reason` who refused and why."""
    key = manifest.key
    identity, request = key.identity, claims.request
    unreadable = request.unreadable.get(key) if request.unreadable else None
    if unreadable is not None:
        return left_alone(
            manifest, work, None, KeepCode.UNREADABLE, ApplyText.COULD_NOT_READ(key=key, unreadable=unreadable)
        )
    if identity not in claims.live_by_identity:
        return left_alone(manifest, work, None, KeepCode.NOT_OBSERVED, ApplyText.NOT_OBSERVED(key=key))
    live = claims.live(key)
    if work.apply_strategy.type.only_reports:
        return _report(manifest, work, live, claims)
    if waits := request.compared.ignored.untouched(key):
        is_applied = live is not None and _is_as_applied(manifest, work, live, claims)
        code, why = (KeepCode.IN_PLACE, "as applied") if is_applied else (KeepCode.ROLLOUT, waits)
        return left_alone(manifest, work, live, code, why)
    holder = claims.holders[identity]
    if holder is not work.placement and holder != work.placement:
        return _of_another(holder, manifest, work, live, claims)
    entry = claims.entries.get(identity)
    if live is None:
        return _make(manifest, work, entry, claims)
    if is_terminating(live):
        why = "; ".join(filter(None, (ApplyText.BEING_DELETED_MADE_AGAIN_ONCE(key=key), stuck_namespace(live))))
        return left_alone(manifest, work, live, KeepCode.TERMINATING, why)
    if entry is None or (entry.uid is None and not is_unreported(entry, live)) or entry.uid not in (None, live.uid):
        return _take_over(manifest, work, live, entry, claims)
    return _reapply(manifest, work, live, entry, claims)


def _make(manifest: Manifest, work: Work, entry: InventoryEntry | None, claims: Claims) -> Operation:
    """The object is not there: make it, unless it is a Job that is finished."""
    key = manifest.key
    if entry is not None and entry.finished and entry.applied_digest == manifest.digest:
        return left_alone(manifest, work, None, KeepCode.FINISHED, ApplyText.FINISHED_REMOVED_TTL(key=key))
    known = entry is not None and entry.uid is not None
    made = claims.request.compared.ignored.made(manifest)
    return Create(
        cluster=work.cluster,
        placement=work.placement,
        manifest=made,
        rendered=None if made is manifest else manifest,
        reason=ApplyText.REMOVED_FROM_CLUSTER(key=key) if known else ApplyText.NOT_CLUSTER_YET(key=key),
        wave=wave_of(key.group, key.kind),
        needs=needs_of(manifest, claims),
        force=_forces(work, None),
    )


def _is_as_applied(manifest: Manifest, work: Work, live: LiveObject, claims: Claims) -> bool:
    """Whether nothing would be written to an object, whoever lets it be written to."""
    entry = claims.entries.get(manifest.key.identity)
    return (
        entry is not None
        and (entry.placement, entry.uid, entry.applied_digest) == (work.placement, live.uid, manifest.digest)
        and entry.shape_digest == claims.request.compared.shape(manifest, live)
    )


def _of_another(
    holder: PlacementKey, manifest: Manifest, work: Work, live: LiveObject | None, claims: Claims
) -> Operation:
    """Another placement has the object here."""
    key = manifest.key
    if claims.gives_up(work.placement, key.identity):
        why = ApplyText.HANDED_OVER(key=key, holder=holder.kind, holder_2=holder)
        return left_alone(manifest, work, live, KeepCode.HANDED_OVER, why)
    why = ApplyText.BELONGS_CLUSTER(key=key, holder=holder.kind, holder_2=holder)
    if holder in claims.request.going:
        why += ApplyText.BEING_REMOVED_HANDED_OVER_LEAVES()
        return left_alone(manifest, work, live, KeepCode.HANDED_OVER_LATER, why)
    keeps = claims.request.keepers.get(holder)
    why += f", {keeps.format(taker=work.placement)}" if keeps else ApplyText.SELECT_ONE_TWO_ALONE()
    return left_alone(manifest, work, live, RefuseCode.FAILED_TO_TAKE_OVER, why)


def _reapply(manifest: Manifest, work: Work, live: LiveObject, entry: InventoryEntry, claims: Claims) -> Operation:
    """The object is ours: apply what changed here, or what somebody changed there."""
    key, strategy = manifest.key, work.apply_strategy
    if entry.placement != work.placement:
        if claims.would_change_back(work.placement, entry):
            why = ApplyText.STAYS_LEFT_UNTIL_NEWEST_SNAPSHOT(
                key=key, placement=entry.placement.kind, placement_2=entry.placement
            )
            return left_alone(manifest, work, live, KeepCode.HANDED_OVER, why)
        why = ApplyText.HANDED_OVER_2(key=key, placement=entry.placement.kind, placement_2=entry.placement)
        return _update(manifest, work, live, claims, why, entry)
    if entry.uid is None or entry.applied_digest is None or entry.shape_digest is None:
        return _update(manifest, work, live, claims, ApplyText.LAST_APPLY_NOT_CONFIRMED(key=key))
    if entry.applied_digest != manifest.digest:
        return _update(manifest, work, live, claims, ApplyText.MANIFEST_CHANGED(key=key), entry)
    same = entry.shape_digest == claims.request.compared.shape(manifest, live)
    full = strategy.comparison_option.counts_every_field
    if same and not full:
        return left_alone(manifest, work, live, KeepCode.IN_PLACE, "as applied")
    details = claims.request.compared.differences(manifest, live, full=full, applied=True)
    drift = of_others(details, manifest.body, live.body) if details else details
    if strategy.when_to_apply.stops_at_drift and drift:
        doubt = claims.request.compared.doubt(manifest, live) if full else ""
        why = f"{key} drifted: {_first(drift, manifest, live)}{doubt}"
        return left_alone(manifest, work, live, RefuseCode.FOUND_DRIFTS, why, drift)
    if same:
        return left_alone(manifest, work, live, KeepCode.IN_PLACE, "as applied", details)
    if details and not drift:
        why = ApplyText.ROLLOUT_LEFT(key=key, first=_first(details, manifest, live))
        return _update(manifest, work, live, claims, why, entry)
    update = _update(manifest, work, live, claims, f"{key} drifted: {_first(details, manifest, live)}", entry)
    return replace(update, writers=writers_of(manifest.body, live.body, details))


def _take_over(
    manifest: Manifest, work: Work, live: LiveObject, entry: InventoryEntry | None, claims: Claims
) -> Operation:
    """The object was there before us, or somebody created it again: whenToTakeOver decides."""
    key, strategy = manifest.key, work.apply_strategy
    found = (
        ApplyText.REPLACED_SOMEBODY_ELSE()
        if entry is not None and entry.uid is not None
        else ApplyText.WAS_THERE_BEFORE()
    )
    if strategy.when_to_take_over is WhenToTakeOver.NEVER:
        return left_alone(
            manifest, work, live, RefuseCode.NOT_TAKEN_OVER, ApplyText.WHENTOTAKEOVER_NEVER(key=key, found=found)
        )
    owner = other_owner(live)
    if owner is not None and not strategy.allow_co_ownership:
        why = ApplyText.OWNED_ALLOWCOOWNERSHIP_NOT_SET(key=key, found=found, owner=owner)
        return left_alone(manifest, work, live, RefuseCode.FAILED_TO_TAKE_OVER, why)
    match strategy.when_to_take_over:
        case WhenToTakeOver.ALWAYS:
            pass
        case WhenToTakeOver.IF_NO_DIFF:
            full = strategy.comparison_option.counts_every_field
            details = claims.request.compared.differences(manifest, live, full=full)
            if details:
                doubt = claims.request.compared.doubt(manifest, live) if full else ""
                why = ApplyText.DIFFERS_FROM_MANIFEST(
                    key=key, found=found, first=_first(details, manifest, live), doubt=doubt
                )
                return left_alone(manifest, work, live, RefuseCode.FAILED_TO_TAKE_OVER, why, details)
        case _:
            assert_never(strategy.when_to_take_over)
    return _update(manifest, work, live, claims, ApplyText.TAKEN_OVER(key=key, found=found))


def _report(manifest: Manifest, work: Work, live: LiveObject | None, claims: Claims) -> Operation:
    """ReportDiff: compare and never write."""
    if live is None:
        details: DifferenceDetails = (("/", None, ApplyText.WHOLE_OBJECT()),)
        return left_alone(
            manifest, work, None, KeepCode.FOUND_DIFF, ApplyText.NOT_CLUSTER(manifest=manifest.key), details
        )
    full = work.apply_strategy.comparison_option.counts_every_field
    details = claims.request.compared.differences(manifest, live, full=full)
    if not details:
        return left_alone(manifest, work, live, KeepCode.NO_DIFF_FOUND, ApplyText.NO_DIFFERENCE_FOUND())
    doubt = claims.request.compared.doubt(manifest, live) if full else ""
    why = f"{manifest.key} differs: {_first(details, manifest, live)}{doubt}"
    return left_alone(manifest, work, live, KeepCode.FOUND_DIFF, why, details)


def _forces(work: Work, live: LiveObject | None) -> bool:
    """Client-side apply never meets conflicts, so its server-side form is forced; KubeFleet's ServerSideApply forces
    only when it is forced, or while nobody but itself and the time before it own fields."""
    if not work.apply_strategy.type.minds_conflicts or work.apply_strategy.force_conflicts:
        return True
    if live is None:
        return False
    # What nobody manages, a server gives to the time before in the apply itself.
    return {str(entry.get("manager")) for entry in managed_entries(live.body)} <= _OURS


def _first(details: DifferenceDetails, manifest: Manifest, live: LiveObject) -> str:
    """One sentence on the first difference, and who wrote it. Times are left out: a sentence that is recorded changes
    with the object alone."""
    if not details:
        return ApplyText.LABELS_ANNOTATIONS_CHANGED()
    path, there, wanted = details[0]
    if there is None:
        return ApplyText.IS_MISSING(path=path)
    names = names_of(writers_of(manifest.body, live.body, details[:1]))
    by = f", written by {names}" if names else ""
    if wanted is None:
        return ApplyText.SHOULD_NOT(path=path, by=by)
    return ApplyText.IS_AND_SHOULD_BE(
        path=path, there=there, wanted=wanted, by=by, more_than_first=more_than_first(details)
    )


def _update(
    manifest: Manifest, work: Work, live: LiveObject, claims: Claims, reason: str, entry: InventoryEntry | None = None
) -> Update:
    """`entry` is what the inventory says of an object that is gitfleet's, None of one that is taken over."""
    strategy = work.apply_strategy
    locked = strategy.when_to_apply.stops_at_drift
    before = claims.request.applied(entry) if entry is not None else None
    removes: FieldTree = {}
    ignored, body = claims.request.compared.ignored, before.body if before is not None else None
    if not strategy.type.minds_conflicts:
        there = ignored.compared(manifest.key, manifest.body, live.body)[1]
        # What is taken over by IfNoDiff is as it should be: nothing of it goes.
        is_taken_over = entry is None and strategy.when_to_take_over is WhenToTakeOver.ALWAYS
        removes = removed_fields(manifest.body, there, body, is_taken_over=is_taken_over)
    if entry is not None and _forces(work, live):
        removes = union(removes, edited_ports(*ignored.compared(manifest.key, manifest.body, live.body)))
    written = ignored.written(manifest, live.body)
    # Of a field that the apply does not write, nobody would be left who says what it is.
    given = (ignored.compared(manifest.key, one, live.body)[0] for one in (manifest.body, body) if one is not None)
    removes = union(removes, taken_back(live.body, *given))
    return Update(
        cluster=work.cluster,
        placement=work.placement,
        manifest=written,
        rendered=manifest if ignored.held_of(manifest.key) else None,
        reason=reason,
        wave=wave_of(manifest.key.group, manifest.key.kind),
        needs=needs_of(manifest, claims),
        force=_forces(work, live),
        live=live,
        resource_version=live.resource_version or None if locked else None,
        removes=removes,
    )


def left_alone(
    manifest: Manifest,
    work: Work,
    live: LiveObject | None,
    code: KeepCode | RefuseCode,
    reason: str,
    details: DifferenceDetails = (),
) -> Keep | Refuse:
    """Nothing is written to the object: kept or refused, as the code says."""
    writers = writers_of(manifest.body, live.body, details) if details and live is not None else ()
    made: Callable[..., Keep | Refuse] = Refuse if isinstance(code, RefuseCode) else Keep
    return made(
        cluster=work.cluster, placement=work.placement, key=manifest.key, reason=reason,
        manifest=manifest, live=live, details=details, writers=writers, code=code,
    )  # fmt: skip
