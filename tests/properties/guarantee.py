"""The guarantee of docs/removal.md, judged by what people wrote: gitfleet deletes an object only if no placement wants
it there, and no rule holds it or a person approved it.

What is wanted, and what the rules hold, follows from the files of a commit. Of gitfleet's own the judge reads only
which clusters a PickN or PickAll placement picked, what the inventory has, and what each hold listed. MassRemoval
needs counts: it is judged by the holds alone (`invariants`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Final

import yaml

from gitfleet.api.bindings import Binding, is_active
from gitfleet.api.holds import Removal, RemovalKind
from gitfleet.api.objects import Identity, ObjectKey, key_of
from gitfleet.api.placements import PlacementKey
from gitfleet.model.state import FleetState

Body = dict[str, Any]
_APPROVALS: Final = ("Never", "Guarded", "Always")
"""From the laxest to the strictest."""
_PROTECTED: Final = ("Namespace", "CustomResourceDefinition", "PersistentVolumeClaim")
_LISTED: Final = {RemovalKind.CLUSTER: "leaving", RemovalKind.BINDING: "withdrawn", RemovalKind.OBJECT: "dropped"}


@cache
def _documents(text: str) -> tuple[Body, ...] | None:
    """What stands in a file; None where it cannot be read."""
    try:
        return tuple(yaml.load_all(text, yaml.CSafeLoader))
    except yaml.YAMLError:
        return None


def _is_lost(text: str, files: Collection[str]) -> bool:
    """Whether a placement names a cluster that the fleet does not have."""
    policies = [body["spec"].get("policy", {}) for body in _documents(text) or () if "Placement" in body["kind"]]
    names = (name for policy in policies for name in policy.get("clusterNames", ()))
    return any(f"clusters/{name}.yaml" not in files for name in names)


@dataclass(frozen=True)
class Content:
    """The files of a commit: `files` without errors as they are, the others (`broken`) as they were before
    that."""

    files: Mapping[str, str] = field(default_factory=dict)
    broken: frozenset[str] = frozenset()

    @classmethod
    def of(cls, files: Mapping[str, str], before: Content) -> Content:
        """What a commit has, where the one that was read before it had other files."""
        broken = frozenset(path for path, text in files.items() if _documents(text) is None or _is_lost(text, files))
        texts = {path: before.files.get(path, "") if path in broken else text for path, text in files.items()}
        return cls(texts, broken)

    def _of_kind(self, *kinds: str) -> Iterator[Body]:
        for text in self.files.values():
            yield from (body for body in _documents(text) or () if body["kind"] in kinds)

    @cached_property
    def clusters(self) -> Mapping[str, Body]:
        """The clusters by name."""
        return {body["metadata"]["name"]: body for body in self._of_kind("MemberCluster")}

    @cached_property
    def placements(self) -> Mapping[str, Body]:
        """The placements by name."""
        return {body["metadata"]["name"]: body for body in self._of_kind("ClusterResourcePlacement")}

    @cached_property
    def not_newest(self) -> frozenset[str]:
        """The placements whose clusters may be to have other content than the newest."""
        names = {body["spec"]["placement"] for body in self._of_kind("Pin", "Quarantine")}
        external = (name for name, body in self.placements.items() if body["spec"]["strategy"]["type"] == "External")
        return frozenset(names).union(external)

    @cached_property
    def approvals(self) -> frozenset[str]:
        """What people approve."""
        every = self._of_kind("ClusterApprovalRequest")
        return frozenset(b["metadata"]["name"] for b in every if b["status"]["conditions"][0]["status"] == "True")

    @cached_property
    def removals(self) -> Body:
        """The settings of the removal rules."""
        return next((body["spec"].get("removals", {}) for body in self._of_kind("FleetConfig")), {})

    @cached_property
    def objects(self) -> Mapping[str, frozenset[Identity]]:
        """The objects by namespace, with the namespace itself."""
        objects: dict[str, set[Identity]] = {}
        for path, text in self.files.items():
            for body in _documents(text) or () if path.startswith("resources/") else ():
                key = key_of(body)
                objects.setdefault(key.namespace or key.name, set()).add(key.identity)
        return {space: frozenset(identities) for space, identities in objects.items()}

    def selected(self, placement: str) -> frozenset[Identity]:
        """The objects that a placement selects."""
        body = self.placements.get(placement)
        spaces = [one["name"] for one in body["spec"]["resourceSelectors"]] if body is not None else []
        return frozenset[Identity]().union(*(self.objects.get(space, frozenset()) for space in spaces))

    def has_errors_about(self, identity: Identity) -> bool:
        """Whether a file cannot be read that may have said something of an object."""
        space = identity[2] or identity[3]
        return any(not path.startswith("resources/") or path.split("/")[1] == space for path in self.broken)


@dataclass(frozen=True)
class Orphan:
    """Why an object is wanted no more, and the rules that hold it since then; `guarded` ones are held while they are
    still in the repo."""

    kind: str
    rules: tuple[str, ...] = ()
    guarded: bool = False


@dataclass(frozen=True)
class Judge:
    """What may be deleted by one state of the state branch. `content` is the commit that was read for it, `before` the
    one before that, `orphans` are those of the inventory, `listed` what each hold had on its list."""

    state: FleetState = FleetState()
    content: Content = Content()
    before: Content = Content()
    orphans: Mapping[tuple[str, Identity], Orphan] = field(default_factory=dict)
    listed: Mapping[str, tuple[Removal, ...]] = field(default_factory=dict)

    def next(self, state: FleetState, files: Mapping[str, str]) -> Judge:
        """The judge by the next state, which was decided with these files."""
        is_read = state.observed_commit == self.state.observed_commit
        content = self.content if is_read else Content.of(files, self.content)
        before = self.content if self.state.observed_commit else content
        listed = {name: hold.removals for name, hold in state.holds.items() if name not in self.listed}
        judge = Judge(state, content, before, listed={**self.listed, **listed})
        return Judge(state, content, before, dict(judge._orphans(self.orphans)), judge.listed)

    def forgetting(self) -> Judge:
        """The judge where the next state follows from another one than the last. An orphan that was judged before stays
        judged, as it is on the list of the restored state."""
        return Judge(content=self.content, orphans=self.orphans, listed=self.listed)

    def why_kept(self, cluster: str, key: ObjectKey) -> str:
        """Why an object must not be deleted from a cluster, "" where it may be."""
        identity = key.identity
        if wanting := next((p for p in self.content.placements if self._wants(p, cluster, identity)), ""):
            return f"which {wanting} wants there"
        orphan = self.orphans.get((cluster, identity))
        if orphan is None:
            return "which is none of its objects"
        if self.state.restored:
            return "although the state was restored"
        rules = [*orphan.rules]
        if orphan.kind != "requested" and self.content.has_errors_about(identity):
            rules.append("CommitHasErrors")
        is_written = any(identity in objects for objects in self.content.objects.values())
        if orphan.kind == "dropped" and orphan.guarded and is_written:
            rules.append("StillInRepo")
        is_approved = any(self._lists(name, orphan.kind, cluster, identity) for name in self.content.approvals)
        return f"which {', '.join(rules)} holds ({orphan.kind})" if rules and not is_approved else ""

    def _lists(self, hold: str, kind: str, cluster: str, identity: Identity) -> bool:
        # An approved dropped object goes from all clusters, those that leave included.
        kinds = {kind, "dropped"} if kind == "leaving" else {kind}
        return any(
            _LISTED.get(removal.kind) in kinds
            and (removal.cluster == cluster if removal.object is None else removal.object.identity == identity)
            for removal in self.listed.get(hold, ())
        )

    def _binding(self, placement: str, cluster: str) -> Binding | None:
        record = self.state.placements.get(PlacementKey("", placement))
        return next((b for b in record.bindings if b.cluster == cluster), None) if record is not None else None

    def _picks(self, placement: str, cluster: str) -> bool:
        policy = self.content.placements[placement]["spec"]["policy"]
        if cluster not in self.content.clusters:
            return False
        if policy["placementType"] == "PickFixed":
            return cluster in policy["clusterNames"]
        binding = self._binding(placement, cluster)
        return binding is not None and is_active(binding) and policy.get("numberOfClusters") != 0

    def _wants(self, placement: str, cluster: str, identity: Identity) -> bool:
        if identity not in self.content.selected(placement) or not self._picks(placement, cluster):
            return False
        if placement not in self.content.not_newest:
            return True
        binding, record = self._binding(placement, cluster), self.state.placements.get(PlacementKey("", placement))
        snapshot = record.snapshot_named(binding.resource_snapshot) if record is not None and binding else None
        return snapshot is not None and any(one.key.identity == identity for one in snapshot.documents)

    def _wanted(self, cluster: str, identity: Identity) -> bool:
        return any(self._wants(placement, cluster, identity) for placement in self.content.placements)

    def _orphans(self, known: Mapping[tuple[str, Identity], Orphan]) -> Iterator[tuple[tuple[str, Identity], Orphan]]:
        for cluster, owned in self.state.inventory.items():
            for key, entry in owned.items():
                if not self._wanted(cluster, key.identity):
                    kind = self._kind(cluster, key.identity, entry.placement)
                    orphan = known.get((cluster, key.identity))
                    if orphan is None or orphan.kind != kind:
                        orphan = self._orphan(kind, key, entry.placement)
                    yield (cluster, key.identity), orphan

    def _kind(self, cluster: str, identity: Identity, owner: PlacementKey) -> str:
        if cluster not in self.content.clusters:
            return "leaving"
        evicted = {(e.placement_name, e.cluster_name) for e in self.state.evictions.values() if e.was_executed}
        if owner.name in self.content.not_newest or (owner.name, cluster) in evicted:
            return "requested"
        is_elsewhere = any(self._wanted(name, identity) for name in self.content.clusters)
        return "withdrawn" if is_elsewhere else "dropped"

    def _orphan(self, kind: str, key: ObjectKey, owner: PlacementKey) -> Orphan:
        settings = [content.removals for content in (self.before, self.content)]
        approval = max((one.get("approval", "Guarded") for one in settings), key=_APPROVALS.index)
        if kind == "requested" or approval == "Never":
            return Orphan(kind)
        rules = ["ApprovalRequired"] if approval == "Always" else []
        if kind == "leaving" or self._is_empty(owner.name):
            rules.append("Emptied")
        if kind == "dropped" and any(key.kind in one.get("protectedKinds", _PROTECTED) for one in settings):
            rules.append("ProtectedKind")
        return Orphan(kind, tuple(rules), guarded=True)

    def _is_empty(self, placement: str) -> bool:
        if not self.content.selected(placement):
            return True
        return not any(self._picks(placement, cluster) for cluster in self.content.clusters)
