"""What to do about an object that the inventory names and no work wants any more."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import GroupKind
from gitfleet.apply.claims import Claims, is_terminating, stuck_namespace
from gitfleet.apply.contents import Contents
from gitfleet.apply.ledgers import has_managers, is_unreported, may_be_made_by_others, other_owner
from gitfleet.apply.protection import PRUNE, TAKEN_OVER, protected_by
from gitfleet.apply.texts import ApplyText
from gitfleet.formats.kinds import wave_of
from gitfleet.formats.sentences import named_briefly
from gitfleet.model.observations import LiveObject
from gitfleet.model.operations import Delete, Keep, KeepCode, Operation, PropagationPolicy, Release

_HAVE_DEPENDENTS: Final = frozenset(
    {"Namespace", "CustomResourceDefinition", "PersistentVolume", "PersistentVolumeClaim"}
)
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
    stays = claims.kept.get(entry.key.identity)
    if stays is None and entry.key.identity in claims.staying:
        return _hold(entry, claims)
    request = claims.request
    removal = request.removing.get(entry.placement)
    if removal is not None and removal.keeps_objects:
        setting = "MemberCluster's deleteOptions.propagationPolicy" if request.leaving else "deleteStrategy"
        return _release(entry, claims, ApplyText.STAYS_CLUSTER_ABANDON(entry=entry.key, setting=setting))
    unreadable = request.unreadable.get(entry.key)
    if unreadable is not None:
        return keep_entry(
            entry, claims, KeepCode.UNREADABLE, ApplyText.COULD_NOT_READ(key=entry.key, unreadable=unreadable)
        )
    if not claims.was_observed(entry.key):
        return keep_entry(entry, claims, KeepCode.NOT_OBSERVED, ApplyText.NOT_OBSERVED(key=entry.key))
    live = claims.live(entry.key)
    if live is None:
        return _release(entry, claims, ApplyText.IS_GONE(entry=entry.key))
    if foreign := _made_by_others(entry, live):
        return _release(entry, claims, f"{entry.key} {foreign}")
    if is_terminating(live):
        return keep_entry(entry, claims, KeepCode.TERMINATING, _being_deleted(entry, live), live)
    if stays is not None:
        return keep_entry(entry, claims, KeepCode.KEPT_FOR_SUCCESSOR, f"{entry.key} stays{stays}", live)
    user = contents.user(entry)
    if user is not None:
        why = ApplyText.STAYS_WHILE_OBJECTS_CLUSTER(entry=entry.key, user=user.kind, user_2=user)
        return keep_entry(entry, claims, KeepCode.NAMESPACE_IN_USE, why, live)
    return (
        _needed_by_rollout(entry, live, claims, contents)
        or _protected(entry, live, claims, contents)
        or _protecting(entry, live, claims, contents)
        or _left_to_owner(entry, live, claims, contents)
        or _delete(entry, live, claims)
    )


def _made_by_others(entry: InventoryEntry, live: LiveObject) -> str:
    """Why an object is not gitfleet's to delete, as the end of a sentence; "" where it is."""
    if entry.uid is not None and entry.uid != live.uid:
        return ApplyText.REPLACED_SOMEBODY_ELSE()
    if not is_unreported(entry, live) and (entry.uid is None or has_managers(live)):
        # Whatever the inventory says: what the server knows as made by others is not gitfleet's to delete. An apply
        # that sets no field (a Namespace that has only a name) leaves no managedFields at all: there the inventory
        # is the one record of who made it, confirmed or as the intent to.
        return ApplyText.NOT_APPLIED_GITFLEET()
    return ""


def _needed_by_rollout(entry: InventoryEntry, live: LiveObject, claims: Claims, contents: Contents) -> Keep | None:
    """A workload whose pods a rollout still needs stays, and so does what it lies in; None for any other object."""
    for identity, held in claims.request.ignored.held.items():
        if held.stays and identity == entry.key.identity:
            why = ApplyText.STAYS_ROLLOUT(entry=entry.key, rollout=held.rollout, stays_as=held.stays_as)
            why = claims.request.ignored.untouched(entry.key) or why
            return keep_entry(entry, claims, KeepCode.ROLLOUT, why, live)
        if held.stays and contents.is_within(identity, entry):
            why = ApplyText.STAYS_ROLLOUT_TAKES_PODS_AWAY(entry=entry.key, rollout=held.rollout)
            return keep_entry(entry, claims, KeepCode.NAMESPACE_IN_USE, why, live)
    return None


def _protected(entry: InventoryEntry, live: LiveObject, claims: Claims, contents: Contents) -> Operation | None:
    """What becomes of an object that nobody is to delete, as an annotation says; None for any other."""
    by = _protection_of(entry, claims)
    if by is None:
        return None
    around = contents.around(entry)
    for other in around:
        if not _is_settled(other, claims, contents):
            why = ApplyText.STAYS_CLUSTER_STAY(entry=entry.key, other=other.key)
            return keep_entry(entry, claims, KeepCode.NAMESPACE_IN_USE, why, live)
    why = ApplyText.STAYS_CLUSTER_PROTECTS(entry=entry.key, by=by)
    if by == TAKEN_OVER:
        why += ApplyText.DELETED_ROLL_OUT(prune=PRUNE)
    released = _release(entry, claims, why)
    return replace(released, keeping=tuple(other.key.identity for other in around))


def _is_settled(outer: InventoryEntry, claims: Claims, contents: Contents) -> bool:
    """Whether a namespace or a definition stays, or leaves the inventory now: what is protected in it may leave the
    inventory no sooner."""
    if outer.key.identity in claims.staying:
        return not claims.stays_for_now(outer.key.identity)
    return isinstance(prune(outer, claims, contents), Release)


def _protecting(entry: InventoryEntry, live: LiveObject, claims: Claims, contents: Contents) -> Operation | None:
    """What becomes of a namespace or a definition that would take along what is protected; None where nothing is."""
    if entry.keeps:
        left = named_briefly(entry.keeps, _MOST_NAMED)
        return _release(entry, claims, ApplyText.STAYS_CLUSTER_LEFT_NEVER_DELETED(entry=entry.key, left=left))
    for other in contents.within(entry):
        if not claims.was_observed(other.key):
            why = ApplyText.STAYS_UNTIL_READ(entry=entry.key, other=other.key)
            return keep_entry(entry, claims, KeepCode.NAMESPACE_IN_USE, why, live)
        if by := _protection_of(other, claims):
            return _release(entry, claims, ApplyText.STAYS_CLUSTER_PROTECTS_2(entry=entry.key, other=other.key, by=by))
    return None


def _protection_of(entry: InventoryEntry, claims: Claims) -> str | None:
    """By what was applied last, or by what a person wrote on the cluster: either one is enough. Of what was never
    confirmed the server alone knows where it comes from."""
    live = claims.live(entry.key)
    if live is None:
        return None
    unknown = entry.uid is None and may_be_made_by_others(entry, live)
    return entry.protected_by or protected_by(live.body, taken_over=unknown)


def _being_deleted(entry: InventoryEntry, live: LiveObject) -> str:
    if stuck := stuck_namespace(live):
        return ApplyText.BEING_DELETED_NAMESPACE_WAITS(entry=entry.key, why=stuck)
    names = (live.body.get("metadata") or {}).get("finalizers") or ()
    finalizers = f" ({named_briefly([str(name)[:_LONGEST_NAME] for name in names], 3)})" if names else ""
    return ApplyText.BEING_DELETED_WAITS_FINALIZERS(entry=entry.key, finalizers=finalizers)


def _left_to_owner(entry: InventoryEntry, live: LiveObject, claims: Claims, contents: Contents) -> Release | None:
    """An object that another one owns goes with that one, as in KubeFleet (kubefleet.md §6, co-owned); or with what it
    lies in, where that is deleted."""
    owner = other_owner(live)
    if owner is None:
        return None
    gone = (one for one in contents.around(entry) if one.key.identity not in claims.staying)
    taker = next((one.key for one in gone if isinstance(prune(one, claims, contents), Delete)), None)
    why = ApplyText.STAYS_CLUSTER() if taker is None else ApplyText.GOES_DELETED(taker=taker)
    return _release(entry, claims, ApplyText.OWNS_TOO(entry=entry.key, why=why, owner=owner))


def _delete(entry: InventoryEntry, live: LiveObject, claims: Claims) -> Delete:
    work = claims.works.get(entry.placement)
    override = work.deleted.get(entry.key.identity) if work is not None else None
    if entry.placement in claims.request.removing:
        why = ApplyText.LEAVES_CLUSTER(placement=entry.placement.kind, placement_2=entry.placement)
    elif override is not None:
        why = ApplyText.DELETES_CLUSTER(
            override=override.kind, override_2=override, placement=entry.placement.kind, placement_2=entry.placement
        )
    else:
        why = ApplyText.NO_LONGER(placement=entry.placement.kind, placement_2=entry.placement)
    return Delete(
        cluster=claims.request.cluster,
        placement=entry.placement,
        key=entry.key,
        uid=live.uid,
        wave=wave_of(entry.key.group, entry.key.kind),
        reason=why,
        propagation=_propagation_of(entry.key.group_kind),
    )


def _propagation_of(kind: GroupKind) -> PropagationPolicy:
    """How to delete: Foreground, as KubeFleet does, so that what an object made goes before it; Background for plain
    data, which makes nothing and is gone when the request returns."""
    plain = wave_of(kind.group, kind.kind) < 4 and kind.kind not in _HAVE_DEPENDENTS
    return PropagationPolicy.BACKGROUND if plain else PropagationPolicy.FOREGROUND


def _hold(entry: InventoryEntry, claims: Claims) -> Operation | None:
    """Why an entry stays that is in no work of its own placement in this plan."""
    holder = claims.staying[entry.key.identity]
    if claims.releases(entry) and claims.would_set_back(holder, entry):
        why = ApplyText.STAYS_UNTIL_HOLD_REMOVAL_FROM(entry=entry.key, holder=holder.kind, holder_2=holder)
        return keep_entry(entry, claims, KeepCode.KEPT_FOR_SUCCESSOR, why, claims.live(entry.key))
    if claims.releases(entry) and claims.would_change_back(holder, entry):
        why = ApplyText.STAYS_UNTIL_NEWEST_CONTENT_HERE(entry=entry.key, holder=holder.kind, holder_2=holder)
        return keep_entry(entry, claims, KeepCode.KEPT_FOR_SUCCESSOR, why, claims.live(entry.key))
    if claims.releases(entry) or (claims.hands_over(entry) and entry.key.identity in claims.holders):
        return None
    work = claims.works.get(entry.placement)
    why = ApplyText.NOTHING_DECIDED_ABOUT()
    if work is not None:
        what = "overridden" if work.unwrapped else "unwrapped"
        why = (
            ApplyText.RESOURCES_COULD_NOT(what=what, error=work.error)
            if work.error
            else ApplyText.REPORTDIFF_CHANGES_NOTHING()
        )
    return keep_entry(entry, claims, KeepCode.HELD, ApplyText.STAYS_AS_IT_IS(entry=entry.key, why=why))


def _release(entry: InventoryEntry, claims: Claims, reason: str) -> Release:
    return Release(cluster=claims.request.cluster, placement=entry.placement, key=entry.key, reason=reason)


def keep_entry(
    entry: InventoryEntry, claims: Claims, code: KeepCode, reason: str, live: LiveObject | None = None
) -> Keep:
    """The entry stays as it is, and why."""
    return Keep(
        cluster=claims.request.cluster, placement=entry.placement, key=entry.key, reason=reason, live=live, code=code
    )
