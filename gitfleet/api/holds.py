"""Hold (gitfleet.dev/v1alpha1): removals of one commit, and the rules that hold them (docs/removal.md).

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
from typing import Annotated, Final

from gitfleet.api.annotations import At
from gitfleet.api.conditions import Conditions, Status, answer_of
from gitfleet.api.fleet import GITFLEET_GROUP
from gitfleet.api.layout import document
from gitfleet.api.objects import GroupKind, ObjectKey
from gitfleet.api.placements import OwnerText, PlacementKey
from gitfleet.api.texts import ApiText
from gitfleet.api.values import Time

ALLOW_EMPTY: Final = "gitfleet.dev/allow-empty"
"""The annotation of a placement or a MemberCluster, "true", that turns the rule `Emptied` off."""
MOST_LISTED: Final = 100
"""So many removals of a hold are named at most, where it has more than that `_LISTED_OF_EACH` placement."""
_LISTED_OF_EACH: Final = 10


class RemovalKind(StrEnum):
    """What a hold lists: an object that no cluster is to have of a placement any more, a cluster on which a placement
    is not wanted any more (its binding), or a cluster that leaves the fleet. A whole placement, an object that an
    override deletes on one cluster, and a change of strategy stand only in holds of release 2."""

    OBJECT = "Object"
    BINDING = "Binding"
    CLUSTER = "Cluster"
    PLACEMENT = "Placement"
    OVERRIDDEN = "Overridden"
    STRATEGY = "Strategy"


class HoldRule(StrEnum):
    """The removal rules (docs/removal.md). The first three are judged at every decision, the others once."""

    STATE_RESTORED = "StateRestored"
    COMMIT_HAS_ERRORS = "CommitHasErrors"
    STILL_IN_REPO = "StillInRepo"
    EMPTIED = "Emptied"
    MASS_REMOVAL = "MassRemoval"
    PROTECTED_KIND = "ProtectedKind"
    APPROVAL_REQUIRED = "ApprovalRequired"


_IDS: Final = {
    RemovalKind.OBJECT: "Object {object} of {placement}",
    RemovalKind.BINDING: "Binding of {placement} to {cluster}",
    RemovalKind.CLUSTER: "Cluster {cluster}",
    RemovalKind.PLACEMENT: "Placement {placement}",
    RemovalKind.OVERRIDDEN: "Overridden {object} of {placement} on {cluster}",
    RemovalKind.STRATEGY: "Strategy of {placement}",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """One entry of a hold; `placement`, `cluster` and `object` as its kind needs them.

    The same object under another version is the same one: `id` names it. `blob` is the file that the object was read
    from ("": built, or not known). `judged` are the rules that were judged once and hold it, `rules` all that hold it
    now.
    """

    kind: RemovalKind
    placement: OwnerText | None = None
    cluster: str = ""
    object: ObjectKey | None = None
    blob: str = ""
    judged: tuple[HoldRule, ...] = ()
    rules: tuple[HoldRule, ...] = ()

    @property
    def id(self) -> str:
        """One text that no other removal of a fleet has."""
        return _IDS[self.kind].format(placement=self.placement, cluster=self.cluster, object=self._object_id)

    def __str__(self) -> str:
        """For people."""
        if self.object is not None:
            return ApiText.PLACEMENT(object=self.object, placement=self.placement)
        if self.placement is not None and self.cluster:
            return ApiText.PLACEMENT_CLUSTER(placement=self.placement, cluster=self.cluster)
        return f"cluster {self.cluster}" if self.placement is None else f"placement {self.placement}"

    @property
    def _object_id(self) -> str:
        key = self.object
        return f"{GroupKind(key.group, key.kind)} {key.namespace}/{key.name}" if key else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldReason:
    """A rule that holds something of a hold now, and why, in a sentence."""

    rule: HoldRule
    message: str

    def __str__(self) -> str:
        return f"{self.rule.value}: {self.message}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterCount:
    """How many owned objects are to go from a cluster."""

    cluster: str
    objects: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MoreRemovals:
    """How many removals of a placement (of clusters, where there is none) a file does not list."""

    placement: OwnerText | None = None
    removals: int


@document("spec", identify=lambda _: (f"{GITFLEET_GROUP}/v1alpha1", "Hold"))
@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """The objects, or the clusters, that one commit takes from a placement; or one cluster that leaves the fleet.

    `commit` is the one that first asked for it, `after` the commit that was reconciled before it. `digest` covers the
    commit and the whole list as it was asked for: an approval is for this very list. `removals` are the entries that
    are still to go, all of them but for what `more` counts: that is empty outside of files and views. An entry is held
    by its `rules`; one without any goes with its cluster's turn. `guarded`: an object that is still in the repo is held
    (the setting of the removals was not `Never`). `paced`: something of it was held once, so that it goes on at most
    `maxUnavailable` clusters at a time. `reasons` say why something is held now, `objects` and `clusters`
    count what is to go. `conditions` has Approved once a person answered, Unknown where no answer counts.
    """

    name: Annotated[str, At("metadata", "name")]
    commit: str
    after: str = ""
    since: Time
    digest: str
    guarded: bool = True
    paced: bool = False
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
    def waits(self) -> bool:
        """Whether a rule holds something of it that nobody has approved."""
        return self.answer is not Status.TRUE and bool(self.reasons)

    @property
    def placements(self) -> frozenset[PlacementKey]:
        """The placements whose removals it has."""
        keys = [removal.placement for removal in self.removals] + [row.placement for row in self.more]
        return frozenset(key for key in keys if key is not None)

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
        rows = sorted(((str(key or ""), key, count) for key, count in of.items() if count), key=itemgetter(0))
        more = tuple(MoreRemovals(placement=key, removals=count) for _, key, count in rows)
        return replace(self, removals=tuple(shown), more=more)

    @property
    def answer(self) -> Status | None:
        """Approved (true) or rejected (false); None while nobody has answered whose answer counts."""
        return answer_of(self.conditions)


def removals_digest(commit: str, removals: Iterable[Removal]) -> str:
    """SHA-256 hex of a set of removals and the commit that asks for it: the same set in a later commit needs an
    approval of its own."""
    return sha256("\n".join([commit, *sorted(removal.id for removal in removals)]).encode()).hexdigest()
