"""One rollout on one cluster: what is looked up there before its state machine goes on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from gitfleet.api.scalers import is_scaled_by
from gitfleet.api.workload_records import (
    RELEASED,
    ClusterRolloutStatus,
    EmptiedWorkload,
    RollingState,
    RolloutMode,
    RolloutRecord,
    WorkloadReason,
)
from gitfleet.workload.cases import Advanced, Case, Needed, lacks_pods, why_left, workloads_of
from gitfleet.workload.finding import NamedWorkloads, NotFoundHere, PlacedObjects, denial, find, named_by, placement_of
from gitfleet.workload.goals import UnusablePlan, left_to_change
from gitfleet.workload.handlers import Workloads
from gitfleet.workload.handlers.reading import is_seen, pods_there, ready_there
from gitfleet.workload.lookup import Lookup, Request
from gitfleet.workload.phases import LETTING_GO, phase_of, waiting
from gitfleet.workload.progress import advance_cluster
from gitfleet.workload.texts import WorkloadText


@dataclass(frozen=True, slots=True)
class _OnCluster:
    """One rollout on one cluster, and what it names there; `first` says which cluster comes first ("": it is this one's
    turn), `renewed` that the plan is another one than in the pass before, or that the file came back."""

    record: RolloutRecord
    status: ClusterRolloutStatus
    workloads: NamedWorkloads
    placed: PlacedObjects
    first: str
    renewed: bool


def on_cluster(
    record: RolloutRecord, status: ClusterRolloutStatus, first: str, renewed: bool, lookup: Lookup
) -> Advanced | None:
    """One pass of one rollout on one cluster; None where nothing of it is left there."""
    request, name = lookup.request, status.cluster
    observation, placed = request.inputs.observations.get(name), lookup.placed_on(name)
    selector = record.clusters_selector
    if selector is not None and not selector.matches(request.state.clusters[name].labels):
        record = replace(record, removing=True)
    try:
        workloads = _named(record, status, request)
    except NotFoundHere as unknown:
        return None if record.removing else _without_workloads(record, status, unknown, request.inputs.now)
    if record.removing and lookup.is_named_by_other(record, workloads):
        return None
    status = replace(status, template_before=lookup.template_before(status, workloads))
    if status.rolling_state is RollingState.VERIFYING_SPEC:
        # What it is about is set from now on, also where it has not been read yet.
        status = replace(status, target=workloads.target, sources=workloads.sources)
    is_same = (workloads.target, workloads.sources) == (status.target, status.sources)
    successors = () if is_same or status.target is None else (workloads.target, *workloads.sources)
    status = status if status.named == successors else replace(status, named=successors)
    is_ending = record.removing or phase_of(status.rolling_state, status.batch_rolling_state) in LETTING_GO
    if is_ending and not is_same and status.mode is not None:
        workloads = _claimed(status, request) or workloads  # it ends with what it was about
    if observation is None or not observation.reachable:
        return _waits(status, WorkloadText.CLUSTER_NOT_ANSWER(), request.inputs.now)
    try:
        seen = workloads_of(workloads, status, placed, observation)
    except NotFoundHere as not_read:
        return _waits(status, str(not_read), request.inputs.now)
    if seen.target is not None and workloads.target == status.target and lacks_pods(workloads, status, observation):
        return _waits(status, WorkloadText.PODS_NOT_READ(target=workloads.target), request.inputs.now)
    return _over_seen(_OnCluster(record, status, workloads, placed, first, renewed), seen, lookup)


def _without_workloads(
    record: RolloutRecord, status: ClusterRolloutStatus, unknown: NotFoundHere, now: datetime
) -> Advanced:
    """What it waits for, or asks, where its workloads cannot be told."""
    named = named_by(record)
    if status.rolling_state is RollingState.VERIFYING_SPEC and named:
        status = replace(status, target=named[0], sources=named[1:])  # kept until a handler knows it
    return replace(_waits(status, str(unknown), now), asks=not named and not status.is_over)


def _over_seen(at: _OnCluster, seen: Workloads, lookup: Lookup) -> Advanced | None:
    """The same, where all that it names was read."""
    record, status, workloads, placed = at.record, at.status, at.workloads, at.placed
    target, now = placed.manifests.get(workloads.target.identity), lookup.request.inputs.now
    if why := _forbidden(at, lookup):
        return None if record.removing else _asks(status, why, now)
    is_ending = phase_of(status.rolling_state, status.batch_rolling_state) in LETTING_GO and bool(status.named)
    if target is None and seen.target is None and not is_ending:
        return _without_target(at, seen, lookup)
    needed = Needed.of(workloads, placed, seen)
    is_same = status.mode is RolloutMode.SOURCE_TO_TARGET and workloads.target == status.target
    goes_back = is_same and needed.sources and not needed.target
    if record.removing and not goes_back and status.rolling_state is RollingState.SUCCEEDED:
        return None
    if record.removing and not goes_back and status.rolling_state is RollingState.ABANDONED:
        is_kept = status.let_go == _wanted_digest(workloads, placed)
        status = status if is_kept else replace(status, let_go=RELEASED)
    if status.let_go == RELEASED and lookup.is_applied(status.cluster, target):
        unfinished = left_to_change(record.rollout_plan, status, workloads.handler, seen, now)
        if unfinished:
            why, asks = why_left(unfinished, WorkloadText.GIVEN_BACK(), lookup.refused(record, status))
            return replace(_asked(status, why, now), asks=asks)
        why = _awaited(workloads, seen, needed)
        return _asked(status, why, now) if why else None
    case = _case(at, seen, lookup, goes_back=goes_back)
    try:
        return advance_cluster(case)
    except UnusablePlan as unusable:
        return replace(_waits(case.status, str(unusable), now), asks=True)


def _awaited(workloads: NamedWorkloads, seen: Workloads, needed: Needed) -> str:
    """Why sources that nobody wants stay after the rollout: the target does not have its pods yet. "" where none do."""
    sources = [live.key for live in seen.sources if pods_there(live)]
    if not sources or needed.sources or seen.wanted is None:
        return ""
    size, ready = workloads.handler.size(seen.wanted), ready_there(seen.target)
    if seen.target is not None and is_seen(seen.target) and ready >= size:
        return ""
    return WorkloadText.SOURCE_STAYS_UNTIL_READY(ready=ready, size=size, target=workloads.target, source=sources[0])


def _forbidden(at: _OnCluster, lookup: Lookup) -> str:
    """Why a rollout may not touch its workloads: nobody permitted it, or something else scales them; "" if it may."""
    record, status, workloads = at.record, at.status, (at.workloads.target, *at.workloads.sources)
    if why := denial(lookup.request.inputs.desired.config.policy, record, workloads):
        return why
    is_sized = record.rollout_plan.target_size is not None and placement_of(record) is not None
    if status.rolling_state is RollingState.VERIFYING_SPEC and is_sized:
        scalers = at.placed.scalers
        if scaler := next((scalers[key.identity] for key in workloads if key.identity in scalers), None):
            return WorkloadText.ITS_WORKLOAD_IS(is_scaled_by=is_scaled_by(scaler))
    return ""


def _without_target(at: _OnCluster, seen: Workloads, lookup: Lookup) -> Advanced | None:
    """The target is not on the cluster, and no placement wants it there."""
    record, status, workloads, now = at.record, at.status, at.workloads, lookup.request.inputs.now
    names_placement = placement_of(record) is not None
    if record.removing or not (seen.sources or names_placement):
        return None
    return _asks(status, WorkloadText.NOT_CLUSTER(target=workloads.target), now)


def _case(at: _OnCluster, seen: Workloads, lookup: Lookup, *, goes_back: bool) -> Case:
    """All that the state machine depends on."""
    record, status, workloads, placed = at.record, at.status, at.workloads, at.placed
    target, placement, name = placed.manifests.get(workloads.target.identity), placement_of(record), status.cluster
    emptied = _emptied(status, workloads, placed)
    if (still := tuple(workload for workload in status.emptied if workload in emptied)) != status.emptied:
        status = replace(status, emptied=still)
    return Case(
        record=replace(record, removing=True) if goes_back else record,
        status=status,
        workloads=workloads,
        seen=seen,
        template=lookup.template(workloads.handler, target, seen, status),
        wanted_digest=_wanted_digest(workloads, placed),
        snapshot=placed.snapshots.get(placement, "") if placement is not None else "",
        applied=lookup.is_applied(name, target),
        now=lookup.request.inputs.now,
        answers=lookup.request.inputs.answers,
        templates={template.key: template for template in record.templates},
        turn=at.first or lookup.claimed_by_other(record, name, workloads),
        renewed=at.renewed or (status.is_over and bool(status.let_go) and not record.removing),
        goes_back=goes_back,
        emptied=emptied,
        refused=lookup.refused(record, status),
        gate=lookup.passage,
    )


def _emptied(
    status: ClusterRolloutStatus, workloads: NamedWorkloads, placed: PlacedObjects
) -> tuple[EmptiedWorkload, ...]:
    """The workloads whose pods this rollout took away, that it does not name any more, and whose manifests are what
    they were."""
    digests = {workload.key: workload.digest for workload in status.emptied}
    if status.mode is RolloutMode.SOURCE_TO_TARGET and status.rolling_state is RollingState.SUCCEEDED:
        digests |= dict.fromkeys(status.sources, "")
    emptied = list[EmptiedWorkload]()
    for key, digest in digests.items():
        manifest = placed.manifests.get(key.identity)
        named = key in (workloads.target, *workloads.sources)
        if manifest is not None and not named and digest in ("", manifest.digest):
            emptied.append(EmptiedWorkload(key=key, digest=manifest.digest))
    return tuple(emptied)


def _named(record: RolloutRecord, status: ClusterRolloutStatus, request: Request) -> NamedWorkloads:
    """The workloads that the rollout names; those that it had claimed where it names none any more."""
    try:
        return find(record, request.state.placements, request.handlers, request.inputs.desired.config.policy)
    except NotFoundHere:
        if (claimed := _claimed(status, request)) is None:
            raise
        return claimed


def _claimed(status: ClusterRolloutStatus, request: Request) -> NamedWorkloads | None:
    """The workloads that a rollout is about; None where no handler knows them."""
    if status.target is None or status.target.group_kind not in request.handlers:
        return None
    handler = request.handlers[status.target.group_kind]
    return NamedWorkloads(target=status.target, sources=status.sources, handler=handler, revision=status.revision)


def _asked(status: ClusterRolloutStatus, sentence: str, now: datetime) -> Advanced:
    phase = phase_of(status.rolling_state, status.batch_rolling_state)
    return Advanced(status=waiting(status, phase, WorkloadReason.WAITING, sentence, now), waits=sentence)


def _wanted_digest(workloads: NamedWorkloads, placed: PlacedObjects) -> str:
    """That of the target's manifest: another one says what is to be of its pods."""
    manifest = placed.manifests.get(workloads.target.identity)
    return manifest.digest[:16] if manifest is not None else "none"


def _asks(status: ClusterRolloutStatus, sentence: str, now: datetime) -> Advanced:
    """Nothing is done until a person does something."""
    return replace(_waits(status, sentence, now), waits=sentence, asks=True)


def _waits(status: ClusterRolloutStatus, sentence: str, now: datetime) -> Advanced:
    """Nothing is known or done now. What is over, or has not begun, waits for nothing."""
    return Advanced(status=status) if status.is_over else _asked(status, sentence, now)
