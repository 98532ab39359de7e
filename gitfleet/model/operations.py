"""What is to be done on a cluster, as data; and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from gitfleet.api.bindings import FieldWriter
from gitfleet.api.objects import Identity, JsonObject, Manifest, ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.values import NamespacedName
from gitfleet.formats.field_trees import FieldTree
from gitfleet.model.observations import LiveObject
from gitfleet.model.removals import Permit
from gitfleet.model.texts import ModelText

DifferenceDetails: TypeAlias = tuple[tuple[str, str | None, str | None], ...]
"""(JSON pointer, value in member, value in hub) of each differing field; None: the field is not there; secrets
masked."""


class KeepCode(StrEnum):
    """Why nothing is done to an object. `FOUND_DIFF` and `NO_DIFF_FOUND` are ReportDiff's results; all but those,
    `IN_PLACE` and `FINISHED` mean that it must be left alone for now: `HANDED_OVER` is another placement's already,
    `KEPT_FOR_SUCCESSOR` until the one has it that selects it now, `REMOVAL_HELD` until the removal rules let it go,
    `ROLLOUT` until a workload rollout has taken its pods away, `FOLDER` until another folder is there, or gone,
    `STEP` until a step has run, `STEP_RUNS` while it does; `FINISHED` is a Job that completed and is gone, or a
    step with nothing left to do."""

    IN_PLACE = "InPlace"
    FINISHED = "Finished"
    FOUND_DIFF = "FoundDiff"
    NO_DIFF_FOUND = "NoDiffFound"
    UNREADABLE = "Unreadable"
    NOT_OBSERVED = "NotObserved"
    TERMINATING = "Terminating"
    STAYS = "Stays"
    NAMESPACE_IN_USE = "NamespaceInUse"
    HANDED_OVER = "HandedOver"
    KEPT_FOR_SUCCESSOR = "KeptForSuccessor"
    REMOVAL_HELD = "RemovalHeld"
    ROLLOUT = "WaitsForRollout"
    FOLDER = "WaitsForFolder"
    STEP = "WaitsForStep"
    STEP_RUNS = "StepRuns"


class RefuseCode(StrEnum):
    """KubeFleet's reasons why an object is not applied, and `DUPLICATED`, `STEP_FAILED` and `INTERNAL_ERROR` of our
    own."""

    FAILED_TO_TAKE_OVER = "FailedToTakeOver"
    NOT_TAKEN_OVER = "NotTakenOver"
    FOUND_DRIFTS = "FoundDrifts"
    DUPLICATED = "Duplicated"
    STEP_FAILED = "StepFailed"
    INTERNAL_ERROR = "InternalError"


class PropagationPolicy(StrEnum):
    """What becomes of an object's dependents when it is deleted (DeleteOptions of the Kubernetes API)."""

    FOREGROUND = "Foreground"
    BACKGROUND = "Background"
    ORPHAN = "Orphan"


class OutcomeCode(StrEnum):
    """What came of an operation, in one word: done (`APPLIED`, `DELETED`, `DELETING`, `NOT_FOUND` of a delete), refused
    by the API server, or not asked of it."""

    APPLIED = "Applied"
    DELETED = "Deleted"
    DELETING = "Deleting"
    NOT_FOUND = "NotFound"
    CONFLICT = "Conflict"
    INVALID = "Invalid"
    FORBIDDEN = "Forbidden"
    UNAUTHORIZED = "Unauthorized"
    TOO_MANY_REQUESTS = "TooManyRequests"
    SERVER_ERROR = "ServerError"
    UNREACHABLE = "Unreachable"
    NOT_ASKED = "NotAsked"
    NEEDS_NAMESPACE = "NeedsNamespace"
    NEEDS_CRD = "NeedsCRD"
    OTHER_VERSION = "OtherVersion"
    INTERNAL_ERROR = "InternalError"


@dataclass(frozen=True, slots=True, kw_only=True)
class _OnCluster:
    """What is done on whose behalf, and why in one sentence; `step` is the content for which a step runs, "" for any
    other object."""

    cluster: str
    placement: PlacementKey
    reason: str
    step: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Apply(_OnCluster):
    """`wave` orders operations on one cluster; `needs` are objects that must exist first. `rendered` is the manifest
    that a placement has, where `manifest` has values beside it that a workload rollout holds."""

    manifest: Manifest
    wave: int
    needs: tuple[ObjectKey, ...] = ()
    force: bool = True
    rendered: Manifest | None = None

    @property
    def key(self) -> ObjectKey:
        """The object's key."""
        return self.manifest.key


@dataclass(frozen=True, slots=True, kw_only=True)
class Create(_Apply):
    """Apply an object that is not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Update(_Apply):
    """Apply over a live object; with `resource_version` only if nobody changed it meanwhile (IfNotDrifted). `removes`
    are the fields that go unless the manifest has them, whoever else set them (ClientSideApply, and what workload
    rollouts wrote); `writers` are those who changed what drifted."""

    live: LiveObject
    resource_version: str | None = None
    removes: FieldTree = field(default_factory=dict)
    writers: tuple[FieldWriter, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete(_OnCluster):
    """Delete an owned object; `uid` is a precondition, and `permit` is the removal gate's. `after_success`: it is the
    Job of a step that succeeded."""

    key: ObjectKey
    uid: str
    wave: int
    permit: Permit
    propagation: PropagationPolicy = PropagationPolicy.FOREGROUND
    after_success: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Release(_OnCluster):
    """Drop an object from the inventory without touching it: it is gone, was abandoned, or is somebody else's by
    now. `keeping` is what would take it along, where nobody is to delete it."""

    key: ObjectKey
    keeping: tuple[Identity, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compared(_OnCluster):
    """Nothing is written; `details` are the differences that were found and left as they are, `writers` who wrote
    them."""

    key: ObjectKey
    manifest: Manifest | None = None
    live: LiveObject | None = None
    details: DifferenceDetails = ()
    writers: tuple[FieldWriter, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Keep(_Compared):
    """Nothing to do: the live object is what it should be, or must be left alone for now, as `code` says; `until` is
    when a step that runs is late."""

    code: KeepCode = KeepCode.IN_PLACE
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refuse(_Compared):
    """Not applied, and why: `code` in one word, `reason` in one sentence."""

    code: RefuseCode


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """What a workload rollout does to one object on a cluster, and why; `uid` is a precondition."""

    cluster: str
    rollout: NamespacedName
    reason: str
    key: ObjectKey
    uid: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch(_Step):
    """A JSON merge patch (RFC 7396) of fields that the rollout has taken, only while nobody changed the object
    (`resource_version`)."""

    resource_version: str
    patch: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletePod(_Step):
    """A pod goes, for its controller to make a new one."""


Operation: TypeAlias = Create | Update | Delete | Release | Keep | Refuse
Write: TypeAlias = Create | Update | Delete
"""An operation that is carried out on a cluster for a placement."""
RolloutWrite: TypeAlias = Patch | DeletePod
"""An operation that is carried out on a cluster for a workload rollout."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutOutcome:
    """What came of one step of a workload rollout; the fields are those of an Outcome."""

    operation: RolloutWrite
    ok: bool
    code: OutcomeCode
    message: str = ""


def is_refused(ok: bool, code: str) -> bool:
    """Whether a step of a workload rollout was refused; after a conflict it is decided again."""
    return not ok and code != OutcomeCode.CONFLICT


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedStep:
    """A step of a workload rollout that was refused: on which object, and why in one sentence."""

    cluster: str
    rollout: NamespacedName
    key: ObjectKey
    code: OutcomeCode
    message: str

    @property
    def sentence(self) -> str:
        """Why, without the object."""
        return ModelText.LAST_ATTEMPT_FAILED(why=self.message)

    @property
    def lasts(self) -> bool:
        """Whether trying again without a change cannot help."""
        return self.code in _LASTING


_LASTING = frozenset({OutcomeCode.INVALID, OutcomeCode.FORBIDDEN, OutcomeCode.UNAUTHORIZED, OutcomeCode.NEEDS_CRD})


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one operation.

    `live` is the object as the server returned it (None after a delete that is complete, or on failure). `retry` says
    whether trying again without a change can help. `message` is one sentence, without any secret.
    """

    operation: Operation
    ok: bool
    code: OutcomeCode
    message: str = ""
    live: LiveObject | None = None
    retry: bool = True
