"""MemberReport (gitfleet.dev/v1alpha1): what the agent of one cluster reports.

It stands as `report.yaml` on the branch of the cluster, beside the objects themselves (`objects/`) and those that
operations came to (`applied/`). The hub trusts none of it beyond that cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final

from gitfleet.api.annotations import At
from gitfleet.api.clusters import PropertyValue, ResourceUsage
from gitfleet.api.conditions import Status
from gitfleet.api.fleet import GITFLEET_GROUP
from gitfleet.api.layout import document
from gitfleet.api.objects import JsonObject, ObjectKey
from gitfleet.api.values import Time

REPORT_FILE: Final = "report.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedOutcome:
    """What came of the operation `id` of the delivery: `code` in one word, `message` in one sentence. With `live` the
    object is in `applied/`, as the API server answered."""

    id: str
    ok: bool
    code: str
    message: str = ""
    retry: bool = True
    live: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableObject:
    """An object that could not be read, and why."""

    object: ObjectKey
    reason: str


@document(lenient=True)
@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderCondition:
    """A condition that a property provider reports, without times."""

    type: str
    status: Status
    reason: str
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedPods:
    """The pods of a workload, with what a rollout needs of each."""

    workload: ObjectKey
    pods: tuple[JsonObject, ...] = ()


@document("status", identify=lambda _: (f"{GITFLEET_GROUP}/v1alpha1", "MemberReport"))
@dataclass(frozen=True, slots=True, kw_only=True)
class MemberReport:
    """One report: when it was made, what the API server said then, and what came of the `delivery` (a commit) that it
    answers.

    `identity` is a digest that no other cluster has, `server` the UID of its Namespace kube-system. `present` are
    the objects that are there, each with a file in `objects/`, `absent` those of which the server said NotFound.
    Where the agent did not reach its API server, `error` says why and the objects are not known. `pods` are those
    of the workloads of which they could be read.
    """

    cluster: Annotated[str, At("metadata", "name")]
    at: Time
    version: str = ""
    identity: str = ""
    delivery: str = ""
    reachable: bool = True
    healthy: bool = True
    error: str = ""
    outcomes: tuple[ReportedOutcome, ...] = ()
    present: tuple[ObjectKey, ...] = ()
    absent: tuple[ObjectKey, ...] = ()
    unreadable: tuple[UnreadableObject, ...] = ()
    namespaces: Mapping[str, str] | None = None
    server: str = ""
    properties: Mapping[str, PropertyValue] = field(default_factory=dict)
    resource_usage: ResourceUsage | None = None
    conditions: tuple[ProviderCondition, ...] = ()
    pods: tuple[ReportedPods, ...] = ()
