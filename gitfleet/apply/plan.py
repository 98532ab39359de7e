"""The whole plan for one cluster."""

from __future__ import annotations

from gitfleet.api.objects import Identity, Manifest
from gitfleet.api.placements import PlacementKey
from gitfleet.apply.claims import ApplyRequest, Claims, index_claims, titled
from gitfleet.apply.comparisons import WorkInPlace
from gitfleet.apply.manifests import left_alone, operation_for
from gitfleet.apply.ordering import in_order, missing_of
from gitfleet.apply.pruning import Contents, prune
from gitfleet.apply.steps import WorkSteps
from gitfleet.apply.texts import ApplyText
from gitfleet.formats.kinds import wave_of
from gitfleet.model.failures import Failure, Failures, Subject, attempt
from gitfleet.model.operations import Delete, Keep, KeepCode, Operation, RefuseCode, Release
from gitfleet.model.rollout_fields import RolloutFields
from gitfleet.model.works import Work


def plan_apply(request: ApplyRequest, failures: Failures | None = None) -> tuple[Operation, ...]:
    """One operation for every manifest and for every inventory entry that is in no work.

    First what is to be there, by ascending wave; then deletions by descending wave; then releases. Nothing is deleted
    that the inventory does not name, none without the uid it was seen with and a permit of the removal gate, and
    nothing of a placement whose work has an error. Performing the plan and planning again gives only Keep and Refuse.
    A manifest that cannot be judged is refused (InternalError) and noted in `failures`; the others are planned.
    """
    contained = failures or Failures()
    claims = index_claims(request)
    operations: list[Operation] = []
    previous, in_place = request.compared.in_place, dict[PlacementKey, WorkInPlace]()
    for placement, work in claims.works.items():
        before = previous.get(placement)
        if before is None or not _unchanged(before, work, claims):
            planned = _planned(work, claims, contained)
            operations += planned
            before = _in_place(work, planned, claims)
        else:
            operations += before.operations
        if before is not None:
            in_place[placement] = before
    previous.clear()
    previous.update(in_place)
    # Of the others the work has an operation for the object itself.
    unmatched = [e for e in request.inventory.values() if e.key.identity not in claims.rendered.get(e.placement, ())]
    contents = Contents.of(claims) if unmatched else Contents()
    for entry in unmatched:
        operation = prune(entry, claims, contents)
        if operation is not None:
            operations.append(operation)
    return tuple(sorted(operations, key=_order))


def _unchanged(before: WorkInPlace, work: Work, claims: Claims) -> bool:
    """Whether planning the work again would give the same operations: everything that made `operation_for` find each
    object in place is what it was."""
    live, entries, holders = claims.request.live, claims.entries, claims.holders
    return (
        before.work is work
        and before.by_rollouts == _by_rollouts(work, claims)
        and not claims.request.unreadable
        and all(
            live.get(operation.key) is operation.live
            and entries.get(operation.key.identity) is entry
            and holders[operation.key.identity] == work.placement
            for operation, entry in zip(before.operations, before.entries, strict=True)
        )
    )


def _in_place(work: Work, planned: list[Operation], claims: Claims) -> WorkInPlace | None:
    """What to remember of a work; None when not every object of it is in place, as far as the server was asked."""
    in_place = tuple(o for o in planned if isinstance(o, Keep) and o.code is KeepCode.IN_PLACE)
    questions = claims.request.compared.questions
    is_asked = any(o.live and o.manifest and (o.live.uid, o.manifest.digest) in questions for o in in_place)
    if len(in_place) < len(planned) or is_asked:
        return None
    entries = tuple(claims.entries.get(operation.key.identity) for operation in in_place)
    return WorkInPlace(work, in_place, entries, _by_rollouts(work, claims))


def _by_rollouts(work: Work, claims: Claims) -> dict[Identity, RolloutFields]:
    """What rollouts set in the objects of a work."""
    identities, by_rollouts = claims.rendered[work.placement], claims.request.compared.ignored.by_rollouts
    if not by_rollouts:
        return {}
    return {identity: fields for identity, fields in by_rollouts.items() if identity in identities}


def _planned(work: Work, claims: Claims, failures: Failures) -> list[Operation]:
    """One operation for each manifest of a work that could be rendered."""
    operations: list[Operation] = []
    seen: set[Identity] = set()
    steps = WorkSteps.of(work, claims)
    missing = missing_of(work, claims, steps)
    if (first := steps.first_open) is not None:
        claims.steps[work.placement] = first
    for manifest in work.manifests if work.error is None else ():
        identity = manifest.key.identity
        if identity in seen:
            why = ApplyText.STANDS_MORE_ONCE(placement=titled(work.placement))
            operations.append(left_alone(manifest, work, None, RefuseCode.DUPLICATED, why))
            continue
        seen.add(identity)
        operation = steps.in_turn(_contained(manifest, work, claims, failures), manifest)
        operations.append(in_order(operation, manifest, work, claims, missing))
    return operations


def _contained(manifest: Manifest, work: Work, claims: Claims, failures: Failures) -> Operation:
    """The operation of one manifest; refused when it cannot be judged."""
    result = attempt(lambda: Subject.of_object(manifest.key, work.cluster), operation_for, manifest, work, claims)
    if not isinstance(result, Failure):
        return result
    failures.note(result)
    return left_alone(manifest, work, None, RefuseCode.INTERNAL_ERROR, result.sentence)


def _order(operation: Operation) -> tuple[int, int, tuple[str, ...], tuple[str, str]]:
    """Deletions last but for releases; within a wave as keys and placements are ordered, which is slower to ask."""
    key, placement = operation.key, (operation.placement.namespace, operation.placement.name)
    wave = wave_of(key.group, key.kind)
    if isinstance(operation, Delete):
        return (1, -wave, key.order, placement)
    if isinstance(operation, Release):
        return (2, 0, key.order, placement)
    return (0, wave, key.order, placement)
