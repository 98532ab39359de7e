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
from gitfleet.model.held_fields import ABSENT, Fields
from gitfleet.model.observations import ClusterObservation, LiveObject
from gitfleet.model.operations import RefusedStep
from gitfleet.model.rolling import Frozen
from gitfleet.workload.fields import key_text
from gitfleet.workload.finding import Found, Wanted, live_of
from gitfleet.workload.handlers import WorkloadHandler, Workloads
from gitfleet.workload.handlers.values import Autoscaler
from gitfleet.workload.texts import WorkloadText


def always_open(_: object) -> Frozen | None:
    """A gate that keeps nothing from moving."""
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One rollout on one cluster. `template` identifies the newest content of the target, `wanted_digest` its manifest
    and `snapshot` the one that the cluster has of the placement that the rollout names ("" for none); `applied` says
    that the target has been applied as it is wanted, `owned` that it is gitfleet's, `taken_over` that somebody else had
    made it; `turn` why another cluster comes first ("": it is this one's turn); `renewed` that the plan is another one
    than in the pass before, or the file came back; `goes_back` that the target is to be deleted while a source is to
    stay; `mixed` that another rollout has left it with pods of two contents; `emptied` what keeps no pods where the
    rollout names other workloads from now on; `refused` which of its steps the pass before could not carry out."""

    record: RolloutRecord
    status: ClusterRolloutStatus
    found: Found
    seen: Workloads
    template: str
    wanted_digest: str
    snapshot: str
    applied: bool
    now: datetime
    answers: Answers
    templates: Mapping[NamespacedName, MetricTemplate] = field(default_factory=dict)
    turn: str = ""
    goes_back: bool = False
    mixed: bool = False
    emptied: tuple[EmptiedWorkload, ...] = ()
    owned: bool = True
    taken_over: bool = False
    renewed: bool = False
    refused: tuple[RefusedStep, ...] = ()
    gate: Callable[[ClusterRolloutStatus], Frozen | None] = always_open
    """Why the pods of the next batch must not start to move; None where they may."""

    @property
    def about(self) -> tuple[str, str]:
        """What distinguishes the rollout from an earlier one of its name."""
        return str(self.record.key), time_text(self.record.created)

    @property
    def variables(self) -> dict[str, str]:
        """The variables of its queries."""
        target = self.found.target
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
    def of(cls, found: Found, wanted: Wanted, seen: Workloads) -> Needed:
        """As things are on one cluster."""
        live = {one.key.identity: one for one in (seen.target, *seen.sources) if one is not None}

        def is_wanted(key: ObjectKey) -> bool:
            there = live.get(key.identity)
            return key.identity in wanted.manifests or (there is not None and not is_placed(there))

        return cls(is_wanted(found.target), any(map(is_wanted, found.sources)))


def file_is_gone(status: ClusterRolloutStatus) -> str:
    """What a person is to do about a rollout whose file went half way, in half a sentence."""
    return WorkloadText.FILE_GONE_CHANGE_MANIFEST_ANY(target=status.target)


def why_left(left: Sequence[ObjectKey], what: str, refused: Collection[RefusedStep]) -> tuple[str, bool]:
    """The sentence that says which objects still have something to do, with why the last attempt failed, and whether
    only a person can change that."""
    failed = next((one for one in refused if one.key in left), None)
    first = failed.key if failed is not None else left[0]
    more = f", and {len(left) - 1} more" if len(left) > 1 else ""
    if failed is None:
        return f"{first} {what}{more}", False
    return f"{first} {what}{more}; {failed.sentence}", failed.lasts


def workloads_of(
    found: Found, status: ClusterRolloutStatus, wanted: Wanted, observation: ClusterObservation
) -> Workloads:
    """The workloads as they were observed; NotFoundHere where one of them was not."""
    manifest = wanted.manifests.get(found.target.identity)
    target = live_of(observation, found.target)
    sources = tuple(live for key in found.sources if (live := live_of(observation, key)) is not None)
    pods = pods_of(found.target, observation) or ()
    before = status.template_before
    if manifest is not None and before == found.handler.template(manifest.body):
        before = None
    return Workloads(
        target=target,
        sources=sources,
        pods=pods,
        wanted=manifest.body if manifest is not None else None,
        originals=originals_of(status, found.target),
        before=before,
        scalers=tuple(_scalers(found, wanted, observation)),
    )


def _scalers(found: Found, wanted: Wanted, observation: ClusterObservation) -> Iterator[Autoscaler]:
    for workload in (found.target.identity, *(key.identity for key in found.sources)):
        manifest = wanted.scalers.get(workload)
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


def lacks_pods(found: Found, status: ClusterRolloutStatus, observation: ClusterObservation) -> bool:
    """Whether the pods were not read that a rollout is judged by."""
    return needs_pods(status, found.handler) and pods_of(found.target, observation) is None


def pods_of(target: ObjectKey, observation: ClusterObservation) -> tuple[LiveObject, ...] | None:
    """The pods of a workload, whatever version names it; None where they were not read."""
    if (found := observation.pods.get(target)) is not None or not observation.pods:
        return found
    return next((pods for key, pods in observation.pods.items() if key.identity == target.identity), None)


def originals_of(status: ClusterRolloutStatus, target: ObjectKey) -> Fields | None:
    """The values that the target's fields had before the rollout held them."""
    kept: JsonValue = (status.originals or {}).get(key_text(target))
    return {p: ABSENT if v is None else v for p, v in kept.items()} if isinstance(kept, Mapping) else None
