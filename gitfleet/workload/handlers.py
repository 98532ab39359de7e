"""What a rollout needs to know of a kind of workload: the plug-in point of the seed (scale the resources, determine the
health of the workload, report how many replicas are upgraded and ready), and values that go in and out of it.

Third parties write one as an entry point `gitfleet.workload_handlers`, named KIND.GROUP; its public address is
`gitfleet.ports.workloads`. A handler is pure: the same arguments give the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, TypeAlias

from gitfleet.api.objects import GroupKind, JsonObject, ObjectKey
from gitfleet.api.rollout_plans import RolloutStrategy
from gitfleet.api.workload_records import RolloutMode
from gitfleet.model.held_fields import Fields
from gitfleet.model.observations import LiveObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Workloads:
    """The workloads of one rollout on one cluster as they were observed: the one with the newer content, those with the
    older one (none where the target has both), and the target's pods where the handler asked for them.

    `wanted` is the target as its placement wants it, None where no placement has it. `originals` are the values that
    the fields of the target had which the rollout holds, from before it held them.
    """

    target: LiveObject | None
    sources: tuple[LiveObject, ...] = ()
    pods: tuple[LiveObject, ...] = ()
    wanted: JsonObject | None = None
    originals: Fields | None = None


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
    `observed` says that the controllers have seen the newest spec and given all that it asks for."""

    upgraded: int = 0
    upgraded_ready: int = 0
    old: int = 0
    old_ready: int = 0
    observed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaling:
    """What is to be done for a step: `fields` of workloads by their key, each with the value that it is to have, and
    pods that are to go, for their controller to make new ones. A rollout holds the fields that it names."""

    fields: Mapping[ObjectKey, Fields]
    pods: tuple[LiveObject, ...] = ()


class WorkloadHandler:
    """One kind of workload. All that is not overridden is that of a workload whose `spec.replicas` alone is moved."""

    needs_pods: ClassVar[bool] = False
    """Whether it is to be given the pods of the target."""

    def size(self, workload: JsonObject) -> int:
        """How many pods a workload asks for."""
        raise NotImplementedError

    def template(self, workload: JsonObject) -> JsonObject:
        """The part of a workload of which pods are made: a rollout begins where it differs."""
        raise NotImplementedError

    def refusal(self, seen: Workloads, goal: Goal) -> str:
        """Why such a rollout cannot be carried out on such workloads, in one sentence; "" where it can."""
        return ""

    def health(self, seen: Workloads) -> str:
        """Why the workloads are not stable, in half a sentence; "" where they are."""
        raise NotImplementedError

    def counts(self, seen: Workloads, goal: Goal) -> Counts:
        """How many pods are upgraded and ready."""
        raise NotImplementedError

    def scale(self, seen: Workloads, goal: Goal, step: Step) -> Scaling:
        """What the fields are to be for a step, of every workload that is there, and of the target where it is still to
        be made; the same for the same arguments, and for as long as the step lasts."""
        raise NotImplementedError


HandlerFactory: TypeAlias = Callable[[], WorkloadHandler]
Handlers: TypeAlias = Mapping[GroupKind, WorkloadHandler]
"""By the kind of the workload."""
