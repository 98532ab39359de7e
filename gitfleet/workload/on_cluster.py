"""One rollout on one cluster: what is looked up there before its state machine goes on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from gitfleet.api.scalers import is_scaled_by
from gitfleet.api.workload_records import (
    FOLLOWED,
    RELEASED,
    ClusterRolloutStatus,
    EmptiedWorkload,
    RollingState,
    RolloutMode,
    RolloutRecord,
    WorkloadReason,
)
from gitfleet.model.observations import ClusterObservation
from gitfleet.workload.batches import UnusablePlan
from gitfleet.workload.cases import Advanced, Case, Needed, lacks_pods, why_left, workloads_of
from gitfleet.workload.conditions import waiting
from gitfleet.workload.finding import (
    Found,
    NotFoundHere,
    NotOneWorkload,
    Slip,
    Wanted,
    find,
    is_coming,
    named_by,
    placement_of,
)
from gitfleet.workload.goals import left_to_change
from gitfleet.workload.handlers import Workloads
from gitfleet.workload.lookup import Lookup, Request
from gitfleet.workload.misnamed import left_out, misnamed
from gitfleet.workload.permission import denial
from gitfleet.workload.phases import LETTING_GO, phase_of
from gitfleet.workload.progress import advance_cluster
from gitfleet.workload.texts import WorkloadText
from gitfleet.workload.without_file import is_left_amid, why_awaited, why_kept, why_left_amid


@dataclass(frozen=True, slots=True)
class Turn:
    """`first` says which cluster comes first ("" where it is this one's turn), `renewed` that the plan is another one
    than in the pass before, or that the file came back."""

    first: str
    renewed: bool


@dataclass(frozen=True, slots=True)
class _Here:
    """One rollout on one cluster, and what it names there."""

    record: RolloutRecord
    status: ClusterRolloutStatus
    found: Found
    wanted: Wanted


def on_cluster(record: RolloutRecord, status: ClusterRolloutStatus, turn: Turn, lookup: Lookup) -> Advanced | None:
    """One pass of one rollout on one cluster; None where nothing of it is left there."""
    request, name = lookup.request, status.cluster
    observation, wanted = request.observations.get(name), lookup.wanted_on(name)
    selector = record.clusters_selector
    if selector is not None and not selector.matches(request.clusters[name].labels):
        record = replace(record, removing=True)
    try:
        found = _found(record, status, request)
    except NotFoundHere as unknown:
        return None if record.removing else _unfound(record, status, unknown, request.now)
    if record.removing and lookup.is_named_by_other(record, found):
        return None
    was = status
    status = replace(status, template_before=lookup.template_before(status, found))
    if status.rolling_state is RollingState.VERIFYING_SPEC:
        # What it is about is held from now on, also where it has not been read yet.
        status = replace(status, target=found.target, sources=found.sources)
    same = (found.target, found.sources) == (status.target, status.sources)
    others = () if same or status.target is None else (found.target, *found.sources)
    status = status if status.named == others else replace(status, named=others)
    is_ending = record.removing or phase_of(status.rolling_state, status.batch_rolling_state) in LETTING_GO
    if is_ending and not same and status.mode is not None:
        found = _claimed(status, request) or found  # it ends with what it was about
    if observation is None or not observation.reachable:
        return _waits(status, WorkloadText.CLUSTER_NOT_ANSWER(), request.now)
    asked = None if is_ending else _questioned(_Here(record, status, found, wanted), was, observation, lookup)
    if asked is not None:
        return asked
    try:
        seen = workloads_of(found, status, wanted, observation)
    except NotFoundHere as not_read:
        return _waits(status, str(not_read), request.now)
    if seen.target is not None and found.target == status.target and lacks_pods(found, status, observation):
        return _waits(status, WorkloadText.PODS_COULD_NOT_READ(target=found.target), request.now)
    return _over_seen(_Here(record, status, found, wanted), seen, turn, lookup)


def _unfound(record: RolloutRecord, status: ClusterRolloutStatus, unknown: NotFoundHere, now: datetime) -> Advanced:
    """What it waits for, or asks, where its workloads cannot be told."""
    named = named_by(record)
    if status.rolling_state is RollingState.VERIFYING_SPEC and named:
        status = replace(status, target=named[0], sources=named[1:])  # held until a handler knows it
    if isinstance(unknown, Slip):
        return _asks(status, str(unknown), now)
    return replace(_waits(status, str(unknown), now), asks=not named and not status.is_over)


def _questioned(
    here: _Here, was: ClusterRolloutStatus, observation: ClusterObservation, lookup: Lookup
) -> Advanced | None:
    """What a person is asked before a rollout begins with what it names now; None where all that goes is named."""
    record, status, found, wanted = here.record, here.status, here.found, here.wanted
    inventory, now = lookup.request.inventory.get(status.cluster, {}), lookup.request.now
    left = left_out(found, was, wanted, inventory, observation)
    is_to_begin = status.rolling_state is RollingState.VERIFYING_SPEC and not status.is_idle
    if not (left or status.named or is_to_begin):
        return None
    if (near := misnamed(found, wanted, inventory, observation, record.key.namespace)) is not None:
        kept = was if left else status  # what it was about is not forgotten
        return _asks(replace(kept, named=(found.target, *found.sources, *left, near[0])), near[1], now)
    if left:
        why = WorkloadText.READY_PODS_NO_MANIFEST_ANY(left=left[0])
        return _asks(replace(was, named=(found.target, *found.sources, *left)), why, now)
    return None


def _over_seen(here: _Here, seen: Workloads, turn: Turn, lookup: Lookup) -> Advanced | None:
    """The same, where all that it names was read."""
    record, status, found, wanted = here.record, here.status, here.found, here.wanted
    target, now = wanted.manifests.get(found.target.identity), lookup.request.now
    if why := _forbidden(here, lookup):
        return None if record.removing else _asks(status, why, now)
    is_ending = phase_of(status.rolling_state, status.batch_rolling_state) in LETTING_GO and bool(status.named)
    if target is None and seen.target is None and not is_ending:
        return _without_target(here, seen, lookup)
    needed = Needed.of(found, wanted, seen)
    is_same = status.mode is RolloutMode.SOURCE_TO_TARGET and found.target == status.target
    goes_back = is_same and needed.sources and not needed.target
    digest = _wanted_digest(found, wanted)
    if record.removing and not goes_back and (ended := _ended(status, digest)) is not status:
        if ended is None and (why := why_kept(status, found, seen)):
            return replace(_asked(status, why, now), asks=True)
        if ended is None and (why := why_awaited(status, found, seen, needed)):
            followed = _asked(replace(status, let_go=FOLLOWED), why, now)
            return replace(followed, asks=not found.handler.size(seen.wanted or {}))
        return Advanced(status=ended) if ended is not None else None
    if record.removing and is_left_amid(status, needed):
        if why := why_left_amid(record.rollout_plan, status, found, seen, now):
            return replace(_asked(status, why, now), asks=True)
        if seen.wanted is None and status.mode is RolloutMode.IN_PLACE:
            status = replace(status, let_go=RELEASED)
    if status.let_go == RELEASED and lookup.is_applied(status.cluster, target):
        left = left_to_change(record.rollout_plan, status, found.handler, seen, now)
        why, asks = why_left(left, WorkloadText.GIVEN_BACK(), lookup.refused(record, status)) if left else ("", False)
        return replace(_asked(status, why, now), asks=asks) if left else None
    return _advanced(_case(here, seen, turn, lookup, goes_back=goes_back))


def _forbidden(here: _Here, lookup: Lookup) -> str:
    """Why a rollout may not touch its workloads: nobody permitted it, or something else scales them; "" if it may."""
    record, status, workloads = here.record, here.status, (here.found.target, *here.found.sources)
    if why := denial(lookup.request.policy, record, workloads):
        return why
    is_sized = record.rollout_plan.target_size is not None and placement_of(record) is not None
    if status.rolling_state is RollingState.VERIFYING_SPEC and is_sized:
        scalers = here.wanted.scalers
        if scaler := next((scalers[key.identity] for key in workloads if key.identity in scalers), None):
            return WorkloadText.ITS_WORKLOAD_IS(is_scaled_by=is_scaled_by(scaler))
    return ""


def _without_target(here: _Here, seen: Workloads, lookup: Lookup) -> Advanced | None:
    """The target is not on the cluster, and no placement wants it there."""
    record, status, found, now = here.record, here.status, here.found, lookup.request.now
    names_placement = placement_of(record) is not None
    if record.removing or not (seen.sources or names_placement):
        return None
    if is_coming(found.target.identity, {status.cluster}, lookup.request.placements.values()):
        return _waits(status, WorkloadText.NOT_CLUSTER_YET(target=found.target), now)
    wrong = "targetRevision" if names_placement else "targetRef"
    why = WorkloadText.NOT_CLUSTER_NO_PLACEMENT_BRINGS(target=found.target, wrong=wrong)
    return _asks(status, why, now)


def _case(here: _Here, seen: Workloads, turn: Turn, lookup: Lookup, *, goes_back: bool) -> Case:
    """All that the state machine depends on."""
    record, status, found, wanted = here.record, here.status, here.found, here.wanted
    target, placement, name = wanted.manifests.get(found.target.identity), placement_of(record), status.cluster
    emptied = _emptied(status, found, wanted)
    if (still := tuple(one for one in status.emptied if one in emptied)) != status.emptied:
        status = replace(status, emptied=still)
    return Case(
        record=replace(record, removing=True) if goes_back else record,
        status=status,
        found=found,
        seen=seen,
        template=lookup.template(found.handler, target, seen, status),
        wanted_digest=_wanted_digest(found, wanted),
        snapshot=wanted.snapshots.get(placement, "") if placement is not None else "",
        applied=lookup.is_applied(name, target),
        owned=target is not None or lookup.is_owned(name, found.target),
        taken_over=lookup.is_taken_over(name, target),
        now=lookup.request.now,
        answers=lookup.request.answers,
        templates={one.key: one for one in record.templates},
        turn=turn.first or lookup.claimed_by_other(record, name, found),
        renewed=turn.renewed or (status.is_over and bool(status.let_go) and not record.removing),
        goes_back=goes_back,
        mixed=lookup.is_mixed(record, name, found),
        emptied=emptied,
        refused=lookup.refused(record, status),
        gate=lookup.closed,
    )


def _emptied(status: ClusterRolloutStatus, found: Found, wanted: Wanted) -> tuple[EmptiedWorkload, ...]:
    """The workloads whose pods this rollout took away, that it does not name any more, and whose manifests are what
    they were."""
    known = {one.key: one.digest for one in status.emptied}
    if status.mode is RolloutMode.SOURCE_TO_TARGET and status.rolling_state is RollingState.SUCCEEDED:
        known |= dict.fromkeys(status.sources, "")
    kept = list[EmptiedWorkload]()
    for key, digest in known.items():
        manifest = wanted.manifests.get(key.identity)
        named = key in (found.target, *found.sources)
        if manifest is not None and not named and digest in ("", manifest.digest):
            kept.append(EmptiedWorkload(key=key, digest=manifest.digest))
    return tuple(kept)


def _advanced(case: Case) -> Advanced:
    try:
        return advance_cluster(case)
    except UnusablePlan as unusable:
        return replace(_waits(case.status, str(unusable), case.now), asks=True)


def _found(record: RolloutRecord, status: ClusterRolloutStatus, request: Request) -> Found:
    """The workloads that the rollout names; those that it had claimed where it names none any more."""
    try:
        return find(record, request.placements, request.handlers, request.policy)
    except NotFoundHere as unclear:
        claimed = _claimed(status, request)
        # A slip in what it is to be about from now on; what runs goes on by what it is about while it can.
        slips = isinstance(unclear, Slip) and unclear.concerns(record, status)
        stops = slips and (isinstance(unclear, NotOneWorkload) or not status.is_running)
        if claimed is None or (stops and not record.removing):
            raise
        return claimed


def _claimed(status: ClusterRolloutStatus, request: Request) -> Found | None:
    """The workloads that a rollout is about; None where no handler knows them."""
    if status.target is None or status.target.group_kind not in request.handlers:
        return None
    handler = request.handlers[status.target.group_kind]
    return Found(target=status.target, sources=status.sources, handler=handler, revision=status.revision)


def _asked(status: ClusterRolloutStatus, sentence: str, now: datetime) -> Advanced:
    phase = phase_of(status.rolling_state, status.batch_rolling_state)
    return Advanced(status=waiting(status, phase, WorkloadReason.WAITING, sentence, now), waits=sentence)


def _wanted_digest(found: Found, wanted: Wanted) -> str:
    """That of the target's manifest: another one says what is to be of its pods."""
    manifest = wanted.manifests.get(found.target.identity)
    return manifest.digest[:16] if manifest is not None else "none"


def _asks(status: ClusterRolloutStatus, sentence: str, now: datetime) -> Advanced:
    """Nothing is done until a person does something."""
    return replace(_waits(status, sentence, now), waits=sentence, asks=True)


def _waits(status: ClusterRolloutStatus, sentence: str, now: datetime) -> Advanced:
    """Nothing is known or done now. What is over, or has not begun, waits for nothing."""
    if status.is_over:
        return Advanced(status=status)
    phase = phase_of(status.rolling_state, status.batch_rolling_state)
    return Advanced(status=waiting(status, phase, WorkloadReason.WAITING, sentence, now), waits=sentence)


def _ended(status: ClusterRolloutStatus, digest: str) -> ClusterRolloutStatus | None:
    """What is left of a rollout whose file is gone, once it is over: nothing where it holds nothing, or where the
    manifests of its workloads have changed since."""
    if status.rolling_state not in (RollingState.SUCCEEDED, RollingState.ABANDONED):
        return status
    succeeded = status.rolling_state is RollingState.SUCCEEDED
    if status.mode is None or (succeeded and status.mode is RolloutMode.IN_PLACE):
        return None
    if not status.let_go:
        return replace(status, let_go=digest)
    if status.let_go in (digest, RELEASED):
        return status
    return replace(status, let_go=RELEASED) if status.mode is RolloutMode.IN_PLACE else None
