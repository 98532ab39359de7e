"""What came of each object of a work in one reconcile: in place, refused, failed, or still to be done."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple, TypeAlias

from gitfleet.api.bindings import FieldWriter
from gitfleet.api.objects import Identity, Manifest, ObjectKey
from gitfleet.model.failures import Failure, Failures, Subject, attempt
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
from gitfleet.observe.availability import availability_of, is_custom
from gitfleet.observe.checks import NO_CHECKS, Checks
from gitfleet.observe.customs import reports_generation
from gitfleet.observe.fields import AVAILABLE, not_yet
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
    failures: Failures,
    checks: Checks = NO_CHECKS,
) -> tuple[ObjectResult, ...]:
    """One result for each manifest, in the work's order. An outcome counts before the operation it came of."""
    judge, placement = _Judge(checks, failures), work.placement
    planned: dict[Identity, list[Operation]] = {}
    for operation in operations:
        if operation.placement is placement or operation.placement == placement:
            planned.setdefault(operation.key.identity, []).append(operation)
    done: dict[Identity, Outcome] = {}
    for outcome in outcomes:
        operation = outcome.operation
        mine = operation.placement is placement or operation.placement == placement
        if mine and isinstance(operation, Create | Update):
            done[operation.key.identity] = outcome
    results: list[ObjectResult] = []
    for manifest in work.manifests:
        # An object that stands twice in a work has two operations: its own, and a refusal.
        identity = manifest.key.identity
        waiting = planned.get(identity)
        next_one = waiting.pop(0) if waiting else None
        came = done.get(identity)
        if came is not None and (next_one is None or isinstance(next_one, Create | Update)):
            results.append(_of_outcome(manifest, came, judge))
        else:
            results.append(_of_operation(manifest, next_one, judge))
    return tuple(results)


def _of_outcome(manifest: Manifest, outcome: Outcome, judge: _Judge) -> ObjectResult:
    key = manifest.key
    if not outcome.ok:
        state = ObjectState.RETRYING if outcome.retry else ObjectState.FAILED
        return ObjectResult(key=key, state=state, code=outcome.code, message=outcome.message)
    live = outcome.live
    if live is None:
        verdict = not_yet(ObserveText.NOT_READ_AFTER_APPLIED())
    else:
        verdict = judge.after_apply(live, outcome.operation.cluster)
    return ObjectResult(key=key, state=ObjectState.IN_PLACE, code=outcome.code, message="", live=live, verdict=verdict)


class _Judge(NamedTuple):
    """Gives the verdict on live objects; one that cannot be judged is not available, and says why."""

    checks: Checks
    failures: Failures

    def as_found(self, live: LiveObject, cluster: str) -> Verdict:
        verdict = attempt(lambda: Subject.of_object(live.key, cluster), availability_of, live.body, self.checks)
        if not isinstance(verdict, Failure):
            return verdict
        self.failures.note(verdict)
        return not_yet(verdict.sentence)

    def after_apply(self, live: LiveObject, cluster: str) -> Verdict:
        """The response to an apply has the new spec with the old status. Generations distinguish them; where a custom
        kind, or one with a health check, keeps none, only the next observation can decide (decision D24)."""
        verdict = self.as_found(live, cluster)
        if verdict.availability is not Availability.AVAILABLE:
            return verdict
        by_status = is_custom(live.body) or (bool(self.checks) and live.key.group_kind in self.checks)
        return not_yet(ObserveText.ONLY_JUST_APPLIED()) if by_status and not reports_generation(live.body) else verdict


def _of_operation(manifest: Manifest, operation: Operation | None, judge: _Judge) -> ObjectResult:
    key = manifest.key
    match operation:
        case Keep():
            return _of_kept(key, operation, judge)
        case Refuse():
            return ObjectResult(
                key=key,
                state=ObjectState.FAILED,
                code=operation.code,
                message=operation.reason,
                details=operation.details,
                writers=operation.writers,
            )
        case Update():
            # Not performed yet: the object as it was found, for whoever wants to know how it is now.
            return ObjectResult(
                key=key,
                state=ObjectState.PENDING,
                code=None,
                message=ObserveText.BEING_APPLIED(),
                live=operation.live,
                verdict=judge.as_found(operation.live, operation.cluster),
            )
        case Create() | Delete() | Release() | None:
            return ObjectResult(key=key, state=ObjectState.PENDING, code=None, message=ObserveText.BEING_APPLIED())


def _of_kept(key: ObjectKey, kept: Keep, judge: _Judge) -> ObjectResult:
    match kept.code:
        case KeepCode.IN_PLACE | KeepCode.HANDED_OVER:
            verdict = judge.as_found(kept.live, kept.cluster) if kept.live is not None else None
            return ObjectResult(
                key=key,
                state=ObjectState.IN_PLACE,
                code=kept.code,
                message="",
                live=kept.live,
                verdict=verdict or not_yet(ObserveText.NOT_READ()),
                details=kept.details,
                writers=kept.writers,
            )
        case KeepCode.FINISHED:
            return ObjectResult(key=key, state=ObjectState.IN_PLACE, code=kept.code, message="", verdict=AVAILABLE)
        case KeepCode.FOUND_DIFF | KeepCode.NO_DIFF_FOUND:
            return ObjectResult(
                key=key,
                state=ObjectState.IN_PLACE,
                code=kept.code,
                message=kept.reason,
                details=kept.details,
                writers=kept.writers,
                reported=True,
            )
        case KeepCode.HANDED_OVER_LATER:
            return ObjectResult(key=key, state=ObjectState.WAITING, code=kept.code, message=kept.reason)
        case KeepCode.NOT_OBSERVED:
            return ObjectResult(key=key, state=ObjectState.UNSEEN, code=kept.code, message=kept.reason)
        case (
            KeepCode.UNREADABLE
            | KeepCode.TERMINATING
            | KeepCode.HELD
            | KeepCode.NAMESPACE_IN_USE
            | KeepCode.KEPT_FOR_SUCCESSOR
            | KeepCode.ROLLOUT
            | KeepCode.INTERNAL_ERROR
        ):
            return ObjectResult(key=key, state=ObjectState.RETRYING, code=kept.code, message=kept.reason)
