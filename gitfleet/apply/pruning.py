"""What to do about an object that the inventory names and no work wants any more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Final, NamedTuple, TypeAlias

from gitfleet.api.definitions import definition_of
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import Identity
from gitfleet.api.placements import PlacementKey
from gitfleet.apply.claims import NAMESPACE_KIND, Claims, is_terminating, stuck_namespace, titled
from gitfleet.apply.deletions import deletion
from gitfleet.apply.ledgers import (
    PRUNE,
    TAKEN_OVER,
    TAKES_ALONG,
    has_managers,
    is_unreported,
    may_be_made_by_others,
    other_owner,
    protected_by,
)
from gitfleet.apply.ordering import deleted_first
from gitfleet.apply.texts import ApplyText
from gitfleet.formats.json_values import section
from gitfleet.formats.sentences import named_briefly
from gitfleet.model.observations import LiveObject
from gitfleet.model.operations import Delete, Keep, KeepCode, Operation, Release
from gitfleet.model.removals import ClusterGate

_MOST_NAMED: Final = 3
_LONGEST_NAME: Final = 100
"""Characters of a finalizer's name: what a cluster says is cut."""


def prune(entry: InventoryEntry, claims: Claims, contents: Contents) -> Operation | None:
    """One operation for one entry; None when a work has one for the object itself."""
    identity = entry.key.identity
    if identity not in contents.verdicts:
        contents.verdicts[identity] = _prune(entry, claims, contents)
    return contents.verdicts[identity]


def _prune(entry: InventoryEntry, claims: Claims, contents: Contents) -> Operation | None:
    if entry.key.identity in claims.staying:
        return _retain(entry, claims)
    request = claims.request
    if claims.abandons(entry.placement):
        setting = "MemberCluster's deleteOptions.propagationPolicy" if request.leaving else "deleteStrategy"
        return _release(entry, claims, ApplyText.STAYS_CLUSTER_ABANDON(setting=setting))
    if (unknown := claims.unknown(entry.key)) is not None:
        return keep_entry(entry, claims, *unknown)
    live = claims.live(entry.key)
    if live is None:
        return _release(entry, claims, ApplyText.IS_GONE())
    if foreign := _made_by_others(entry, live):
        return _release(entry, claims, foreign)
    if is_terminating(live):
        return keep_entry(entry, claims, KeepCode.TERMINATING, _being_deleted(live), live)
    if (taker := claims.awaited.get(entry.key.identity)) is not None:
        why = ApplyText.STAYS_UNTIL_APPLIED(other=titled(taker))
        return keep_entry(entry, claims, KeepCode.KEPT_FOR_SUCCESSOR, why, live)
    operations = (reason(entry, live, claims, contents) for reason in _REASONS)
    return next(operation for operation in operations if operation is not None)


def _in_use(entry: InventoryEntry, live: LiveObject, claims: Claims, contents: Contents) -> Keep | None:
    user = contents.user(entry, claims.request.gate)
    if user is None:
        return None
    code = KeepCode.REMOVAL_HELD if user.is_held else KeepCode.NAMESPACE_IN_USE
    return keep_entry(entry, claims, code, ApplyText.STAYS_WHILE_OBJECTS_CLUSTER(user=titled(user.placement)), live)


def _made_by_others(entry: InventoryEntry, live: LiveObject) -> str:
    """Why an object is not gitfleet's to delete, as the end of a sentence; "" where it is."""
    if entry.uid not in (None, live.uid):
        return ApplyText.REPLACED_SOMEBODY_ELSE()
    if not is_unreported(entry, live) and (entry.uid is None or has_managers(live)):
        # Whatever the inventory says: what the server knows as made by others is not gitfleet's to delete. An apply
        # that sets no field (a Namespace that has only a name) leaves no managedFields at all: there the inventory
        # is the one record of who made it, confirmed or as the intent to.
        return ApplyText.NOT_APPLIED_GITFLEET()
    return ""


def _needed_by_rollout(entry: InventoryEntry, live: LiveObject, claims: Claims, contents: Contents) -> Keep | None:
    """A workload whose pods a rollout still needs stays, and so does what it lies in; None for any other object."""
    ignored = claims.request.compared.ignored
    for identity, rollout in ignored.by_rollouts.items():
        if rollout.stays and identity == entry.key.identity:
            why = ApplyText.STAYS_ROLLOUT(rollout=rollout.rollout)
            return keep_entry(entry, claims, KeepCode.ROLLOUT, ignored.untouched(entry.key) or why, live)
        if rollout.stays and contents.is_within(identity, entry):
            why = ApplyText.STAYS_ROLLOUT_TAKES_PODS_AWAY(rollout=rollout.rollout)
            return keep_entry(entry, claims, KeepCode.NAMESPACE_IN_USE, why, live)
    return None


def _protected(entry: InventoryEntry, live: LiveObject, claims: Claims, contents: Contents) -> Operation | None:
    """What becomes of an object that nobody is to delete, as an annotation says; None for any other."""
    protection = _protection_of(entry, claims)
    if protection is None:
        return None
    outers = contents.around(entry)
    for outer in outers:
        if not _is_settled(outer, claims, contents):
            why = ApplyText.STAYS_CLUSTER_STAY(other=outer.key)
            return keep_entry(entry, claims, KeepCode.NAMESPACE_IN_USE, why, live)
    why = ApplyText.STAYS_CLUSTER_PROTECTS(by=protection)
    if protection == TAKEN_OVER:
        why += ApplyText.DELETED_ROLL_OUT(prune=PRUNE)
    return replace(_release(entry, claims, why), keeping=tuple(outer.key.identity for outer in outers))


def _is_settled(outer: InventoryEntry, claims: Claims, contents: Contents) -> bool:
    """Whether a namespace or a definition stays, or leaves the inventory now: what is protected in it may leave the
    inventory no sooner."""
    if outer.key.identity in claims.staying:
        return True
    verdict = prune(outer, claims, contents)
    return isinstance(verdict, Release) or (isinstance(verdict, Keep) and verdict.code is KeepCode.REMOVAL_HELD)


def _protecting(entry: InventoryEntry, live: LiveObject, claims: Claims, contents: Contents) -> Operation | None:
    """What becomes of a namespace or a definition that would take along what is protected; None where nothing is."""
    if entry.keeps:
        names = named_briefly(entry.keeps, _MOST_NAMED)
        return _release(entry, claims, ApplyText.STAYS_CLUSTER_LEFT_NEVER_DELETED(left=names))
    for inner in contents.within(entry):
        if not claims.was_observed(inner.key):
            why = ApplyText.STAYS_UNTIL_READ(other=inner.key)
            return keep_entry(entry, claims, KeepCode.NAMESPACE_IN_USE, why, live)
        if protection := _protection_of(inner, claims):
            return _release(entry, claims, ApplyText.STAYS_CLUSTER_PROTECTS_2(other=inner.key, by=protection))
    return None


def _protection_of(entry: InventoryEntry, claims: Claims) -> str | None:
    """By what was applied last, or by what a person wrote on the cluster: either one is enough. Of what was never
    confirmed the server alone knows where it comes from."""
    live = claims.live(entry.key)
    if live is None:
        return None
    unknown = entry.uid is None and may_be_made_by_others(entry, live)
    return entry.protected_by or protected_by(live.body, taken_over=unknown)


def _being_deleted(live: LiveObject) -> str:
    if stuck := stuck_namespace(live):
        return ApplyText.BEING_DELETED_NAMESPACE_WAITS(why=stuck)
    names = section(live.body, "metadata").get("finalizers")
    finalizers = f" ({named_briefly([str(name)[:_LONGEST_NAME] for name in names], 3)})" if names else ""
    return ApplyText.BEING_DELETED_WAITS_FINALIZERS(finalizers=finalizers)


def _left_to_owner(entry: InventoryEntry, live: LiveObject, claims: Claims, contents: Contents) -> Release | None:
    """An object that another one owns goes with that one, as in KubeFleet (kubefleet.md §6, co-owned); or with what it
    lies in, where that is deleted."""
    owner = other_owner(live)
    if owner is None:
        return None
    outers = (outer.key for outer in contents.around(entry) if isinstance(prune(outer, claims, contents), Delete))
    taker = next(outers, None)
    why = ApplyText.STAYS_CLUSTER() if taker is None else ApplyText.GOES_DELETED(taker=taker)
    return _release(entry, claims, ApplyText.OWNS_TOO(why=why, owner=owner))


def _after_folder(entry: InventoryEntry, live: LiveObject, claims: Claims, _: Contents) -> Keep | None:
    """An object that others wait for goes after them, and after the steps that its placement waits for; None where
    there are none."""
    if (step := claims.steps.get(entry.placement)) is not None and entry.placement not in claims.request.removing:
        return keep_entry(entry, claims, KeepCode.STEP, ApplyText.WAITS_FOR_STEP(first=step), live)
    first = deleted_first(entry, claims)
    if first is None:
        return None
    return keep_entry(entry, claims, KeepCode.FOLDER, ApplyText.STAYS_UNTIL_GONE(first=first), live)


def _delete(entry: InventoryEntry, live: LiveObject, claims: Claims, _: Contents) -> Delete | Keep:
    """The deletion, if the removal gate permits it."""
    gate, identity, placement = claims.request.gate, entry.key.identity, entry.placement
    permit = gate.permit(identity)
    if permit is None:
        why = ApplyText.REMOVAL_HELD(why=gate.why_held(identity))
        return keep_entry(entry, claims, KeepCode.REMOVAL_HELD, why, live)
    work = claims.works.get(placement)
    override = work.deleted.get(identity) if work is not None else None
    if placement in claims.request.removing:
        why = ApplyText.LEAVES_CLUSTER(placement=titled(placement))
    elif override is not None:
        why = ApplyText.DELETES_CLUSTER(override=titled(override), placement=titled(placement))
    else:
        why = ApplyText.NO_LONGER(placement=titled(placement))
    return deletion(permit, placement, entry.key, live.uid, why)


_REASONS: Final[tuple[Callable[[InventoryEntry, LiveObject, Claims, Contents], Operation | None], ...]] = (
    _needed_by_rollout,
    _protected,  # before _in_use: what is never deleted waits for nothing
    _in_use,
    _protecting,
    _left_to_owner,
    _after_folder,
    _delete,
)
"""Each may say what is done with an object that no work wants; the first that does decides."""


def _retain(entry: InventoryEntry, claims: Claims) -> Operation | None:
    """Why an entry stays that is in no work of its own placement in this plan; None where another work has it."""
    if claims.staying[entry.key.identity] != entry.placement:
        return None
    work = claims.works.get(entry.placement)
    if work is None:
        why = ApplyText.NOTHING_DECIDED_ABOUT()
    elif work.error:
        what = "overridden" if work.unwrapped else "unwrapped"
        why = ApplyText.RESOURCES_COULD_NOT(what=what, error=work.error)
    elif work.apply_strategy.type.only_reports:
        why = ApplyText.REPORTDIFF_CHANGES_NOTHING()
    else:
        why = ApplyText.NEWER_CONTENT_HAS_IT()
    return keep_entry(entry, claims, KeepCode.STAYS, ApplyText.STAYS_AS_IT_IS(why=why))


def _release(entry: InventoryEntry, claims: Claims, reason: str) -> Release:
    return Release(cluster=claims.request.cluster, placement=entry.placement, key=entry.key, reason=reason)


def keep_entry(
    entry: InventoryEntry, claims: Claims, code: KeepCode, reason: str, live: LiveObject | None = None
) -> Keep:
    """The entry stays as it is, and why."""
    return Keep(
        cluster=claims.request.cluster, placement=entry.placement, key=entry.key, reason=reason, live=live, code=code
    )


Place: TypeAlias = str | tuple[str, str]
"""A namespace by its name, or a kind."""


class _User(NamedTuple):
    """A placement with something in a namespace or of a definition: what is to stay, or what the gate holds or another
    placement takes over."""

    is_held: bool
    placement: PlacementKey


@dataclass(frozen=True, slots=True)
class Contents:
    """The namespaces and definitions of one cluster's inventory, read once for a plan.

    `verdicts` are what was decided so far about entries that no work wants. None of these lies in another one, whatever
    a definition says that it defines.
    """

    _places: dict[Identity, Place] = field(default_factory=dict)
    _entries: dict[Place, list[InventoryEntry]] = field(default_factory=dict)
    _contents: dict[Place, list[InventoryEntry]] = field(default_factory=dict)
    _staying: dict[Place, PlacementKey] = field(default_factory=dict)
    """The first placement of which anything stays in a place."""
    verdicts: dict[Identity, Operation | None] = field(default_factory=dict)

    @classmethod
    def of(cls, claims: Claims) -> Contents:
        """Those of the inventory; a definition that names no kind takes nothing along."""
        made = cls()
        for identity, entry in claims.entries.items():
            place = _place_of(entry, claims) if identity[:2] in TAKES_ALONG else None
            if place is not None:
                made._places[identity] = place
                made._entries.setdefault(place, []).append(entry)
        if not made._places:
            return made
        for identity, entry in claims.entries.items():
            for place in made._around(identity):
                made._contents.setdefault(place, []).append(entry)
        for identity, placement in claims.staying.items():
            for place in made._around(identity):
                if made._staying.setdefault(place, placement) != placement:
                    made._staying[place] = min(made._staying[place], placement)
        return made

    def within(self, outer: InventoryEntry) -> Sequence[InventoryEntry]:
        """What of the inventory is deleted with an entry's object."""
        return self._contents.get(self._places.get(outer.key.identity, ""), ())

    def is_within(self, identity: Identity, outer: InventoryEntry) -> bool:
        """Whether an object is deleted with an entry's object, whoever has it."""
        return self._places.get(outer.key.identity) in (identity[2], identity[:2])

    def user(self, outer: InventoryEntry, gate: ClusterGate) -> _User | None:
        """The first placement for which something in an entry's object stays, or else of which something is held."""
        staying = self._staying.get(self._places.get(outer.key.identity, ""))
        if staying is not None:
            return _User(False, staying)
        inner = (entry for entry in self.within(outer) if not entry.is_protected)
        held = (_User(True, entry.placement) for entry in inner if gate.permit(entry.key.identity) is None)
        return min(held, default=None)

    def around(self, entry: InventoryEntry) -> Sequence[InventoryEntry]:
        """The entries whose objects take an entry's object along."""
        return [*chain.from_iterable(self._entries[place] for place in self._around(entry.key.identity))]

    def _around(self, identity: Identity) -> list[Place]:
        if identity[:2] in TAKES_ALONG:
            return []
        return [place for place in (identity[2], identity[:2]) if place in self._entries]


def _place_of(entry: InventoryEntry, claims: Claims) -> Place | None:
    if entry.key.group_kind == NAMESPACE_KIND:
        return entry.key.name
    live = claims.live(entry.key)
    definition = definition_of(live.body) if live is not None else None
    return definition.kind if definition is not None else None
