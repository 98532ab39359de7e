"""What one observation of a cluster means for a binding there: its conditions, its failures, and what it really has.

RolloutStarted belongs to the rollout; everything after it is set here, in KubeFleet's order, with its reasons and
messages (pkg/controllers/workgenerator; seeds/003), always for the binding's own generation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple, TypeVar

from gitfleet.api.bindings import DELETED, Binding, DiffedObject, DivergedObject, DriftedObject, FailedObject
from gitfleet.api.conditions import Conditions, ConditionType, Reason, Status, condition_of, find_condition
from gitfleet.api.replacing import replace
from gitfleet.formats.sentences import more_than_first
from gitfleet.model.observations import Availability
from gitfleet.model.operations import KeepCode, Operation, Outcome, RefuseCode
from gitfleet.model.works import Work
from gitfleet.observe.availability import NO_CHECKS, Checks
from gitfleet.observe.clusters import is_other_cause
from gitfleet.observe.results import ObjectResult, ObjectState, ResultCode, not_deleted, results_of
from gitfleet.observe.texts import ObserveText

MOST_OBJECTS: Final = 100
"""KubeFleet's limit on failed, drifted and diffed objects of one cluster."""
_ORDER: Final = (
    ConditionType.ROLLOUT_STARTED,
    ConditionType.OVERRIDDEN,
    ConditionType.WORK_SYNCHRONIZED,
    ConditionType.APPLIED,
    ConditionType.AVAILABLE,
    ConditionType.DIFF_REPORTED,
)
_Reported = tuple[ConditionType, Status, Reason, str]
"""(type, status, reason, message) of a condition."""

_SYNCED: Final[_Reported] = (
    ConditionType.WORK_SYNCHRONIZED,
    Status.TRUE,
    Reason.ALL_WORK_SYNCED,
    ObserveText.ALL_WORKS_SYNCHRONIZED_LATEST(),
)
_ALL_APPLIED: Final[_Reported] = (
    ConditionType.APPLIED,
    Status.TRUE,
    Reason.ALL_WORK_HAVE_BEEN_APPLIED,
    ObserveText.ALL_CORRESPONDING_WORK_OBJECTS_APPLIED(),
)
_ALL_AVAILABLE: Final[_Reported] = (
    ConditionType.AVAILABLE,
    Status.TRUE,
    Reason.ALL_WORK_ARE_AVAILABLE,
    ObserveText.ALL_CORRESPONDING_WORK_OBJECTS_AVAILABLE(),
)
_Diverged = TypeVar("_Diverged", bound=DivergedObject)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Problems:
    """The objects of a work that are not as they should be."""

    failed: tuple[FailedObject, ...] = ()
    drifted: tuple[DriftedObject, ...] = ()
    diffed: tuple[DiffedObject, ...] = ()


_NOTHING: Final = _Problems()


class ClusterSeen(NamedTuple):
    """What was planned and done for one binding, which `operations` and `outcomes` of the whole cluster say as well.

    `work` is None where nothing was rolled out yet, or is being removed; `unreachable` says why the cluster does not
    answer, None when it does.
    """

    work: Work | None
    operations: Iterable[Operation] = ()
    outcomes: Iterable[Outcome] = ()
    unreachable: str | None = None
    checks: Checks = NO_CHECKS


def observe_binding(binding: Binding, seen: ClusterSeen, now: datetime) -> Binding:
    """The binding after one observation and what was done; the very same value when nothing changed.

    Applied is True only when every object of the work is
    in place, Available only by objects read at or after their apply (decision D24). A condition keeps its transition
    time while its status and the binding's generation stay the same. Where the cluster does not answer, it keeps its
    conditions, but Available becomes Unknown with the present cause, so that it never counts as ready. Without a work
    nothing changes.
    """
    work = seen.work
    if work is None:
        return binding
    reachable = seen.unreachable is None
    results = results_of(work, seen.operations, seen.outcomes, seen.checks) if reachable else None
    after = _observed(binding, work, results, now, seen)
    undeleted = not_deleted(binding, seen.operations, seen.outcomes) if reachable else ()
    if reachable and (undeleted or after.failed):
        failing = tuple(failed for failed in after.failed if failed.condition != DELETED)
        failed = (*failing, *undeleted)[:MOST_OBJECTS]
        after = after if failed == after.failed else replace(after, failed=failed)
        after = binding if after == binding else after
    return after


def observe_removal(binding: Binding, seen: ClusterSeen) -> Binding:
    """A binding that is given up, with what its cluster has not deleted yet; the very same value when nothing
    changed."""
    failed = not_deleted(binding, seen.operations, seen.outcomes)[:MOST_OBJECTS]
    return binding if seen.unreachable is not None or failed == binding.failed else replace(binding, failed=failed)


def _observed(
    binding: Binding, work: Work, results: Sequence[ObjectResult] | None, now: datetime, seen: ClusterSeen
) -> Binding:
    """`results` is None when the cluster did not answer; the very same binding when nothing changed."""
    before = list(_before_apply(binding, work))
    if any(status is not Status.TRUE for _, status, _, _ in before):
        return _settled(binding, before, now, problems=_NOTHING)
    if results is None:
        return _unreachable(binding, work, before, now, seen.unreachable or "")
    if any(r.state is ObjectState.UNSEEN for r in results):
        return binding
    results, unchanged = _planned_only(binding, results)
    if unchanged:
        return binding
    if work.apply_strategy.type.only_reports:
        reported = [*before, _diff_reported(results)]
        diffed = _diverged(DiffedObject, results, (KeepCode.FOUND_DIFF,), binding.diffed, now)
        return _settled(binding, reported, now, problems=_Problems(diffed=diffed))
    applied = _applied(results)
    reported = [*before, applied]
    if applied[1] is Status.TRUE:
        reported.append(_available(results, work))
    return _settled(
        binding,
        reported,
        now,
        applied_snapshot=work.snapshot if applied[1] is Status.TRUE else None,
        problems=_Problems(
            failed=_failed(results),
            drifted=_diverged(
                DriftedObject, results, (RefuseCode.FOUND_DRIFTS, KeepCode.IN_PLACE), binding.drifted, now
            ),
            diffed=_diverged(DiffedObject, results, (RefuseCode.FAILED_TO_TAKE_OVER,), binding.diffed, now),
        ),
    )


def _planned_only(binding: Binding, results: Sequence[ObjectResult]) -> tuple[Sequence[ObjectResult], bool]:
    """What follows from a plan that was not performed yet: (results to go by, whether they say nothing new).

    Where an apply is known to have failed, planning it again says nothing new. Where all was in place, an object that
    is to be applied again is one that drifted: it stays Applied, and is judged as it was found, until the operation has
    been performed.
    """
    applied = find_condition(binding.conditions, ConditionType.APPLIED, generation=binding.generation)
    pending = [r for r in results if r.state is ObjectState.PENDING]
    if applied is None or not pending:
        return results, False
    if applied.status is not Status.TRUE:
        return results, True
    if all(r.live is not None for r in pending):
        return [r._replace(state=ObjectState.IN_PLACE) if r.state is ObjectState.PENDING else r for r in results], False
    return results, False


def _before_apply(binding: Binding, work: Work) -> Iterable[_Reported]:
    if work.error is not None and work.unwrapped:
        message = ObserveText.FAILED_APPLY_OVERRIDE_RULES_RESOURCES(error=work.error)
        yield ConditionType.OVERRIDDEN, Status.FALSE, Reason.OVERRIDDEN_FAILED, message
        return
    if work.overridden:
        message = ObserveText.SUCCESSFULLY_APPLIED_OVERRIDE_RULES_RESOURCES()
        yield ConditionType.OVERRIDDEN, Status.TRUE, Reason.OVERRIDDEN_SUCCEEDED, message
    else:
        message = ObserveText.NO_OVERRIDE_RULES_CONFIGURED_SELECTED()
        yield ConditionType.OVERRIDDEN, Status.TRUE, Reason.NO_OVERRIDE_SPECIFIED, message
    if work.error is not None:
        message = ObserveText.FAILED_SYNCHRONIZE_WORK_LATEST(error=work.error)
        yield ConditionType.WORK_SYNCHRONIZED, Status.FALSE, Reason.SYNC_WORK_FAILED, message
        return
    if work.generation == binding.generation and work.snapshot == binding.resource_snapshot:
        yield _SYNCED
    else:
        message = ObserveText.WORK_SNAPSHOT_NOT_YET(snapshot=work.snapshot, resource_snapshot=binding.resource_snapshot)
        yield ConditionType.WORK_SYNCHRONIZED, Status.FALSE, Reason.WORK_NOT_SYNCHRONIZED_YET, message


def _applied(results: Sequence[ObjectResult]) -> _Reported:
    worst = max((r.state for r in results), key=lambda s: s.value, default=ObjectState.IN_PLACE)
    if worst is ObjectState.IN_PLACE:
        return _ALL_APPLIED
    if worst is ObjectState.PENDING:
        waiting = sum(1 for r in results if r.state is not ObjectState.IN_PLACE)
        message = ObserveText.WORK_OBJECTS_BEING_APPLIED(waiting=waiting, count=len(results))
        return ConditionType.APPLIED, Status.FALSE, Reason.APPLY_IN_PROGRESS, message
    concerned = [r for r in results if r.state is worst]
    if worst is ObjectState.WAITING:
        running = [r for r in concerned if r.code is KeepCode.STEP_RUNS]
        # A step that runs is no failure for as long as its own limit lets it.
        reason = Reason.APPLY_PENDING if running else Reason.APPLY_IN_PROGRESS
        return ConditionType.APPLIED, Status.UNKNOWN, reason, _sentence(running or concerned, "applied")
    # What another try can help is progress, what only a person can help is failure (decision D6).
    reason = Reason.APPLY_FAILED if worst is ObjectState.FAILED else Reason.NOT_ALL_WORK_HAVE_BEEN_APPLIED
    return ConditionType.APPLIED, Status.FALSE, reason, _sentence(concerned, "applied")


def _available(results: Sequence[ObjectResult], work: Work) -> _Reported:
    waiting = [r for r in results if r.verdict is not None and r.verdict.availability is Availability.NOT_YET]
    if waiting:
        return ConditionType.AVAILABLE, Status.FALSE, Reason.NOT_ALL_WORK_ARE_AVAILABLE, _sentence(waiting, "available")
    untracked = [r for r in results if r.verdict is not None and r.verdict.availability is Availability.NOT_TRACKABLE]
    if untracked:
        # The seed's reason; newer KubeFleet says NotAllWorkAreAvailabilityTrackable for the same.
        message = ObserveText.AVAILABILITY_WORK_OBJECT_WORK_NOT(placement=work.placement.name)
        first = untracked[0]
        why = f"{message}: {first.key}, {first.verdict.reason if first.verdict else ''}{more_than_first(untracked)}"
        return ConditionType.AVAILABLE, Status.TRUE, Reason.WORK_NOT_TRACKABLE, why
    return _ALL_AVAILABLE


def _diff_reported(results: Sequence[ObjectResult]) -> _Reported:
    missing = [r for r in results if not r.reported]
    if missing:
        return (
            ConditionType.DIFF_REPORTED,
            Status.FALSE,
            Reason.NOT_ALL_WORK_HAVE_DIFF_REPORTED,
            _sentence(missing, "compared"),
        )
    message = ObserveText.ALL_CORRESPONDING_WORK_OBJECTS_REPORTED()
    return ConditionType.DIFF_REPORTED, Status.TRUE, Reason.ALL_WORK_HAVE_DIFF_REPORTED, message


def _unreachable(binding: Binding, work: Work, before: Sequence[_Reported], now: datetime, error: str) -> Binding:
    generation, reported = binding.generation, list(before)
    reports = work.apply_strategy.type.only_reports
    if not reports and (find_condition(binding.conditions, ConditionType.APPLIED, generation=generation) is None):
        nothing = ObserveText.NOTHING_COULD_APPLIED(cluster=binding.cluster)
        reported.append((ConditionType.APPLIED, Status.FALSE, Reason.APPLY_IN_PROGRESS, nothing))
    last = ConditionType.DIFF_REPORTED if reports else ConditionType.AVAILABLE
    previous = find_condition(binding.conditions, last, generation=generation)
    message = ObserveText.CLUSTER_NOT_ANSWER(cluster=binding.cluster, error=error)
    if previous is None or previous.reason != Reason.CLUSTER_UNREACHABLE or is_other_cause(previous.message, message):
        reported.append((last, Status.UNKNOWN, Reason.CLUSTER_UNREACHABLE, message))
    conditions = _conditions(binding, reported, now, keep=_ORDER)
    return binding if conditions == binding.conditions else replace(binding, conditions=conditions)


def _settled(
    binding: Binding,
    reported: Sequence[_Reported],
    now: datetime,
    *,
    problems: _Problems,
    applied_snapshot: str | None = None,
) -> Binding:
    """The binding with what was found; the very same value when that says nothing new."""
    conditions = _conditions(binding, reported, now, keep=(ConditionType.ROLLOUT_STARTED,))
    applied_snapshot = applied_snapshot or binding.applied_snapshot
    before = (binding.conditions, binding.failed, binding.drifted, binding.diffed, binding.applied_snapshot)
    if (conditions, problems.failed, problems.drifted, problems.diffed, applied_snapshot) == before:
        return binding
    return replace(
        binding,
        conditions=conditions,
        failed=problems.failed,
        drifted=problems.drifted,
        diffed=problems.diffed,
        applied_snapshot=applied_snapshot,
    )


def _conditions(binding: Binding, reported: Sequence[_Reported], now: datetime, keep: Sequence[str]) -> Conditions:
    """The conditions in KubeFleet's order: those reported, and of the others only the types to keep."""
    before = {c.type: c for c in reversed(binding.conditions)}
    after = {c.type: c for c in binding.conditions if c.type in keep or c.type not in _ORDER}
    for type_, status, reason, message in reported:
        old = before.get(type_)
        if old is None or old.observed_generation != binding.generation:
            old = None  # what was true of the old content says nothing of the new generation's
        elif (old.status, old.reason, old.message) == (status, reason, message):
            after[type_] = old
            continue
        since = old.last_transition_time if old is not None and old.status == status else now
        after[type_] = condition_of(type_.value, status, reason.value, message, since, binding.generation)
    foreign = [c for type_, c in after.items() if type_ not in _ORDER]
    return (*foreign, *(after[type_] for type_ in _ORDER if type_ in after))


def _failed(results: Sequence[ObjectResult]) -> tuple[FailedObject, ...]:
    failed: list[FailedObject] = []
    for r in results:
        if r.state in (ObjectState.FAILED, ObjectState.RETRYING, ObjectState.WAITING):
            failed.append(
                FailedObject(key=r.key, condition=ConditionType.APPLIED.value, reason=r.code or "", message=r.message)
            )
        elif r.verdict is not None and r.verdict.availability is Availability.NOT_YET:
            failed.append(
                FailedObject(
                    key=r.key,
                    condition=ConditionType.AVAILABLE.value,
                    reason=Reason.NOT_YET_AVAILABLE.value,
                    message=r.verdict.reason,
                )
            )
    return tuple(failed[:MOST_OBJECTS])


def _diverged(
    made: type[_Diverged],
    results: Sequence[ObjectResult],
    codes: Sequence[ResultCode],
    before: Sequence[_Diverged],
    now: datetime,
) -> tuple[_Diverged, ...]:
    previous = {d.key: d for d in before}
    diverged: list[_Diverged] = []
    for r in results:
        if r.code not in codes or not r.details:
            continue
        new = made(key=r.key, details=r.details, writers=r.writers, observed=now, first_observed=now)
        old = previous.get(r.key, new)
        if old.details == r.details:
            # A manager's time changes with whatever else it writes: what it wrote here is known already.
            earlier = {(w.path, w.manager): w for w in old.writers}
            writers = tuple(earlier.get((w.path, w.manager), w) for w in r.writers)
            new = replace(new, writers=writers, observed=old.observed)
        diverged.append(replace(new, first_observed=old.first_observed))
    return tuple(diverged[:MOST_OBJECTS])


def _sentence(concerned: Sequence[ObjectResult], verb: str) -> str:
    """The first object and why, and how many more there are."""
    first = concerned[0]
    why = first.verdict.reason if verb == "available" and first.verdict is not None else first.message
    return ObserveText.IS_NOT(first=first.key, verb=verb, why=why, more_than_first=more_than_first(concerned))
