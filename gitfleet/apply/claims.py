"""Which placement may have which object on one cluster, and what others need to stay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from gitfleet.api.definitions import CRD, definition_of, is_established
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import GroupKind, Identity, Manifest, ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.apply.ledgers import by_identity
from gitfleet.apply.requests import ApplyRequest
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.observations import LiveObject
from gitfleet.model.successors import Successors
from gitfleet.model.works import Work

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

    `holders` names the one placement that may write each object; `staying` are the identities that are wanted by
    somebody or that nobody may prune now, of which `kept` are given up and stay for the placement that takes them over:
    until when, in words; `crds` are the definitions among the works by the kind they define.
    """

    request: ApplyRequest
    works: Mapping[PlacementKey, Work]
    entries: Mapping[Identity, InventoryEntry]
    live_by_identity: Mapping[Identity, LiveObject | None]
    wanted: Mapping[PlacementKey, frozenset[Identity]]
    holders: Mapping[Identity, PlacementKey]
    staying: Mapping[Identity, PlacementKey]
    kept: Mapping[Identity, str]
    crds: Mapping[GroupKind, ObjectKey]

    def was_observed(self, key: ObjectKey) -> bool:
        """Whether this object was observed."""
        return key.identity in self.live_by_identity

    def live(self, key: ObjectKey) -> LiveObject | None:
        """The live object; None when the server said NotFound."""
        live = self.request.live.get(key)
        if live is not None or key in self.request.live:
            return live
        return self.live_by_identity.get(key.identity)

    def entry(self, key: ObjectKey) -> InventoryEntry | None:
        """What the inventory says of an object, in whatever version it was applied."""
        return self.entries.get(key.identity)

    def releases(self, entry: InventoryEntry) -> bool:
        """Whether the entry's placement has given the object up: it leaves, or its work has it no longer.

        A placement whose work could not be rendered, that only reports differences, or that nobody spoke of gives
        nothing up.
        """
        if entry.placement in self.request.removing:
            return True
        return self._wants_no_more(entry) and not self.works[entry.placement].apply_strategy.type.only_reports

    def hands_over(self, entry: InventoryEntry) -> bool:
        """Whether another placement may have the object at once: one that only reports differences has it no longer,
        and deletes nothing."""
        return self._wants_no_more(entry) and self.works[entry.placement].apply_strategy.type.only_reports

    def _wants_no_more(self, entry: InventoryEntry) -> bool:
        work = self.works.get(entry.placement)
        known = work is not None and work.error is None
        return known and entry.key.identity not in self.wanted[entry.placement]

    def gives_up(self, placement: PlacementKey, identity: Identity) -> bool:
        """Whether a placement is to lose an object, though its work on this cluster may have it still."""
        request = self.request
        lost = identity in request.given_up.get(placement, ()) or identity in request.held.get(placement, ())
        return lost or placement in request.going

    def stays_for_now(self, identity: Identity) -> bool:
        """Whether what stays on the cluster may be deleted later without anybody asking for it again: its removal, or
        the cluster's, waits for an answer or a rollout, or it waits for who takes it over."""
        request, holder = self.request, self.staying[identity]
        waits = request.may_leave or holder in request.keepers or self.gives_up(holder, identity)
        return waits or identity in self.kept

    def would_set_back(self, placement: PlacementKey, entry: InventoryEntry) -> bool:
        """Whether a placement has an object in its work only because the removal is held, and another one that took it
        over changed it since: what the hold keeps is what was there when it was held."""
        if entry.placement == placement or entry.key.identity not in self.request.held.get(placement, ()):
            return False
        return self._differs(placement, entry)

    def would_change_back(self, placement: PlacementKey, entry: InventoryEntry) -> bool:
        """Whether a placement whose newest content is yet to come here would change back, by its older content, what
        another one changed since."""
        older = self.request.outdated.get(placement)
        changed = older is not None and entry.placement not in older and entry.applied_digest is not None
        return changed and self._differs(placement, entry)

    def _differs(self, placement: PlacementKey, entry: InventoryEntry) -> bool:
        """Whether a placement's work has other content for an object than what was applied last."""
        manifests = (m for m in self.works[placement].manifests if m.key.identity == entry.key.identity)
        return all(manifest.digest != entry.applied_digest for manifest in manifests)

    def yields_to(self, placement: PlacementKey, manifest: Manifest, holder: PlacementKey) -> bool:
        """Whether the placement that has an object lets go of it for another one that wants it here: it is to lose the
        object, and the other one changes nothing in it or has its newest content here, so that neither waits for the
        rollout of the other; or its own rollout waits for the answer to a hold."""
        entry, identity = self.entry(manifest.key), manifest.key.identity
        if entry is None or entry.placement != holder or self.gives_up(placement, identity):
            return False
        request = self.request
        yields = holder in request.yielding.get(placement, ()) and holder not in request.keepers
        at_once = yields or entry.applied_digest == manifest.digest
        return self.gives_up(holder, identity) if at_once else identity in request.held.get(holder, ())


def index_claims(request: ApplyRequest, failures: Failures, successors: Successors) -> Claims:
    """Read a request once; `successors` say for whom an object stays that its own placement gives up. Where two
    placements want an object that neither has, the first by name gets it.

    A definition that cannot be read defines nothing."""
    works = {work.placement: work for work in sorted(request.works, key=lambda w: w.placement)}
    entries = by_identity(request.inventory)
    wanted = {
        placement: frozenset(m.key.identity for m in work.manifests) if work.error is None else frozenset()
        for placement, work in works.items()
    }
    claims = Claims(
        request=request,
        works=works,
        entries=entries,
        live_by_identity={key.identity: live for key, live in request.live.items()},
        wanted=wanted,
        holders={},
        staying={},
        kept={},
        crds={
            definition.kind: m.key
            for work in works.values()
            for m in work.manifests
            if m.key.kind == CRD.kind
            and m.key.group == CRD.group
            and (definition := failures.contain(Subject.of_object(m.key), None, definition_of, m.body))
        },
    )
    holders, staying = _holders(claims)
    kept = {
        identity: successor
        for identity, entry in entries.items()
        if not _has_or_takes(staying.get(identity), entry, claims)
        and (successor := _successor_of(entry, claims, successors)) is not None
    }
    why = {identity: successors.stays_for(key, request.cluster, identity) for identity, key in kept.items()}
    return replace(claims, holders=holders, staying={**staying, **kept}, kept=why)


def _holders(claims: Claims) -> tuple[dict[Identity, PlacementKey], dict[Identity, PlacementKey]]:
    """`holders`, and for whom each object stays, one that only reports differences included."""
    staying = {i: e.placement for i, e in claims.entries.items() if not claims.releases(e)}
    holders = {i: placement for i, placement in staying.items() if not claims.hands_over(claims.entries[i])}
    going, taken = claims.request.going, dict[Identity, PlacementKey]()
    for placement, work in sorted(claims.works.items(), key=lambda item: item[0] in going):
        reports_only = work.apply_strategy.type.only_reports
        for manifest in work.manifests if work.error is None else ():
            identity = manifest.key.identity
            staying.setdefault(identity, placement)
            if reports_only:
                continue
            entry = claims.entries.get(identity)
            leaves = entry is not None and entry.placement != placement and placement in going
            if entry is not None and (leaves or claims.would_set_back(placement, entry)):
                taken[identity] = entry.placement  # it has it since: what leaves takes nothing back
                continue
            holder = holders.setdefault(identity, placement)
            if holder != placement and claims.yields_to(placement, manifest, holder):
                holders[identity] = placement
            staying[identity] = holders[identity]
    return {**taken, **holders}, staying


def _has_or_takes(holder: PlacementKey | None, entry: InventoryEntry, claims: Claims) -> bool:
    """Whether an object stays for a placement that has it, takes it over, or of which nothing is known: not one that
    only reports, or that leaves and gave it to another one."""
    if holder is None or (holder != entry.placement and holder in claims.request.going):
        return False
    return holder not in claims.works or not claims.works[holder].apply_strategy.type.only_reports


def _successor_of(entry: InventoryEntry, claims: Claims, successors: Successors) -> PlacementKey | None:
    """For whom an object that would be deleted stays."""
    cluster = claims.request.cluster
    if claims.request.leaving:
        return None
    return successors.awaited(entry.placement, cluster, entry.key.identity, claims.works)


def needs_of(manifest: Manifest, claims: Claims) -> tuple[ObjectKey, ...]:
    """What has to exist before an object can (decision D7): its namespace, and the definition of its kind.

    Left out is what was already observed in full: each need that stays costs the writer a request.
    """
    needs: list[ObjectKey] = []
    if manifest.key.namespace:
        name, known = manifest.key.namespace, claims.request.known_namespaces
        identity = ("", "Namespace", "", name)
        observed = identity in claims.live_by_identity
        pending = observed and not _is_settled(claims.live_by_identity[identity])
        if pending or not (observed or (known is not None and name in known)):
            needs.append(ObjectKey("", "v1", "Namespace", "", name))
    crd = claims.crds.get(manifest.key.group_kind) if claims.crds else None
    if crd is not None and not ((live := claims.live(crd)) and _is_settled(live) and is_established(live.body)):
        needs.append(crd)
    return tuple(needs)


def is_terminating(live: LiveObject) -> bool:
    """Whether deletion was asked for and finalizers still hold the object."""
    return bool((live.body.get("metadata") or {}).get("deletionTimestamp"))


def stuck_namespace(live: LiveObject) -> str:
    """Why a Namespace that is being deleted does not go, by its own condition; "" where it says nothing."""
    status = live.body.get("status") if live.key.group_kind == NAMESPACE_KIND else None
    conditions = status.get("conditions") if isinstance(status, Mapping) else None
    said = {
        one["type"]: " ".join(str(one.get("message") or "").split())[:_LONGEST_WHY]
        for one in (conditions if isinstance(conditions, list) else ())
        if isinstance(one, Mapping) and one.get("status") == "True" and one.get("type") in _NAMESPACE_WAITS
    }
    return next((f"{type_}: {said[type_]}" for type_ in _NAMESPACE_WAITS if type_ in said), "")


def _is_settled(live: LiveObject | None) -> bool:
    return live is not None and not is_terminating(live)
