"""What goes into a workload handler, and what comes out of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from gitfleet.api.objects import Identity, JsonObject, ObjectKey
from gitfleet.api.rollout_plans import RolloutStrategy
from gitfleet.api.workload_records import RolloutMode
from gitfleet.model.observations import LiveObject
from gitfleet.model.rollout_fields import Fields


@dataclass(frozen=True, slots=True)
class Autoscaler:
    """What sets the replicas of a workload, as it is and as its manifest has it."""

    workload: Identity
    live: LiveObject
    manifest: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Workloads:
    """The workloads of one rollout on one cluster as they were observed: the one with the newer content, those with the
    older one (none where the target has both), and the target's pods where the handler asked for them: of a Deployment
    its ReplicaSets, which count their pods.

    `wanted` is the target as its placement wants it, None where no placement has it. `originals` are the values that
    the fields of the target had which the rollout holds, from before it held them. `before` is the pod template that
    was rolled out before the one that is wanted, None where it is not known. `scalers` are the autoscalers that
    placements have of the workloads.
    """

    target: LiveObject | None
    sources: tuple[LiveObject, ...] = ()
    pods: tuple[LiveObject, ...] = ()
    wanted: JsonObject | None = None
    originals: Fields | None = None
    before: JsonObject | None = None
    scalers: tuple[Autoscaler, ...] = ()


class Step(StrEnum):
    """What a rollout wants of its workloads now.

    `HOLD`: nothing moves, whatever content the target gets; `CLAIM`: it is made ready to move, and nothing moves yet;
    `FIRST` and `SECOND`: the two halves of a batch; `RELEASE`: all is done, and the fields are what they are to be
    without a rollout; `KEEP`: the pods stay as they are, for good; `REVERT`: back to the pods of before.
    """

    HOLD = "hold"
    CLAIM = "claim"
    FIRST = "first"
    SECOND = "second"
    RELEASE = "release"
    KEEP = "keep"
    REVERT = "revert"


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What a step is to reach.

    `original` is how many pods there were in all, `source_sizes` in each source; `size` is how many there are at the
    end. `before` and `upgraded` are how many pods have the newer content before and after the present batch (where
    pods follow each other at an interval, so many as may have it by now); `unavailable` is how many pods may be not
    ready meanwhile. `pod_list` are the names of the pods that have the newer content after the present batch, where
    batches name them.

    With mode Scale, `before` and `upgraded` are how many of the pods by which the sizes differ have been added or taken
    away. A source has the same place in `Workloads.sources` and in `source_sizes`.
    """

    mode: RolloutMode
    strategy: RolloutStrategy
    original: int
    size: int
    before: int = 0
    upgraded: int = 0
    unavailable: int = 0
    source_sizes: tuple[int, ...] = ()
    pod_list: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many pods there are: with the newer content (of which some are ready), and with the older one (likewise).
    `observed` says that the controllers have seen the newest spec and given all that it asks for; where they have not,
    no more pods count as upgraded than before the batch. With mode Scale, all pods count as upgraded."""

    upgraded: int = 0
    upgraded_ready: int = 0
    old: int = 0
    old_ready: int = 0
    observed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaling:
    """What is to be done for a step: `fields` of workloads, and of what is read as their pods, by their key, each with
    the value that it is to have, and pods that are to go, for their controller to make new ones. A rollout holds the
    fields that it names."""

    fields: Mapping[ObjectKey, Fields]
    pods: tuple[LiveObject, ...] = ()
