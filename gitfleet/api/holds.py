"""Hold (gitfleet.dev/v1alpha1): removals of one commit that wait for a person's approval (decisions D25 and D31).

gitfleet writes one file for each on its state branch; a ClusterApprovalRequest of the same name on the watched branch
answers it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import sha256
from operator import itemgetter
from typing import Annotated, Final, assert_never

from gitfleet.api.annotations import At, Location, Only
from gitfleet.api.conditions import Conditions, Status, find_condition
from gitfleet.api.fleet import GITFLEET_GROUP
from gitfleet.api.layout import document
from gitfleet.api.objects import GroupKind, ObjectKey, Origin
from gitfleet.api.placements import OwnerText, PlacementKey
from gitfleet.api.texts import ApiText
from gitfleet.api.values import Time

ALLOW_EMPTY: Final = "gitfleet.dev/allow-empty"
"""The annotation of a placement, "true", that lets its selection and its clusters become none (decision D31)."""
APPROVED: Final = "Approved"
REWRITE_PREFIX: Final = "rewrite-"
"""What the name of every approval of a new head of the watched branch begins with."""
HOLD_PREFIX: Final = "hold-"
"""What the name of every hold, and so of its approval, begins with."""
MOST_LISTED: Final = 100
"""So many removals of a hold are named at most, where it has more than that `_LISTED_OF_EACH` placement."""
_LISTED_OF_EACH: Final = 10


class RemovalKind(StrEnum):
    """What a commit takes away: a placement, a member cluster, an object of a placement's selection, a cluster that
    a placement's policy picks no more (its binding), an object of a placement on one cluster, by an override of type
    Delete, or a placement's strategy External, and with it the stages and approvals of its rollouts (decision record
    0019)."""

    PLACEMENT = "Placement"
    CLUSTER = "Cluster"
    OBJECT = "Object"
    BINDING = "Binding"
    OVERRIDDEN = "Overridden"
    STRATEGY = "Strategy"


@dataclass(frozen=True, slots=True)
class FieldPlace:
    """A field of an object that was read from a file."""

    origin: Origin
    location: Location


@dataclass(frozen=True, slots=True)
class Cause:
    """Where a removal comes from: a place in the repo ("" where none is known) and what happened there; `hidden`
    is the file that an ignore rule or a rename hides ("" where nothing does). `field` is what changed at the place, as
    long as its own line is not known: `line` is the object's then."""

    path: str = ""
    line: int = 1
    text: str = ""
    hidden: str = ""
    field: Annotated[FieldPlace | None, Only.MEMORY] = None

    def at_line(self, line: int) -> Cause:
        """The same with the line of its field."""
        return replace(self, line=line, field=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """One thing that a commit takes away; `placement`, `cluster` and `object` as its kind needs them.

    `override` names one that takes the object, for people. The same object under another version is the same one: what
    names it is `id`. `reasons` are the numbers, from 0, of the hold's reasons that this one waits for; none stands for
    all of them.
    """

    kind: RemovalKind
    placement: OwnerText | None = None
    cluster: str = ""
    object: ObjectKey | None = None
    override: str = ""
    cause: Cause = Cause()
    reasons: tuple[int, ...] = ()

    @property
    def id(self) -> str:
        """One text that no other removal of a fleet has."""
        match self.kind:
            case RemovalKind.PLACEMENT:
                return f"Placement {self.placement}"
            case RemovalKind.CLUSTER:
                return f"Cluster {self.cluster}"
            case RemovalKind.OBJECT:
                return f"Object {self._object_id} of {self.placement}"
            case RemovalKind.BINDING:
                return ApiText.BINDING(placement=self.placement, cluster=self.cluster)
            case RemovalKind.OVERRIDDEN:
                return f"Overridden {self._object_id} of {self.placement} on {self.cluster}"
            case RemovalKind.STRATEGY:
                return f"Strategy of {self.placement}"
            case other:
                assert_never(other)

    def __str__(self) -> str:
        """For people."""
        match self.kind:
            case RemovalKind.PLACEMENT:
                return f"placement {self.placement}"
            case RemovalKind.CLUSTER:
                return f"cluster {self.cluster}"
            case RemovalKind.OBJECT:
                return ApiText.PLACEMENT(object=self.object, placement=self.placement)
            case RemovalKind.BINDING:
                return ApiText.PLACEMENT_CLUSTER(placement=self.placement, cluster=self.cluster)
            case RemovalKind.OVERRIDDEN:
                return ApiText.PLACEMENT_CLUSTER_2(object=self.object, placement=self.placement, cluster=self.cluster)
            case RemovalKind.STRATEGY:
                change = ApiText.CHANGE_PLACEMENT_FROM_EXTERNAL(placement=self.placement)
                return ApiText.ENDS_STAGES_APPROVALS_RUNS(change=change)
            case other:
                assert_never(other)

    @property
    def _object_id(self) -> str:
        key = self.object
        return f"{GroupKind(key.group, key.kind)} {key.namespace}/{key.name}" if key else ""


class HoldRule(StrEnum):
    """Which rule holds: a share is exceeded (D25), a selection or its clusters became none, what is placed is
    hidden or misspelt (D31), rollouts would need no run any more (record 0019), a freeze, pin or quarantine would not
    count for what moves to another placement (record 0021), an earlier hold could not be read any more, or the commit
    has an error (invariant 2)."""

    MASS_DELETION = "MassDeletion"
    EMPTY_SELECTION = "EmptySelection"
    LAST_CLUSTER = "LastCluster"
    IGNORED_FILE = "IgnoredFile"
    LIKELY_TYPO = "LikelyTypo"
    LABELS_CHANGED = "LabelsChanged"
    NOT_EXTERNAL = "NotExternal"
    GATE_LOST = "GateLost"
    UNREADABLE_HOLD = "UnreadableHold"
    UNCLEAR_COMMIT = "UnclearCommit"


OF_GATES: Final = (HoldRule.NOT_EXTERNAL, HoldRule.GATE_LOST)
"""The rules that hold what another placement takes over, since it does so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldReason:
    """Why a hold is there: what the commit does, and the causes of what is held of it still, with the place in the
    repo of the first ("" where none is known). `error_in` is the file with whose error this reason ends, `unread` the
    one that is out of sight until then ("": none). `field` is what the message names by the place of its object, as
    long as its own line is not known."""

    rule: HoldRule
    message: str
    causes: str = ""
    path: str = ""
    line: int = 0
    error_in: str = ""
    unread: str = ""
    field: Annotated[FieldPlace | None, Only.MEMORY] = None

    def at_line(self, line: int) -> HoldReason:
        """The same with the line of its field."""
        if self.field is None:
            return self
        origin = self.field.origin
        return replace(self, message=self.message.replace(f"({origin})", f"({origin.path}:{line})", 1), field=None)

    @property
    def sentence(self) -> str:
        """What the commit does, and by which causes."""
        return f"{self.message}: {self.causes}" if self.causes else self.message

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.sentence}" if self.path else self.sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterCount:
    """How many placed objects would go from a cluster, and how many would stay there unmanaged as
    the cluster leaves the fleet (Abandon)."""

    cluster: str
    objects: int
    unmanaged: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MoreRemovals:
    """How many removals of a placement (of clusters, where there is none) a file does not list."""

    placement: OwnerText | None = None
    removals: int


@document("spec", identify=lambda _: (f"{GITFLEET_GROUP}/v1alpha1", "Hold"))
@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """Removals that are not carried out until a person approves them.

    `commit` is the one that first asked for them, `digest` covers it and the set of removals as it was asked for: an
    approval is for this very set; `after` is the commit that was reconciled before it. `removals` are those that the
    newest commit still asks for, all of them but for what `more` counts: that is empty outside of files and views.
    `reasons`, `objects` and `clusters` say why they wait and count what would go now. `conditions` has Approved once a
    person answered, Unknown where no answer counts.
    """

    name: Annotated[str, At("metadata", "name")]
    commit: str
    after: str = ""
    since: Time
    digest: str
    reasons: tuple[HoldReason, ...] = ()
    removals: tuple[Removal, ...] = ()
    objects: Annotated[int, At("status", "objects")] = 0
    clusters: Annotated[tuple[ClusterCount, ...], At("status", "clusters")] = ()
    more: Annotated[tuple[MoreRemovals, ...], At("status", "more")] = ()
    conditions: Annotated[Conditions, At("status", "conditions")] = ()

    @property
    def namespace(self) -> str:
        """Holds are cluster-scoped."""
        return ""

    @property
    def total(self) -> int:
        """How many removals wait."""
        return len(self.removals) + sum(row.removals for row in self.more)

    @property
    def listed(self) -> Hold:
        """The same with as many removals as a person reads: all where there are few, else the first of each
        placement."""
        if len(self.removals) <= MOST_LISTED:
            return self
        of: Counter[PlacementKey | None] = Counter()
        shown: list[Removal] = []
        for removal in self.removals:
            of[removal.placement] += 1
            if of[removal.placement] <= _LISTED_OF_EACH and len(shown) < MOST_LISTED:
                shown.append(removal)
        of.subtract(removal.placement for removal in shown)
        rows = sorted(((str(key or ""), key, left) for key, left in of.items() if left), key=itemgetter(0))
        more = tuple(MoreRemovals(placement=key, removals=left) for _, key, left in rows)
        return replace(self, removals=tuple(shown), more=more)

    @property
    def answer(self) -> Status | None:
        """Approved (true) or rejected (false); None while nobody has answered whose answer counts."""
        return answer_of(self.conditions)


def answer_of(conditions: Conditions) -> Status | None:
    """What the condition Approved says, None while it says nothing or Unknown."""
    found = find_condition(conditions, APPROVED)
    return found.status if found is not None and found.status is not Status.UNKNOWN else None


def removals_digest(commit: str, removals: Iterable[Removal]) -> str:
    """SHA-256 hex of a set of removals and the commit that asks for it: the same set in a later commit needs an
    approval of its own."""
    return sha256("\n".join([commit, *sorted(removal.id for removal in removals)]).encode()).hexdigest()
