"""ClusterDelivery (gitfleet.dev/v1alpha1): what the agent of one cluster is to do, as the hub wrote it last.

It stands as `delivery.yaml` on the cluster's branch for deliveries, beside the manifests that it names.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Final

from gitfleet.api.annotations import At
from gitfleet.api.fleet import GITFLEET_GROUP
from gitfleet.api.layout import document
from gitfleet.api.objects import JsonObject, ObjectKey
from gitfleet.api.placements import OwnerText

DELIVERY_FILE: Final = "delivery.yaml"


class DeliveryAction(StrEnum):
    """What is done to an object: made where it is not there, applied over one that is there, deleted."""

    CREATE = "Create"
    UPDATE = "Update"
    DELETE = "Delete"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveredOperation:
    """One operation, with all that it needs beside the manifest in `file`.

    `id` names it in the agent's report. `wave` and `needs` order it among the others. An update is for the object with
    this `uid`; with a `resource_version` only while nobody changed it, which an equal `generation` proves as well,
    since every new status has another version. `removes` are the fields that go, as a tree of managedFields, and
    `propagation` is what becomes of the dependents of what is deleted, `permit` what lets it be deleted.
    """

    id: str
    action: DeliveryAction
    placement: OwnerText
    object: ObjectKey
    reason: str = ""
    file: str = ""
    wave: int = 0
    needs: tuple[ObjectKey, ...] = ()
    force: bool = True
    uid: str = ""
    generation: int = 0
    resource_version: str | None = None
    removes: JsonObject = field(default_factory=dict)
    propagation: str = ""
    permit: str = ""


class StepAction(StrEnum):
    """What a workload rollout does: some fields of an object are patched, a pod is deleted."""

    PATCH = "Patch"
    DELETE_POD = "DeletePod"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveredStep:
    """One step of the workload `rollout` (namespace/name), on the object with this `uid`.

    `id` names it in the agent's report. A `patch` (JSON merge patch) is for the object as long as it has this
    `generation`, or, where its kind has none, this `resource_version`.
    """

    id: str
    action: StepAction
    rollout: str
    object: ObjectKey
    reason: str = ""
    uid: str = ""
    generation: int = 0
    resource_version: str = ""
    patch: JsonObject = field(default_factory=dict)


@document("spec", identify=lambda _: (f"{GITFLEET_GROUP}/v1alpha1", "ClusterDelivery"))
@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterDelivery:
    """What one cluster's agent is to do, and which objects it is to report (`observe`).

    `heartbeat_seconds` is how often it reports while nothing changes. `steps` are those of workload rollouts, which an
    agent that does not know them leaves out; of the workloads in `pods` it reports the pods as well.
    """

    cluster: Annotated[str, At("metadata", "name")]
    heartbeat_seconds: int = 60
    operations: tuple[DeliveredOperation, ...] = ()
    observe: tuple[ObjectKey, ...] = ()
    steps: tuple[DeliveredStep, ...] = ()
    pods: tuple[ObjectKey, ...] = ()
