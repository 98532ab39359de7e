"""All rollouts, on all of their clusters, in one pass."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.placements import PlacementKey
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import ClusterRolloutStatus, RollingState, RolloutMode, RolloutRecord, WorkloadReason
from gitfleet.api.workload_rollouts import WorkloadRollout
from gitfleet.formats.canonical_json import digest_of
from gitfleet.formats.sentences import counted
from gitfleet.model.calls import Answers, Call
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.state import Inventory, PlacementRecord
from gitfleet.model.works import Work
from gitfleet.workload.cases import Advanced, Case, workloads_of
from gitfleet.workload.conditions import message_of, waiting
from gitfleet.workload.finding import Found, NotFoundHere, Wanted, find, placement_of
from gitfleet.workload.handlers import Handlers
from gitfleet.workload.phases import phase_of
from gitfleet.workload.progress import advance_cluster
from gitfleet.workload.records import Templates, record_of
from gitfleet.workload.verifying import template_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """All that workload rollouts depend on. `rollouts` and `templates` are those of the commit, `before` the records;
    `kept` are rollouts whose absence from the commit does not count, as they may be in what cannot be read."""

    rollouts: Mapping[NamespacedName, WorkloadRollout]
    templates: Templates
    before: Mapping[NamespacedName, RolloutRecord]
    kept: Collection[NamespacedName]
    clusters: Mapping[str, MemberCluster]
    placements: Mapping[PlacementKey, PlacementRecord]
    works: Mapping[str, tuple[Work, ...]]
    inventory: Mapping[str, Inventory]
    observations: Mapping[str, ClusterObservation]
    answers: Answers
    now: datetime
    handlers: Handlers


@dataclass(frozen=True, slots=True, kw_only=True)
class Advance:
    """The records after the pass, the calls that are to be under way, when time alone changes something, and what waits
    by itself, or for a person, in a sentence each."""

    rollouts: Mapping[NamespacedName, RolloutRecord] = field(default_factory=dict)
    calls: tuple[Call, ...] = ()
    wake_at: datetime | None = None
    waiting: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()


@dataclass(slots=True)
class _Found:
    """What the pass comes to; `wanted` and `templates` save work within it."""

    request: Request
    calls: list[Call] = field(default_factory=list)
    wakes: list[datetime] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    asks: list[str] = field(default_factory=list)
    wanted: dict[str, Wanted] = field(default_factory=dict)
    templates: dict[str, str] = field(default_factory=dict)

    def wanted_on(self, cluster: str) -> Wanted:
        """What placements want on a cluster."""
        if cluster not in self.wanted:
            self.wanted[cluster] = Wanted.of(self.request.works.get(cluster, ()))
        return self.wanted[cluster]


def advance_workloads(request: Request, failures: Failures) -> Advance:
    """One pass over all rollouts. One that fails, or a cluster of one, stays as it is, and is noted."""
    found, records = _Found(request), dict[NamespacedName, RolloutRecord]()
    for key in sorted({*request.rollouts, *request.before}):
        before = request.before.get(key)
        subject = Subject("WorkloadRollout", str(key))
        record = failures.contain(subject, before, _advance_one, key, found, failures)
        if record is not None:
            records[key] = record
    same = records == request.before
    return Advance(
        rollouts=request.before if same else records,
        calls=tuple(found.calls),
        wake_at=min(found.wakes, default=None),
        waiting=tuple(found.waiting),
        asks=tuple(found.asks),
    )


def _advance_one(key: NamespacedName, found: _Found, failures: Failures) -> RolloutRecord | None:
    request = found.request
    wanted, before = request.rollouts.get(key), request.before.get(key)
    if wanted is not None:
        record = record_of(wanted, before, request.templates, request.now)
    elif before is None:
        return None
    else:
        record = before if key in request.kept or before.removing else replace(before, removing=True)
    renewed = before is not None and (before.removing, before.rollout_plan) != (record.removing, record.rollout_plan)
    known, statuses = {one.cluster: one for one in record.clusters}, list[ClusterRolloutStatus]()
    waits: dict[str, list[str]] = {}
    turn = ""
    for name in _clusters_of(record, known, found):
        status = known.get(name) or ClusterRolloutStatus(cluster=name)
        subject = Subject("WorkloadRollout", str(key), name)
        on = (record, status, turn, found)
        advanced = failures.contain(subject, Advanced(status=status), _on_cluster, *on, renewed=renewed)
        if advanced is None:
            continue
        statuses.append(advanced.status)
        found.calls += advanced.calls
        found.wakes += [advanced.wake_at] if advanced.wake_at is not None else []
        asks = advanced.asks or advanced.status.rolling_state is RollingState.FAILED
        if advanced.waits or asks:
            said = advanced.waits or _ending(advanced.status)
            waits.setdefault("asks" if asks else "waiting", []).append(f"{name}: {said}")
        if record.order == "sequential" and not turn and not _is_through(advanced):
            turn = f"cluster {name} comes first"
    found.waiting += _sentences(key, waits.get("waiting", ()))
    found.asks += _sentences(key, waits.get("asks", ()))
    if record.removing and not statuses:
        return None
    clusters = tuple(statuses)
    return record if clusters == record.clusters else replace(record, clusters=clusters)


def _sentences(key: NamespacedName, said: Iterable[str]) -> Iterator[str]:
    """One sentence for a rollout, about the first of its clusters."""
    found = list(said)
    if found:
        more = f" (and {counted(len(found) - 1, 'more cluster')})" if len(found) > 1 else ""
        yield f"rollout {key} on {found[0]}{more}"


def _ending(status: ClusterRolloutStatus) -> str:
    why = message_of(status, phase_of(status.rolling_state, status.batch_rolling_state))
    return f"it failed: {why or 'see its conditions'}; change its target, or remove the rollout"


def _is_through(advanced: Advanced) -> bool:
    """Whether the next cluster may begin."""
    state = advanced.status.rolling_state
    return state is RollingState.SUCCEEDED or (state is RollingState.VERIFYING_SPEC and not advanced.waits)


def _clusters_of(record: RolloutRecord, known: Mapping[str, ClusterRolloutStatus], found: _Found) -> list[str]:
    """The clusters that a rollout is about, and those that it was about, by name."""
    request, names = found.request, {name for name in known if name in found.request.clusters}
    if record.removing:
        return sorted(names)
    placement = placement_of(record)
    for name, cluster in request.clusters.items():
        selector = record.clusters_selector
        if selector is not None and not selector.matches(cluster.labels):
            continue
        placed = placement is not None and placement in found.wanted_on(name).snapshots
        if placed or (placement is None and _has(record, found, name)):
            names.add(name)
    return sorted(names)


def _has(record: RolloutRecord, found: _Found, cluster: str) -> bool:
    """Whether a placement brings the target to a cluster, or it is there."""
    try:
        named = find(record, {}, found.request.handlers)
    except NotFoundHere:
        return False
    if named.target.identity in found.wanted_on(cluster).manifests:
        return True
    observation = found.request.observations.get(cluster)
    live = observation.live if observation is not None else {}
    return any(live.get(key) is not None for key in (named.target, *named.sources))


def _on_cluster(
    record: RolloutRecord, status: ClusterRolloutStatus, turn: str, found: _Found, *, renewed: bool
) -> Advanced | None:
    """One rollout on one cluster; None where nothing of it is left there."""
    request, name = found.request, status.cluster
    observation, wanted = request.observations.get(name), found.wanted_on(name)
    selector = record.clusters_selector
    if selector is not None and not selector.matches(request.clusters[name].labels):
        record = replace(record, removing=True)
    try:
        named = _named(record, status, found)
    except NotFoundHere as not_found:
        return None if record.removing else _waits(status, str(not_found), request.now)
    target = wanted.manifests.get(named.target.identity)
    manifests = [wanted.manifests.get(key.identity) for key in (named.target, *named.sources)]
    digest = digest_of([one.digest if one is not None else "" for one in manifests])[:16]
    if record.removing and (ended := _ended(status, digest)) is not status:
        return Advanced(status=ended) if ended is not None else None
    if observation is None or not observation.reachable:
        return (
            _waits(status, "the cluster does not answer", request.now) if status.is_running else Advanced(status=status)
        )
    try:
        seen = workloads_of(named, status, wanted, observation)
    except NotFoundHere as not_seen:
        return _waits(status, str(not_seen), request.now)
    if target is None and seen.target is None:
        return None
    if target is not None:
        entry = request.inventory.get(name, {}).get(target.key)
        applied = entry is not None and entry.uid is not None and entry.applied_digest == target.digest
        template = found.templates.get(target.digest)
        if template is None:
            template = found.templates[target.digest] = template_id(named.handler, target.body)
    else:
        applied = True
        template = template_id(named.handler, seen.target.body) if seen.target is not None else ""
    placement = placement_of(record)
    return advance_cluster(
        Case(
            record=record,
            status=status,
            found=named,
            seen=seen,
            template=template,
            wanted_digest=digest,
            snapshot=wanted.snapshots.get(placement, "") if placement is not None else "",
            applied=applied,
            now=request.now,
            answers=request.answers,
            templates={one.key: one for one in record.templates},
            turn=turn,
            renewed=renewed,
        )
    )


def _named(record: RolloutRecord, status: ClusterRolloutStatus, found: _Found) -> Found:
    """The workloads that the rollout names; those that it had claimed where it names none any more."""
    try:
        return find(record, found.request.placements, found.request.handlers)
    except NotFoundHere:
        if status.target is None or status.target.group_kind not in found.request.handlers:
            raise
        handler = found.request.handlers[status.target.group_kind]
        return Found(target=status.target, sources=status.sources, handler=handler)


def _waits(status: ClusterRolloutStatus, sentence: str, now: datetime) -> Advanced:
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
    return status if status.let_go == digest else None
