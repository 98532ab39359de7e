"""What to do about one object that a work wants (kubefleet.md §6, "Per manifest")."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from gitfleet.api.folders import is_made
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import Manifest
from gitfleet.api.placements import PlacementKey
from gitfleet.api.strategies import WhenToTakeOver
from gitfleet.apply.claims import Claims, is_terminating, needs_of, stuck_namespace, titled
from gitfleet.apply.differences import names_of, writers_of
from gitfleet.apply.ledgers import BEFORE_FIRST_APPLY, is_named, other_owner
from gitfleet.apply.removed_fields import edited_ports, removed_fields
from gitfleet.apply.rollout_fields import reclaimed_fields, without_rollouts
from gitfleet.apply.texts import ApplyText
from gitfleet.formats.field_trees import FieldTree, union
from gitfleet.formats.kinds import wave_of
from gitfleet.formats.managed_fields import FIELD_MANAGER, ROLLOUT_MANAGER, managed_entries
from gitfleet.formats.sentences import more_than_first
from gitfleet.model.observations import LiveObject
from gitfleet.model.operations import Create, DifferenceDetails, Keep, KeepCode, Operation, Refuse, RefuseCode, Update
from gitfleet.model.works import Work

_OURS: Final = frozenset({FIELD_MANAGER, ROLLOUT_MANAGER, BEFORE_FIRST_APPLY})


def operation_for(manifest: Manifest, work: Work, claims: Claims) -> Operation:
    """One operation for one manifest. A refusal says in `code` and `reason` who refused and why."""
    key = manifest.key
    identity, request = key.identity, claims.request
    if (unknown := claims.unknown(key)) is not None:
        return left_alone(manifest, work, None, *unknown)
    live = claims.live(key)
    if work.apply_strategy.type.only_reports:
        return _report(manifest, work, live, claims)
    if waits := request.compared.ignored.untouched(key):
        is_applied = live is not None and _is_as_applied(manifest, work, live, claims)
        code, why = (KeepCode.IN_PLACE, ApplyText.AS_APPLIED()) if is_applied else (KeepCode.ROLLOUT, waits)
        return left_alone(manifest, work, live, code, why)
    holder = claims.holders[identity]
    if holder != work.placement:
        return _of_another(holder, manifest, work, live, claims)
    entry = claims.entries.get(identity)
    if live is None:
        return _make(manifest, work, entry, claims)
    if is_terminating(live):
        why = "; ".join(filter(None, (ApplyText.BEING_DELETED_MADE_AGAIN_ONCE(), stuck_namespace(live))))
        return left_alone(manifest, work, live, KeepCode.TERMINATING, why)
    if entry is None or not is_named(entry, live):
        return _take_over(manifest, work, live, entry, claims)
    return _reapply(manifest, work, live, entry, claims)


def _make(manifest: Manifest, work: Work, entry: InventoryEntry | None, claims: Claims) -> Operation:
    """The object is not there: make it, unless it is a Job that is finished."""
    if entry is not None and entry.finished and claims.was_applied(manifest):
        return left_alone(manifest, work, None, KeepCode.FINISHED, ApplyText.FINISHED_REMOVED_TTL())
    reason = ApplyText.REMOVED_FROM_CLUSTER() if _named_one(entry) else ApplyText.NOT_CLUSTER_YET()
    return create(manifest, work, claims, reason)


def _named_one(entry: InventoryEntry | None) -> bool:
    """Whether an object was there as gitfleet's."""
    return entry is not None and entry.uid is not None


def create(manifest: Manifest, work: Work, claims: Claims, reason: str) -> Create:
    """Apply an object that is not there."""
    key, made = manifest.key, claims.request.compared.ignored.made(manifest)
    return Create(
        cluster=work.cluster,
        placement=work.placement,
        manifest=made,
        rendered=None if made is manifest else manifest,
        reason=reason,
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
    if is_made(manifest):
        return left_alone(manifest, work, live, KeepCode.IN_PLACE, ApplyText.MADE_FOR_SEVERAL(holder=titled(holder)))
    if not claims.wants(work.placement, manifest.key.identity):
        why = ApplyText.HANDED_OVER(holder=titled(holder))
        return left_alone(manifest, work, live, KeepCode.HANDED_OVER, why)
    why = ApplyText.BELONGS_CLUSTER(holder=titled(holder)) + ApplyText.SELECT_ONE_TWO_ALONE()
    return left_alone(manifest, work, live, RefuseCode.FAILED_TO_TAKE_OVER, why)


def _reapply(manifest: Manifest, work: Work, live: LiveObject, entry: InventoryEntry, claims: Claims) -> Operation:
    """The object is ours: apply what changed here, or what somebody changed there."""
    strategy = work.apply_strategy
    if entry.placement != work.placement:
        why = ApplyText.HANDED_OVER_2(placement=titled(entry.placement))
        return update(manifest, work, live, claims, why, entry)
    if None in (entry.uid, entry.applied_digest, entry.shape_digest):
        return update(manifest, work, live, claims, ApplyText.LAST_APPLY_NOT_CONFIRMED())
    if entry.applied_digest != manifest.digest:
        return update(manifest, work, live, claims, ApplyText.MANIFEST_CHANGED(), entry)
    is_unchanged = entry.shape_digest == claims.request.compared.shape(manifest, live)
    if is_unchanged and not strategy.comparison_option.counts_every_field:
        return left_alone(manifest, work, live, KeepCode.IN_PLACE, ApplyText.AS_APPLIED())
    details, doubt = _differences(manifest, work, live, claims, applied=True)
    drift = without_rollouts(details, manifest.body, live.body)
    if strategy.when_to_apply.stops_at_drift and drift:
        why = ApplyText.DRIFTED(first=_first(drift, manifest, live), doubt=doubt)
        return left_alone(manifest, work, live, RefuseCode.FOUND_DRIFTS, why, drift)
    if is_unchanged:
        return left_alone(manifest, work, live, KeepCode.IN_PLACE, ApplyText.AS_APPLIED(), details)
    if details and not drift:
        why = ApplyText.ROLLOUT_LEFT(first=_first(details, manifest, live))
        return update(manifest, work, live, claims, why, entry)
    why = ApplyText.DRIFTED(first=_first(details, manifest, live), doubt="")
    correction = update(manifest, work, live, claims, why, entry)
    return replace(correction, writers=writers_of(manifest.body, live.body, details))


def _take_over(
    manifest: Manifest, work: Work, live: LiveObject, entry: InventoryEntry | None, claims: Claims
) -> Operation:
    """The object was there before us, or somebody created it again: whenToTakeOver decides."""
    strategy = work.apply_strategy
    origin = ApplyText.REPLACED_SOMEBODY_ELSE() if _named_one(entry) else ApplyText.WAS_THERE_BEFORE()
    if strategy.when_to_take_over is WhenToTakeOver.NEVER:
        why = ApplyText.WHENTOTAKEOVER_NEVER(found=origin)
        return left_alone(manifest, work, live, RefuseCode.NOT_TAKEN_OVER, why)
    owner = other_owner(live)
    if owner is not None and not strategy.allow_co_ownership:
        why = ApplyText.OWNED_ALLOWCOOWNERSHIP_NOT_SET(found=origin, owner=owner)
        return left_alone(manifest, work, live, RefuseCode.FAILED_TO_TAKE_OVER, why)
    if strategy.when_to_take_over is WhenToTakeOver.IF_NO_DIFF:
        details, doubt = _differences(manifest, work, live, claims)
        if details:
            first = _first(details, manifest, live)
            why = ApplyText.DIFFERS_FROM_MANIFEST(found=origin, first=first, doubt=doubt)
            return left_alone(manifest, work, live, RefuseCode.FAILED_TO_TAKE_OVER, why, details)
    return update(manifest, work, live, claims, ApplyText.TAKEN_OVER(found=origin))


def _report(manifest: Manifest, work: Work, live: LiveObject | None, claims: Claims) -> Operation:
    """ReportDiff: compare and never write."""
    if live is None:
        why = ApplyText.NOT_CLUSTER()
        return left_alone(manifest, work, None, KeepCode.FOUND_DIFF, why, (("/", None, ApplyText.WHOLE_OBJECT()),))
    details, doubt = _differences(manifest, work, live, claims)
    if not details:
        return left_alone(manifest, work, live, KeepCode.NO_DIFF_FOUND, ApplyText.NO_DIFFERENCE_FOUND())
    why = ApplyText.DIFFERS(first=_first(details, manifest, live), doubt=doubt)
    return left_alone(manifest, work, live, KeepCode.FOUND_DIFF, why, details)


def _differences(
    manifest: Manifest, work: Work, live: LiveObject, claims: Claims, *, applied: bool = False
) -> tuple[DifferenceDetails, str]:
    """How the object differs from its manifest, and the end of a sentence about it."""
    full, compared = work.apply_strategy.comparison_option.counts_every_field, claims.request.compared
    details = compared.differences(manifest, live, full=full, applied=applied)
    doubt = compared.doubt(manifest, live) if full else ""
    return details, f"; {doubt}" if doubt else ""


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
    path, actual, expected = details[0]
    if actual is None:
        return ApplyText.IS_MISSING(path=path)
    names = names_of(writers_of(manifest.body, live.body, details[:1]))
    writers = f", written by {names}" if names else ""
    if expected is None:
        return ApplyText.SHOULD_NOT(path=path, by=writers)
    more = more_than_first(details)
    return ApplyText.IS_AND_SHOULD_BE(path=path, there=actual, wanted=expected, by=writers, more_than_first=more)


def update(
    manifest: Manifest, work: Work, live: LiveObject, claims: Claims, reason: str, entry: InventoryEntry | None = None
) -> Update:
    """Apply over a live object: `entry` is what the inventory says of one that is gitfleet's, None of one that is taken
    over."""
    strategy = work.apply_strategy
    key, ignored, forces = manifest.key, claims.request.compared.ignored, _forces(work, live)
    before = claims.request.applied(entry) if entry is not None else None
    body, observed = ignored.compared(key, manifest.body, live.body)
    removes: FieldTree = {}
    if not strategy.type.minds_conflicts:
        # What is taken over by IfNoDiff is as it should be: nothing of it goes.
        is_taken_over = entry is None and strategy.when_to_take_over is WhenToTakeOver.ALWAYS
        applied = before.body if before is not None else None
        removes = removed_fields(manifest.body, observed, applied, is_taken_over=is_taken_over)
    if entry is not None and forces:
        removes = union(removes, edited_ports(body, observed))
    # Of a field that the apply does not write, nobody would be left who says what it is.
    bodies = [body] if before is None else [body, ignored.compared(key, before.body, live.body)[0]]
    removes = union(removes, reclaimed_fields(live.body, *bodies))
    return Update(
        cluster=work.cluster,
        placement=work.placement,
        manifest=ignored.written(manifest, live.body),
        rendered=manifest if ignored.rollout_values(key) else None,
        reason=reason,
        wave=wave_of(key.group, key.kind),
        needs=needs_of(manifest, claims),
        force=forces,
        live=live,
        resource_version=live.resource_version or None if strategy.when_to_apply.stops_at_drift else None,
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
    writers = writers_of(manifest.body, live.body, details) if live is not None else ()
    made: Callable[..., Keep | Refuse] = Refuse if isinstance(code, RefuseCode) else Keep
    return made(
        cluster=work.cluster, placement=work.placement, key=manifest.key, reason=reason,
        manifest=manifest, live=live, details=details, writers=writers, code=code,
    )  # fmt: skip
