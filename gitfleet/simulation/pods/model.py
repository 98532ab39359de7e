"""The pods of a workload as a value, and what is asked about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple, TypeAlias

from gitfleet.api.objects import GroupKind, JsonObject
from gitfleet.api.scenarios import Delay

DEPLOYMENT: Final = GroupKind("apps", "Deployment")
STATEFUL_SET: Final = GroupKind("apps", "StatefulSet")
DAEMON_SET: Final = GroupKind("apps", "DaemonSet")
CLONE_SET: Final = GroupKind("apps.kruise.io", "CloneSet")
KINDS: Final = frozenset({DEPLOYMENT, STATEFUL_SET, DAEMON_SET, CLONE_SET})
"""The kinds whose pods are simulated."""
MOST_PODS: Final = 5000
"""A workload that asks for more is refused, and a cluster has no more nodes."""
NEVER_AVAILABLE: Final = 2147483646
"""`minReadySeconds` of at least this (68 years) are never over."""


class Pod(NamedTuple):
    """One pod. `place` is the ordinal of a StatefulSet's pod and the node of a DaemonSet's; `serial` no other pod of
    the workload ever has. `ready` is the moment at which it becomes or became Ready; None: never."""

    serial: int
    place: int
    revision: int
    created: datetime
    ready: datetime | None


@dataclass(slots=True)
class Revision:
    """One template of a workload, and its pods. `delay` is how long they take to become ready.

    The rest is what a Deployment writes into a ReplicaSet: the replicas that it wanted and had at most when it scaled
    the ReplicaSet last, and its `minReadySeconds`.
    """

    number: int
    template: Any
    delay: Delay
    desired: int = 0
    most: int = 0
    min_ready: int = 0
    pods: list[Pod] = field(default_factory=list)


def copy_of(revision: Revision) -> Revision:
    """The revision, to be worked on without changing the value."""
    return replace(revision, pods=[*revision.pods])


class Workload(NamedTuple):
    """A workload's revisions with their pods, the newest last. `current` is the number of the revision that its
    controller counts as the current one, `made` how many pods there were so far, and `since` the moment from which
    delays count: the latest change of the spec, or deletion of a pod."""

    since: datetime
    revisions: tuple[Revision, ...] = ()
    current: int = 0
    made: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """When and where controllers work: the time, the cluster's nodes, and what the rules say of a template's pods."""

    now: datetime
    nodes: int
    delay_of: Callable[[Any], Delay]


class Controlled(NamedTuple):
    """What controllers made of a workload: its pods and status, whether all is as the spec wants it (`complete`),
    whether nothing changes by itself any more though something keeps it in the middle (`halted`), and when it changes
    next. `revision` is the number of the newest content, where the kind writes it into the object and it is known."""

    workload: Workload
    status: JsonObject
    complete: bool
    halted: bool
    due: datetime | None
    revision: int | None = None


Status: TypeAlias = dict[str, Any]
Spec: TypeAlias = Mapping[str, Any]
_NOTHING: Final[Spec] = {}


def spec_of(body: JsonObject) -> Spec:
    """An object's spec."""
    return section(body, "spec")


def section(value: Any, *path: str) -> Spec:
    """The mapping at a path; an empty one where there is none."""
    for name in path:
        value = value.get(name) if isinstance(value, dict | Mapping) else None
    return value if isinstance(value, dict | Mapping) else _NOTHING


def number(value: Any, default: int) -> int:
    """A whole number of at least 0, as a field has it."""
    return max(value, 0) if isinstance(value, int) else default


def share(value: Any, default: int | str, total: int, *, up: bool) -> int:
    """A whole number, or a percentage of `total` rounded up or down; what is neither counts as the default.

    Source: apimachinery `intstr.GetScaledValueFromIntOrPercent`.
    """
    for candidate in (value, default):
        if isinstance(candidate, int):
            return max(candidate, 0)
        if isinstance(candidate, str) and candidate.endswith("%") and candidate[:-1].isdecimal() and len(candidate) < 6:
            product = int(candidate[:-1]) * total
            return -(-product // 100) if up else product // 100
    raise ValueError("the default is neither a whole number nor a percentage")


def saved(workload: Workload) -> JsonObject:
    """A workload as JSON, for the file of a saved cluster; templates stand there in full, since the object has the
    newest one alone."""
    return {
        "since": workload.since.isoformat(),
        "current": workload.current,
        "made": workload.made,
        "revisions": [
            {
                "number": revision.number,
                "template": revision.template,
                "delay": revision.delay.total_seconds() if isinstance(revision.delay, timedelta) else None,
                "wanted": revision.desired,
                "most": revision.most,
                "minReady": revision.min_ready,
                "pods": [
                    [pod.serial, pod.place, pod.created.isoformat(), pod.ready.isoformat() if pod.ready else None]
                    for pod in revision.pods
                ],
            }
            for revision in workload.revisions
        ],
    }


def loaded(value: Mapping[str, Any]) -> Workload:
    """The workload again. ValueError, KeyError or TypeError for anything else."""
    return Workload(
        since=datetime.fromisoformat(value["since"]),
        current=int(value["current"]),
        made=int(value["made"]),
        revisions=tuple(map(_revision, value["revisions"])),
    )


def _revision(value: Mapping[str, Any]) -> Revision:
    delay: Delay = "never" if value["delay"] is None else timedelta(seconds=value["delay"])
    number, replicas, most, ready = (int(value[name]) for name in ("number", "wanted", "most", "minReady"))
    pods = [_pod(number, *parts) for parts in value["pods"]]
    return Revision(number, value["template"], delay, replicas, most, ready, pods)


def _pod(revision: int, serial: int, place: int, created: str, ready: str | None) -> Pod:
    at = datetime.fromisoformat(ready) if ready else None
    return Pod(serial, place, revision, datetime.fromisoformat(created), at)
