"""What came of each object of a work in one reconcile: in place, refused, failed, or still to be done."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple, TypeAlias

from gitfleet.api.bindings import DELETED, Binding, FailedObject, FieldWriter
from gitfleet.api.objects import Identity, Manifest, ObjectKey
from gitfleet.model.observations import Availability, LiveObject, Verdict
from gitfleet.model.operations import (
    Create,
    Delete,
    DifferenceDetails,
    Keep,
    KeepCode,
    Operation,
    Outcome,
    OutcomeCode,
    Refuse,
    RefuseCode,
    Release,
    Update,
)
from gitfleet.model.works import Work
from gitfleet.observe.availability import (
    AVAILABLE,
    NO_CHECKS,
    Checks,
    availability_of,
    is_custom,
    not_yet,
    reports_generation,
)
from gitfleet.observe.texts import ObserveText

ResultCode: TypeAlias = KeepCode | RefuseCode | OutcomeCode


class ObjectState(Enum):
    """Ordered by weight: the worst of a work's objects decides what is said of the work."""

    IN_PLACE = 0
    PENDING = 1
    WAITING = 2
    RETRYING = 3
    FAILED = 4
    UNSEEN = 5


class ObjectResult(NamedTuple):
    """One object of a work. `code` is None while it is PENDING. `live` is what the server showed at or after its apply,
    None when it is not in place."""

    key: ObjectKey
    state: ObjectState
    code: ResultCode | None
    message: str
    live: LiveObject | None = None
    verdict: Verdict | None = None
    details: DifferenceDetails = ()
    reported: bool = False
    writers: tuple[FieldWriter, ...] = ()


def results_of(
    work: Work,
    operations: Iterable[Operation],
    outcomes: Iterable[Outcome],
    checks: Checks = NO_CHECKS,
) -> tuple[ObjectResult, ...]:
    """One result for each manifest, in the work's order. An outcome counts before the operation it came of."""
    placement = work.placement

    def is_of_work(operation: Operation) -> bool:
        return operation.placement is placement or operation.placement == placement

    planned: dict[Identity, list[Operation]] = {}
    for operation in filter(is_of_work, operations):
        planned.setdefault(operation.key.identity, []).append(operation)
    done: dict[Identity, Outcome] = {}
    for outcome in outcomes:
        if isinstance(outcome.operation, Create | Update) and is_of_work(outcome.operation):
            done[outcome.operation.key.identity] = outcome
    results: list[ObjectResult] = []
    for manifest in work.manifests:
        # An object that stands twice in a work has two operations: its own, and a refusal.
        identity = manifest.key.identity
        waiting = planned.get(identity)
        next_one = waiting.pop(0) if waiting else None
        came = done.get(identity)
        if came is not None and (next_one is None or isinstance(next_one, Create | Update)):
            results.append(_of_outcome(manifest, came, checks))
        else:
            results.append(_of_operation(manifest, next_one, checks))
    return tuple(results)


def _of_outcome(manifest: Manifest, outcome: Outcome, checks: Checks) -> ObjectResult:
    key = manifest.key
    if not outcome.ok:
        state = ObjectState.RETRYING if outcome.retry else ObjectState.FAILED
        return ObjectResult(key=key, state=state, code=outcome.code, message=outcome.message)
    live = outcome.live
    verdict = not_yet(ObserveText.NOT_READ_AFTER_APPLIED()) if live is None else _after_apply(live, checks)
    return ObjectResult(key=key, state=ObjectState.IN_PLACE, code=outcome.code, message="", live=live, verdict=verdict)


def _after_apply(live: LiveObject, checks: Checks) -> Verdict:
    """The response to an apply has the new spec with the old status. Generations distinguish them; where a custom kind,
    or one with a health check, keeps none, only the next observation can decide (decision D24)."""
    verdict = availability_of(live.body, checks)
    if verdict.availability is not Availability.AVAILABLE:
        return verdict
    by_status = is_custom(live.body) or (bool(checks) and live.key.group_kind in checks)
    return not_yet(ObserveText.ONLY_JUST_APPLIED()) if by_status and not reports_generation(live.body) else verdict


def _of_operation(manifest: Manifest, operation: Operation | None, checks: Checks) -> ObjectResult:
    key = manifest.key
    match operation:
        case Keep():
            return _of_kept(key, operation, checks)
        case Refuse():
            return _compared(key, operation, ObjectState.FAILED)
        case Update():
            # Not performed yet: the object as it was found, for whoever wants to know how it is now.
            verdict = availability_of(operation.live.body, checks)
            return ObjectResult(
                key, ObjectState.PENDING, None, ObserveText.BEING_APPLIED(), live=operation.live, verdict=verdict
            )
        case Delete(after_success=True):
            return ObjectResult(key, ObjectState.IN_PLACE, KeepCode.FINISHED, "", verdict=AVAILABLE)
        case Create() | Delete() | Release() | None:
            return ObjectResult(key, ObjectState.PENDING, None, ObserveText.BEING_APPLIED())


def _of_kept(key: ObjectKey, keep: Keep, checks: Checks) -> ObjectResult:
    match keep.code:
        case KeepCode.IN_PLACE:
            verdict = availability_of(keep.live.body, checks) if keep.live is not None else None
            result = _compared(key, keep, ObjectState.IN_PLACE)
            return result._replace(message="", live=keep.live, verdict=verdict or not_yet(ObserveText.NOT_READ()))
        case KeepCode.FINISHED | KeepCode.HANDED_OVER:
            return ObjectResult(key, ObjectState.IN_PLACE, keep.code, "", verdict=AVAILABLE)
        case KeepCode.FOUND_DIFF | KeepCode.NO_DIFF_FOUND:
            return _compared(key, keep, ObjectState.IN_PLACE)._replace(reported=True)
        case KeepCode.NOT_OBSERVED:
            return ObjectResult(key, ObjectState.UNSEEN, keep.code, keep.reason)
        case KeepCode.FOLDER | KeepCode.STEP | KeepCode.STEP_RUNS:
            return ObjectResult(key, ObjectState.WAITING, keep.code, keep.reason)
        case _:
            return ObjectResult(key, ObjectState.RETRYING, keep.code, keep.reason)


def _compared(key: ObjectKey, operation: Keep | Refuse, state: ObjectState) -> ObjectResult:
    return ObjectResult(
        key, state, operation.code, operation.reason, details=operation.details, writers=operation.writers
    )


def not_deleted(
    binding: Binding, operations: Iterable[Operation], outcomes: Iterable[Outcome]
) -> tuple[FailedObject, ...]:
    """The objects of a binding's cluster that are still there although they are to go, and why, by their keys.

    A deletion that is planned and not performed yet keeps what is known of the one before.
    """
    going = [operation for operation in operations if _is_going(operation)]
    if not going:
        return ()
    previous = {failed.key: failed for failed in binding.failed if failed.condition == DELETED}
    done = {o.operation.key: o for o in outcomes if isinstance(o.operation, Delete)}
    undeleted: dict[ObjectKey, FailedObject] = {}
    for operation in going:
        key = operation.key
        if isinstance(operation, Delete):
            outcome = done.get(key)
            if outcome is None and key in previous:
                undeleted[key] = previous[key]
            elif outcome is not None and not outcome.ok:
                undeleted[key] = _failed(key, outcome.code.value, outcome.message)
        elif isinstance(operation, Keep):
            undeleted[key] = _failed(key, operation.code.value, operation.reason)
    return tuple(undeleted[key] for key in sorted(undeleted, key=lambda key: key.order))


def _is_going(operation: Operation) -> bool:
    """Whether an object is to go, or would if it did not have to wait."""
    if isinstance(operation, Keep):
        return operation.manifest is None and operation.code not in (KeepCode.STAYS, KeepCode.NOT_OBSERVED)
    return isinstance(operation, Delete)


def _failed(key: ObjectKey, reason: str, message: str) -> FailedObject:
    return FailedObject(key=key, condition=DELETED, reason=reason, message=message)
