"""Which placement may have which object on one cluster, and what others need to stay."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from gitfleet.api.definitions import CRD, definition_of, is_established
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import GroupKind, Identity, Manifest, ObjectKey
from gitfleet.api.overrides import OverrideKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.strategies import DeletePropagation
from gitfleet.apply.comparisons import Comparisons
from gitfleet.apply.ledgers import by_identity
from gitfleet.apply.texts import ApplyText
from gitfleet.formats.json_values import conditions_of, section
from gitfleet.model.folder_order import NO_ORDER, FolderOrder
from gitfleet.model.observations import LiveObject, LiveObjects
from gitfleet.model.operations import KeepCode
from gitfleet.model.removals import ClusterGate, Content, taker_of
from gitfleet.model.state import Inventory
from gitfleet.model.works import Work


def unknown(_: InventoryEntry) -> None:
    """Of no object is it known what was applied last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyRequest:
    """All that concerns one cluster.

    `works` are the works of every placement on the cluster. `removing` are the placements that give it up, each with
    its deleteStrategy: "Delete" prunes what the inventory names for it, "Abandon" releases it untouched. The objects
    of a placement that stands in neither are left alone. `live` and `unreadable` come from one observation of the keys
    of works and inventory; a key in neither was not observed and is left as it is. `known_namespaces` are those the
    cluster was seen to have, None when they were not read. Where the cluster is `leaving` the fleet, `removing` follows
    its deleteOptions. `wants` are the objects that each placement which picks the cluster is to have there when all
    rollouts are finished (None: all that it owns), `later` those of newest content that is not applied yet, `gate` says
    which of the others may be deleted, `order` which folders wait for which. With `foresees` all steps count as to
    succeed, and nothing waits for them. `applied` finds the manifest that was applied last, where it is known.
    """

    cluster: str
    works: tuple[Work, ...] = ()
    removing: Mapping[PlacementKey, DeletePropagation] = field(default_factory=dict)
    inventory: Inventory = field(default_factory=dict)
    live: LiveObjects = field(default_factory=dict)
    unreadable: Mapping[ObjectKey, str] = field(default_factory=dict)
    known_namespaces: Collection[str] | None = None
    leaving: bool = False
    wants: Mapping[PlacementKey, Content | None] = field(default_factory=dict)
    later: Mapping[PlacementKey, Content | None] = field(default_factory=dict)
    gate: ClusterGate = ClusterGate("")
    order: FolderOrder = NO_ORDER
    now: datetime | None = field(default=None, compare=False)
    foresees: bool = False
    compared: Comparisons = field(default_factory=Comparisons, compare=False)
    applied: Callable[[InventoryEntry], Manifest | None] = field(default=unknown, compare=False)


def titled(key: PlacementKey | OverrideKey) -> str:
    """The kind and name of a placement or an override, in a sentence."""
    return f"{key.kind} {key}"


NAMESPACE_KIND = GroupKind("", "Namespace")
_NAMESPACE_WAITS: Final = (
    "NamespaceDeletionDiscoveryFailure",
    "NamespaceDeletionGroupVersionParsingFailure",
    "NamespaceDeletionContentFailure",
    "NamespaceFinalizersRemaining",
    "NamespaceContentRemaining",
)
"""Kubernetes' own conditions of a Namespace that does not go, what failed first."""
_LONGEST_WHY: Final = 300
"""Characters of such a condition: what a cluster says is cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """The request, indexed once.

    `rendered` are the objects of each work. `holders` names the one placement that may write each object; `staying` are
    the objects that stay for a placement, `awaited` those that stay as they are until the placement applies them that
    is to have them; `crds` are the definitions among the works by the kind they define. `steps` is
    filled with the first step that each placement waits for.
    """

    request: ApplyRequest
    works: Mapping[PlacementKey, Work]
    entries: Mapping[Identity, InventoryEntry]
    live_by_identity: Mapping[Identity, LiveObject | None]
    rendered: Mapping[PlacementKey, frozenset[Identity]]
    holders: Mapping[Identity, PlacementKey]
    staying: Mapping[Identity, PlacementKey]
    awaited: Mapping[Identity, PlacementKey]
    crds: Mapping[GroupKind, ObjectKey]
    steps: dict[PlacementKey, ObjectKey] = field(default_factory=dict)

    def was_observed(self, key: ObjectKey) -> bool:
        """Whether this object was observed."""
        return key.identity in self.live_by_identity

    def was_applied(self, manifest: Manifest) -> bool:
        """Whether the object's last apply was of this manifest."""
        entry = self.entries.get(manifest.key.identity)
        return entry is not None and entry.applied_digest == manifest.digest

    def unknown(self, key: ObjectKey) -> tuple[KeepCode, str] | None:
        """Why an object is left alone of which nothing is known now; None where it was observed."""
        why = self.request.unreadable.get(key)
        if why is not None:
            return KeepCode.UNREADABLE, ApplyText.COULD_NOT_READ(unreadable=why)
        return None if self.was_observed(key) else (KeepCode.NOT_OBSERVED, ApplyText.NOT_OBSERVED())

    def abandons(self, placement: PlacementKey) -> bool:
        """Whether a placement gives its objects up and leaves them on the cluster."""
        removal = self.request.removing.get(placement)
        return removal is not None and removal.keeps_objects

    def live(self, key: ObjectKey) -> LiveObject | None:
        """The live object; None when the server said NotFound."""
        if key in self.request.live:
            return self.request.live[key]
        return self.live_by_identity.get(key.identity)

    def wants(self, placement: PlacementKey, identity: Identity) -> bool:
        """Whether a placement is to have an object here when all rollouts are finished. One of which nothing is known,
        or whose work cannot be used, wants all that it owns."""
        request, work = self.request, self.works.get(placement)
        if work is not None and work.error is not None:
            return True
        if placement not in request.wants:
            return placement not in request.removing and work is None
        content = request.wants[placement]
        return content is None or identity in content


def index_claims(request: ApplyRequest) -> Claims:
    """Read a request once."""
    works = {work.placement: work for work in sorted(request.works, key=lambda w: w.placement)}
    claims = Claims(
        request=request,
        works=works,
        entries=by_identity(request.inventory),
        live_by_identity={key.identity: live for key, live in request.live.items()},
        rendered={
            placement: frozenset(m.key.identity for m in work.manifests) if work.error is None else frozenset()
            for placement, work in works.items()
        },
        holders={},
        staying={},
        awaited={},
        crds={
            definition.kind: m.key
            for work in works.values()
            for m in work.manifests
            if (m.key.group, m.key.kind) == CRD and (definition := definition_of(m.body))
        },
    )
    holders, awaited = _owned(claims)
    staying = {identity: key for identity, key in holders.items() if identity not in awaited}
    for placement, work in works.items():
        for identity in claims.rendered[placement]:
            staying.setdefault(identity, placement)
            if not work.apply_strategy.type.only_reports:
                holders.setdefault(identity, placement)
    return replace(claims, holders=holders, staying=staying, awaited=awaited)


def _owned(claims: Claims) -> tuple[dict[Identity, PlacementKey], dict[Identity, PlacementKey]]:
    """`holders` of the objects that the inventory names, and `awaited`. The owner keeps what it wants. Otherwise a
    placement takes the object over that wants it and whose work has it; where there is none, the owner keeps it while
    its own work has it."""
    holders, awaited = dict[Identity, PlacementKey](), dict[Identity, PlacementKey]()
    writing = [(key, claims.rendered[key]) for key, w in claims.works.items() if not w.apply_strategy.type.only_reports]
    for identity, entry in claims.entries.items():
        owner = entry.placement
        if claims.wants(owner, identity):
            holders[identity] = owner
            continue
        writers = [key for key, rendered in writing if key != owner and identity in rendered]
        takers = [key for key in writers if claims.wants(key, identity)]
        if takers or (writers and identity not in claims.rendered.get(owner, ())):
            holders[identity] = min(takers or writers)
            continue
        request = claims.request
        taker = taker_of(request.wants, owner, identity) or taker_of(request.later, owner, identity)
        if taker is not None:
            awaited[identity] = taker
        if identity in claims.rendered.get(owner, ()):
            holders[identity] = owner
    return holders, awaited


def needs_of(manifest: Manifest, claims: Claims) -> tuple[ObjectKey, ...]:
    """What has to exist before an object can (decision D7): its namespace, and the definition of its kind.

    Left out is what was already observed in full: each need that stays costs the writer a request.
    """
    needs: list[ObjectKey] = []
    if manifest.key.namespace:
        name, namespaces = manifest.key.namespace, claims.request.known_namespaces
        identity = ("", "Namespace", "", name)
        live_by_identity = claims.live_by_identity
        is_there = (
            _is_settled(live_by_identity[identity]) if identity in live_by_identity else name in (namespaces or ())
        )
        if not is_there:
            needs.append(ObjectKey("", "v1", "Namespace", "", name))
    crd = claims.crds.get(manifest.key.group_kind)
    if crd is not None and not ((live := claims.live(crd)) and _is_settled(live) and is_established(live.body)):
        needs.append(crd)
    return tuple(needs)


def is_terminating(live: LiveObject) -> bool:
    """Whether deletion was asked for and finalizers still hold the object."""
    return bool(section(live.body, "metadata").get("deletionTimestamp"))


def stuck_namespace(live: LiveObject) -> str:
    """Why a Namespace that is being deleted does not go, by its own condition; "" where it says nothing."""
    if live.key.group_kind != NAMESPACE_KIND:
        return ""
    conditions = (c for c in conditions_of(live.body) if c.get("status") == "True")
    messages = {str(c.get("type")): " ".join(str(c.get("message") or "").split()) for c in conditions}
    return next((f"{type_}: {messages[type_][:_LONGEST_WHY]}" for type_ in _NAMESPACE_WAITS if type_ in messages), "")


def _is_settled(live: LiveObject | None) -> bool:
    return live is not None and not is_terminating(live)
