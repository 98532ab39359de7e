"""All that one rollout depends on, on one cluster, in one pass."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from gitfleet.api.metrics import MetricTemplate
from gitfleet.api.objects import JsonValue, ObjectKey
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import (
    ClusterRolloutStatus,
    EmptiedWorkload,
    RollingState,
    RolloutMode,
    RolloutRecord,
)
from gitfleet.formats.managed_fields import is_own_apply, managed_entries
from gitfleet.formats.times import time_text
from gitfleet.model.calls import Answers, Call
from gitfleet.model.observations import ClusterObservation, LiveObject
from gitfleet.model.operations import RefusedStep
from gitfleet.model.rolling import Frozen, Passage
from gitfleet.model.rollout_fields import ABSENT, Fields
from gitfleet.workload.finding import NamedWorkloads, PlacedObjects, live_of
from gitfleet.workload.goals import key_text
from gitfleet.workload.handlers import WorkloadHandler, Workloads
from gitfleet.workload.handlers.values import Autoscaler


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One rollout on one cluster. `template` identifies the newest content of the target, `wanted_digest` its manifest
    and `snapshot` the one that the cluster has of the placement that the rollout names ("" for none); `applied` says
    that the target has been applied as it is wanted; `turn` why another cluster comes first ("": it is this one's
    turn); `renewed` that the plan is another one than in the pass before, or the file came back; `goes_back` that the
    target is to be deleted while a source is to stay; `emptied` what keeps no pods where the rollout names other
    workloads from now on; `refused` which of its steps the pass before could not carry out."""

    record: RolloutRecord
    status: ClusterRolloutStatus
    workloads: NamedWorkloads
    seen: Workloads
    template: str
    wanted_digest: str
    snapshot: str
    applied: bool
    now: datetime
    answers: Answers
    gate: Callable[[ClusterRolloutStatus], Passage | Frozen]
    """Leave to move the pods of the next batch, or why they must not start to."""
    templates: Mapping[NamespacedName, MetricTemplate] = field(default_factory=dict)
    turn: str = ""
    goes_back: bool = False
    emptied: tuple[EmptiedWorkload, ...] = ()
    renewed: bool = False
    refused: tuple[RefusedStep, ...] = ()

    @property
    def about(self) -> tuple[str, str]:
        """What distinguishes the rollout from an earlier one of its name."""
        return str(self.record.key), time_text(self.record.created)

    @property
    def variables(self) -> dict[str, str]:
        """The variables of its queries."""
        target = self.workloads.target
        return {
            "cluster": self.status.cluster,
            "namespace": target.namespace,
            "name": target.name,
            "kind": target.kind,
            "rollout": self.record.key.name,
            "batch": str(self.status.current_batch),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Advanced:
    """What became of it: the calls that are to be under way, when time alone changes something, what it waits for
    ("" where it waits for nothing), whether only a person can let it go on, and whether that is a closed gate."""

    status: ClusterRolloutStatus
    calls: tuple[Call, ...] = ()
    wake_at: datetime | None = None
    waits: str = ""
    asks: bool = False
    gated: bool = False


def is_placed(live: LiveObject | None) -> bool:
    """Whether gitfleet has applied an object for a placement."""
    return live is not None and any(is_own_apply(entry) for entry in managed_entries(live.body))


@dataclass(frozen=True, slots=True)
class Needed:
    """Whether anybody wants the target, and any of the sources: a placement, or whoever made it beside gitfleet."""

    target: bool
    sources: bool

    @classmethod
    def of(cls, workloads: NamedWorkloads, placed: PlacedObjects, seen: Workloads) -> Needed:
        """As things are on one cluster."""
        live = {workload.key.identity: workload for workload in (seen.target, *seen.sources) if workload is not None}

        def is_wanted(key: ObjectKey) -> bool:
            observed = live.get(key.identity)
            return key.identity in placed.manifests or (observed is not None and not is_placed(observed))

        return cls(is_wanted(workloads.target), any(map(is_wanted, workloads.sources)))


def why_left(unfinished: Sequence[ObjectKey], what: str, refused: Collection[RefusedStep]) -> tuple[str, bool]:
    """The sentence that says which objects still have something to do, with why the last attempt failed, and whether
    only a person can change that."""
    failed = next((step for step in refused if step.key in unfinished), None)
    first = failed.key if failed is not None else unfinished[0]
    more = f", and {len(unfinished) - 1} more" if len(unfinished) > 1 else ""
    if failed is None:
        return f"{first} {what}{more}", False
    return f"{first} {what}{more}; {failed.sentence}", failed.lasts


def workloads_of(
    workloads: NamedWorkloads, status: ClusterRolloutStatus, placed: PlacedObjects, observation: ClusterObservation
) -> Workloads:
    """The workloads as they were observed; NotFoundHere where one of them was not."""
    manifest = placed.manifests.get(workloads.target.identity)
    target = live_of(observation, workloads.target)
    sources = tuple(live for key in workloads.sources if (live := live_of(observation, key)) is not None)
    pods = pods_of(workloads.target, observation) or ()
    before = status.template_before
    if manifest is not None and before == workloads.handler.template(manifest.body):
        before = None
    return Workloads(
        target=target,
        sources=sources,
        pods=pods,
        wanted=manifest.body if manifest is not None else None,
        originals=originals_of(status, workloads.target),
        before=before,
        scalers=tuple(_scalers(workloads, placed, observation)),
    )


def _scalers(workloads: NamedWorkloads, placed: PlacedObjects, observation: ClusterObservation) -> Iterator[Autoscaler]:
    for workload in (workloads.target.identity, *(key.identity for key in workloads.sources)):
        manifest = placed.scalers.get(workload)
        if manifest is not None and (live := observation.live.get(manifest.key)) is not None:
            yield Autoscaler(workload, live, manifest.body)


def is_settling(status: ClusterRolloutStatus) -> bool:
    """Whether a rollout succeeded before all pods of its target are ready, as its limits allow: they may still come.
    Of others that are over nobody reads the pods any more."""
    return status.rolling_state is RollingState.SUCCEEDED and status.upgraded_ready_replicas < status.target_size


def needs_pods(status: ClusterRolloutStatus, handler: WorkloadHandler | None) -> bool:
    """Whether a rollout is judged by the pods of its target: one that is under way in place, or may still go back,
    where the kind of workload asks for it."""
    may_go_back = status.rolling_state is RollingState.FAILED and status.template_before is not None
    in_place = (status.is_running or may_go_back or is_settling(status)) and status.mode in (None, RolloutMode.IN_PLACE)
    return in_place and handler is not None and handler.needs_pods


def lacks_pods(workloads: NamedWorkloads, status: ClusterRolloutStatus, observation: ClusterObservation) -> bool:
    """Whether the pods were not read that a rollout is judged by."""
    return needs_pods(status, workloads.handler) and pods_of(workloads.target, observation) is None


def pods_of(target: ObjectKey, observation: ClusterObservation) -> tuple[LiveObject, ...] | None:
    """The pods of a workload, whatever version names it; None where they were not read."""
    if (pods := observation.pods.get(target)) is not None or not observation.pods:
        return pods
    return next((own for key, own in observation.pods.items() if key.identity == target.identity), None)


def originals_of(status: ClusterRolloutStatus, target: ObjectKey) -> Fields | None:
    """The values that the target's fields had before the rollout held them."""
    values: JsonValue = (status.originals or {}).get(key_text(target))
    return {p: ABSENT if v is None else v for p, v in values.items()} if isinstance(values, Mapping) else None
