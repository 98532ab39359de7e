"""What clusters are to have when all rollouts are finished, and which of the other objects may be deleted."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from gitfleet.api.objects import Identity, ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.model.texts import ModelText

Content = Collection[Identity]
ByCluster = Mapping[str, Content | None]
Wishes = Mapping[PlacementKey, Content | None]
"""What placements want on one cluster."""
_NOTHING: Content = frozenset()
_NO_WISH: Final[Wishes] = {}


@dataclass(frozen=True)
class WantedObjects:
    """By placement and cluster, the objects that the cluster is to have of it when all rollouts are finished; None
    where the placement wants all that it owns there. A placement that does not pick a cluster wants nothing there; one
    that is not known (`placements`) wants all that it owns. `later` is the newest content of those that do not apply it
    yet, as External ones: they are to take over what only that has. `variants` is what a placement has in any variant
    of its Folders, whether a cluster gets it or not."""

    placements: Mapping[PlacementKey, ByCluster] = field(default_factory=dict)
    later: Mapping[PlacementKey, ByCluster] = field(default_factory=dict)
    variants: Mapping[PlacementKey, Content] = field(default_factory=dict)

    def of(self, placement: PlacementKey, cluster: str) -> Content | None:
        """What a placement wants on a cluster."""
        clusters = self.placements.get(placement)
        return None if clusters is None else clusters.get(cluster, _NOTHING)

    def wants(self, placement: PlacementKey, cluster: str, identity: Identity) -> bool:
        """Whether a placement wants an object that it owns on a cluster."""
        content = self.of(placement, cluster)
        return content is None or identity in content

    def on(self, cluster: str) -> Wishes:
        """What the placements that pick a cluster want there, by key."""
        return self._by_cluster.get(cluster, _NO_WISH)

    def later_on(self, cluster: str) -> Wishes:
        """The same of their newest content."""
        return self._later_by_cluster.get(cluster, _NO_WISH)

    def sharing(self, last: WantedObjects) -> WantedObjects:
        """The same: for a cluster on which the same is wanted as in the last one, `on` and `later_on` give the very
        same mappings."""
        vars(self)["_by_cluster"] = _by_cluster(self.placements, last.placements, last._by_cluster)
        vars(self)["_later_by_cluster"] = _by_cluster(self.later, last.later, last._later_by_cluster)
        return self

    def taker(self, owner: PlacementKey, cluster: str, identity: Identity) -> PlacementKey | None:
        """See `taker_of`."""
        return taker_of(self.on(cluster), owner, identity) or taker_of(self.later_on(cluster), owner, identity)

    def wants_anything(self, placement: PlacementKey) -> bool:
        """Whether a placement is known to want an object on any cluster. One that cannot be rendered for a cluster may
        turn out to want nothing there."""
        clusters = self.placements.get(placement)
        return clusters is None or any(clusters.values())

    def has_anywhere(self, identity: Identity) -> bool:
        """Whether any placement wants an object on any cluster, or would on another one."""
        return identity in self._everywhere

    @cached_property
    def _by_cluster(self) -> Mapping[str, Wishes]:
        return _by_cluster(self.placements, {}, {})

    @cached_property
    def _later_by_cluster(self) -> Mapping[str, Wishes]:
        return _by_cluster(self.later, {}, {})

    @cached_property
    def _everywhere(self) -> frozenset[Identity]:
        contents = {id(c): c for clusters in self.placements.values() for c in clusters.values() if c}
        return frozenset[Identity]().union(*contents.values(), *self.variants.values())


def _by_cluster(
    placements: Mapping[PlacementKey, ByCluster],
    last: Mapping[PlacementKey, ByCluster],
    last_by_cluster: Mapping[str, Wishes],
) -> dict[str, Wishes]:
    """What placements want by cluster, with the mappings of the last ones where these wanted the same."""
    news: dict[str, dict[PlacementKey, Content | None]] = {}
    gone: dict[str, set[PlacementKey]] = {}
    for key in placements.keys() | last.keys():
        old, new = last.get(key, {}), placements.get(key, {})
        if old is not new:
            for cluster in old.keys() - new.keys():
                gone.setdefault(cluster, set()).add(key)
            for cluster, content in new.items():
                if cluster not in old or old[cluster] != content:
                    news.setdefault(cluster, {})[key] = content
    by_cluster = dict(last_by_cluster)
    for cluster in news.keys() | gone.keys():
        wants = {**by_cluster.get(cluster, {}), **news.get(cluster, {})}
        by_cluster[cluster] = {key: wants[key] for key in sorted(wants.keys() - gone.get(cluster, ()))}
    return by_cluster


def taker_of(
    wants: Mapping[PlacementKey, Content | None], owner: PlacementKey, identity: Identity
) -> PlacementKey | None:
    """The first placement, by key, beside its owner that is to have an object on a cluster."""
    return next((key for key, content in wants.items() if key != owner and content and identity in content), None)


@dataclass(frozen=True, slots=True)
class Permit:
    """That the removal gate lets an object be deleted, and by what: a hold's name, or a rollout's request."""

    cluster: str
    identity: Identity
    granted_by: str

    def covers(self, cluster: str, key: ObjectKey) -> bool:
        """Whether it is for this object on this cluster."""
        return (self.cluster, self.identity) == (cluster, key.identity)


STEP: Final = "step"
"""What lets the Job of a step be deleted."""
Reasons = Mapping[Identity, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovalGate:
    """The answer of the removal rules for each orphan, by cluster: `let_go` by what, or `held` for what reason. Nothing
    else may be deleted, but for the Jobs of steps that run again: `steps_held` is why these stay ("": they may go).
    `paced` are those among the held ones that are let go, by what, after other clusters."""

    let_go: Mapping[str, Reasons] = field(default_factory=dict)
    held: Mapping[str, Reasons] = field(default_factory=dict)
    paced: Mapping[str, Reasons] = field(default_factory=dict)
    steps_held: str = ""

    @property
    def without_pace(self) -> RemovalGate:
        """The gate that lets go now what is let go after other clusters."""
        names = {**self.let_go, **self.paced}
        let_go = {name: {**self.let_go.get(name, {}), **self.paced.get(name, {})} for name in names}
        return replace(self, let_go=let_go, paced={})

    def on(self, cluster: str) -> ClusterGate:
        """The answers for one cluster."""
        return ClusterGate(cluster, self.let_go.get(cluster, {}), self.held.get(cluster, {}), self.steps_held)


@dataclass(frozen=True, slots=True)
class ClusterGate:
    """The answers of the removal rules for the orphans of one cluster."""

    cluster: str
    let_go: Reasons = field(default_factory=dict)
    held: Reasons = field(default_factory=dict)
    steps_held: str = ""

    def permit_step(self, identity: Identity) -> Permit | None:
        """The permit for the Job of a step, which a new run replaces or its hook policy deletes; None while steps are
        held."""
        return None if self.steps_held else Permit(self.cluster, identity, STEP)

    def permit(self, identity: Identity) -> Permit | None:
        """The permit for an object that may be deleted; None for any other."""
        granted_by = self.let_go.get(identity)
        return None if granted_by is None else Permit(self.cluster, identity, granted_by)

    def why_held(self, identity: Identity) -> str:
        """Why an object must not be deleted."""
        return self.held.get(identity) or ModelText.REMOVAL_NOT_JUDGED()
