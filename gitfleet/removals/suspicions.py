"""Removals that look like an accident whatever their size (decision D31): what was emptied, hidden or misspelt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gitfleet.api.bindings import is_active
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.helm_releases import HELM_RELEASE_FILE
from gitfleet.api.holds import ALLOW_EMPTY, FieldPlace, HoldReason, HoldRule, Removal, RemovalKind
from gitfleet.api.objects import Identity, Manifest
from gitfleet.api.placements import Placement, PlacementKey, ResourceSelector
from gitfleet.formats.sentences import agreeing, named_briefly
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.removals.causes import IGNORE_FILE, Causes
from gitfleet.removals.gains import Gain, Gains, described
from gitfleet.removals.placed import Cell, Losses
from gitfleet.removals.selected import matches, selectors_in_force
from gitfleet.removals.shares import Finding, placements_of
from gitfleet.removals.takers import Takers

_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Suspicions:
    """The new removals of a commit with the placed objects that they take away; `losses` know all that there are."""

    desired: Desired
    before: FleetState
    after: FleetState
    new: Mapping[Removal, frozenset[Cell]]
    causes: Causes
    losses: Losses
    takers: Takers
    gains: Gains

    def found(self) -> Iterator[Finding]:
        """What must wait, and why; a removal that takes nothing away is let through, unless it is a cluster."""
        if (lost := self.before.damage.lost_holds) and self.new:
            message = f"the state branch's {lost[0]} was lost or edited, and may have held this"
            yield _finding(HoldRule.UNREADABLE_HOLD, message, tuple(self.new))
        lossy = [removal for removal, cells in self.new.items() if cells or removal.kind is RemovalKind.CLUSTER]
        yield from self._hidden_or_misspelt(lossy)
        for removal, cells in self.new.items():
            if cells and removal.kind is RemovalKind.CLUSTER:
                yield from self._connected_elsewhere(removal)
            elif removal.kind is RemovalKind.STRATEGY and (key := removal.placement) is not None:
                message = f"{key.kind} {key} would need no run any more: its latest snapshot and all later ones would "
                message += "go to every cluster without stages and approvals"
                yield _finding(HoldRule.NOT_EXTERNAL, message, (removal,))
        lost_by: dict[PlacementKey | None, list[Removal]] = {}
        for removal in lossy:
            lost_by.setdefault(removal.placement, []).append(removal)
        for key in sorted(placements_of(self.new)):
            record, old, mine = self.after.placements.get(key), self.before.placements.get(key), lost_by.get(key, [])
            takers = self.takers.of(key) if mine and old is not None else ()
            if old is not None and (record is None or record.placement.deleting is not None):
                yield from self._left_over(mine, old, takers)
            if record is None or old is None or record.placement.deleting is not None:
                continue
            objects = tuple(r for r in mine if r.kind is RemovalKind.OBJECT)
            yield from self._objects(objects, old, (record, *takers))
            yield from self._misspelt(objects, old, (record, *takers))
            yield from self._bindings(tuple(r for r in mine if r.kind is RemovalKind.BINDING), old, record)
            yield from self._overridden(tuple(r for r in mine if r.kind is RemovalKind.OVERRIDDEN), record.placement)

    def _hidden_or_misspelt(self, removals: Iterable[Removal]) -> Iterator[Finding]:
        """One finding for each ignore line, for all renames together, and for each file with other names in it."""
        found: dict[tuple[HoldRule, str, str], list[Removal]] = {}
        for removal in removals:
            vanished, cause = self.causes.vanished(removal), self.causes.of(removal)
            moved = vanished.successor if vanished is not None and vanished.elsewhere else None
            if cause.hidden and (moved is None or self._is_placed(removal, moved)):
                by, place = ("an ignore rule", f"{cause.line}") if cause.path == IGNORE_FILE else ("a rename", "")
                if vanished is not None and vanished.unbuilt:
                    is_chart = cause.path.endswith(HELM_RELEASE_FILE)
                    by, place = f"an edit of a {'Helm release' if is_chart else 'kustomization'}", cause.path
                found.setdefault((HoldRule.IGNORED_FILE, f"{by} takes {{}} away", place), []).append(removal)
            elif vanished is not None and vanished.successor and not vanished.replaced:
                text = "the commit renames {}, by what may be a typing error"
                if removal.kind is RemovalKind.CLUSTER:
                    text = "the commit takes {} out of the fleet and has another one in its file"
                    empty = not self.losses.placed.by_cluster.get(removal.cluster)
                    meant = empty or self._is_held(vanished.successor[3])
                elif vanished.elsewhere:
                    text = "the commit moves {} to a namespace in which no placement takes it"
                    meant = self._is_placed(removal, vanished.successor)
                else:
                    meant = self._was_placed(vanished.successor)
                if not meant:
                    found.setdefault((HoldRule.LIKELY_TYPO, text, vanished.path), []).append(removal)
        for (rule, text, _), group in found.items():
            yield _finding(rule, text.format(named_briefly([*map(str, group)], _MOST_NAMED)), tuple(group))

    def _connected_elsewhere(self, removal: Removal) -> Iterator[Finding]:
        """A cluster that stays in the fleet under another name: what is deleted as it leaves, the other one wants."""
        gone = self.before.clusters.get(removal.cluster)
        connection = gone.connection if gone is not None else None
        if gone is None or connection is None or connection.is_by_name:
            return
        for name, other in sorted(self.desired.clusters.items()):
            if name != removal.cluster and other.connection == connection and not self._same_server(gone, name):
                where = f"{other.origin.path} names" if other.origin else "there is"
                message = f"the commit takes {removal} out of the fleet, and {where} the same connection for cluster "
                message += f"{name}, so what {removal.cluster} has would be deleted under it"
                yield _finding(HoldRule.LIKELY_TYPO, message, (removal,))
                return

    def _same_server(self, gone: MemberCluster, name: str) -> bool:
        """Whether another member is known to have the server of one that leaves, which then deletes nothing."""
        other = self.after.clusters.get(name)
        return bool(gone.status.server) and other is not None and other.status.server == gone.status.server

    def _is_held(self, cluster: str) -> bool:
        """Whether it is held that a cluster leaves: then a rename is taken back."""
        removals = (removal for hold in self.before.holds.values() for removal in hold.removals)
        return any(removal.kind is RemovalKind.CLUSTER and removal.cluster == cluster for removal in removals)

    def _was_placed(self, successor: Identity) -> bool:
        """Whether what came in its place was there before, of whatever placement: then a typing error is taken back."""
        return any((key, successor) in self.causes.places for key in self.before.placements)

    def _is_placed(self, removal: Removal, successor: Identity) -> bool:
        """Whether a placement has what came in its place, or was it and has anything itself."""
        if removal.kind is not RemovalKind.PLACEMENT:
            return self.losses.is_wanted(successor)
        record = self.after.placements.get(PlacementKey(*successor[2:]))
        latest = record.latest_resources if record is not None else None
        return latest is not None and bool(latest.documents)

    def _left_over(
        self, removals: Iterable[Removal], old: PlacementRecord, takers: tuple[PlacementRecord, ...]
    ) -> Iterator[Finding]:
        """What nobody takes over of a placement that goes is judged as what goes from one that stays, where others take
        over the rest of it, or may be meant to: to fold or split a placement removes nothing."""
        names = named_briefly([f"{one.placement.key.kind} {one.placement.key}" for one in takers], _MOST_NAMED)
        take = f"while {names} {agreeing(len(takers), 'takes', 'take')} over from" if takers else "of"
        for removal in removals:
            rest = self.takers.rest(removal, old, takers) if removal.kind is RemovalKind.PLACEMENT else ()
            slips = (*self._hidden_or_misspelt(rest), *self._objects(rest, old, takers)) if takers else ()
            for found in (*slips, *self._misspelt(rest, old, takers)):
                causes = dict.fromkeys(text for one in found.removals if (text := self.causes.of(one).text))
                why = f" ({named_briefly([*causes], _MOST_NAMED)})" if causes else ""
                message = f"{found.reason.message}{why}, {take} {removal}"
                yield Finding(replace(found.reason, message=message), (removal,))

    def _misspelt(
        self, removals: Iterable[Removal], old: PlacementRecord, records: Iterable[PlacementRecord]
    ) -> Iterator[Finding]:
        """What is still written goes from a placement while another one than those that have its selectors (`records`)
        gets a selector that picks nothing, or any one that may be misspelt for one that is dropped."""
        known = {one.placement.key for one in records}
        left = selectors_in_force(self.after.placements.get(old.placement.key))
        written = tuple(r for r in removals if self.causes.is_written(r) and not self.causes.is_pinned(r))
        for key, gains in self.gains.empty.items() if written else ():
            mine = tuple(r for r in written if not key.namespace or (r.object and r.object.namespace == key.namespace))
            if mine and key not in known and not allows_empty(gains[0].placement):
                yield _no_match(gains, mine)
        yield from self._nearly_labelled(written, old)
        for selector in old.placement.selectors if written else ():
            near_one = self.gains.nearly(selector, old.placement)
            if near_one is None or selector in left:
                continue
            if mine := tuple(r for r in written if selector in (self.causes.selectors_of(r) or ())):
                yield _typo(near_one, f"which may be meant for {described(selector)}", mine)

    def _nearly_labelled(self, removals: Iterable[Removal], old: PlacementRecord) -> Iterator[Finding]:
        """What goes while it nearly has the labels of a selector, of whatever placement, but for one that it was
        selected by: itself, its envelope or its Namespace. Each of these is looked at once."""
        meant: dict[Identity, Gain | None] = {}
        found: dict[tuple[PlacementKey, int], tuple[Gain, Manifest, dict[Removal, None]]] = {}
        for removal in removals:
            for then, now in self.causes.selected(removal):
                if (identity := now.key.identity) not in meant:
                    meant[identity] = self.gains.nearly_labelled(then, now, old.placement.selectors)
                if (gain := meant[identity]) is not None:
                    found.setdefault((gain.placement.key, gain.number), (gain, now, {}))[2][removal] = None
        for gain, first, mine in found.values():
            yield _typo(gain, f"and {first.key} ({first.origin}) nearly has them", tuple(mine))

    def _objects(
        self, removals: tuple[Removal, ...], old: PlacementRecord, records: Iterable[PlacementRecord]
    ) -> Iterator[Finding]:
        """What goes from a placement, by the records of those that have its selectors now: itself, and its takers."""
        for new in records if removals else ():
            placement, name = new.placement, f"{new.placement.key.kind} {new.placement.key}"
            stays = placement.key == old.placement.key
            if not allows_empty(placement):
                if stays and new.latest_resources is not None and not new.latest_resources.documents:
                    yield _finding(HoldRule.EMPTY_SELECTION, f"{name} selects nothing any more", removals)
                elif empty := [s for s in self.takers.gained(new, old) if self._is_emptied(s, old, new)]:
                    yield _no_match([self.gains.at(placement, placement.selectors.index(s)) for s in empty], removals)
            # What a pin takes back is still written, and a person asked for that.
            written = (r for r in removals if not self.causes.is_pinned(r))
            if left := [r for r in written if self._is_lost(r, old, new)]:
                message = f"{name} selects {named_briefly([str(r.object) for r in left], _MOST_NAMED)} no more"
                message = f"{message}, though the manifests are still there"
                yield _finding(HoldRule.LABELS_CHANGED, message, tuple(left))

    def _is_lost(self, removal: Removal, old: PlacementRecord, new: PlacementRecord) -> bool:
        """Whether an object is still written, and the selectors that it was placed by are still there, in its placement
        or in one that takes over, and name it no more."""
        selectors, identity = new.placement.selectors, removal.object.identity if removal.object is not None else None
        if identity is None or not self.causes.is_written(removal):
            return False
        if new.placement.key != old.placement.key and self.losses.selects(new.placement.key, identity):
            return False
        by = self.causes.selectors_of(removal)
        if by is None:
            return selectors == old.placement.selectors
        return any(one in selectors for one in by)

    def _is_emptied(self, selector: ResourceSelector, old: PlacementRecord, new: PlacementRecord) -> bool:
        """Whether a selector matches nothing, and did match something or is new."""
        if self.gains.picks(selector, new.placement):
            return False
        latest = old.latest_resources
        manifests = latest.manifests if latest is not None else None
        was = manifests is None or any(matches(selector, manifest) for manifest in manifests)
        return was or selector not in old.placement.selectors

    def _bindings(self, removals: tuple[Removal, ...], old: PlacementRecord, new: PlacementRecord) -> Iterator[Finding]:
        if not removals:
            return
        placement = new.placement
        name = f"{placement.key.kind} {placement.key}"
        if not allows_empty(placement) and not any(is_active(binding) for binding in new.bindings):
            yield _finding(HoldRule.LAST_CLUSTER, f"{name} picks no cluster any more", removals)
        known = old.placement.effective_policy.cluster_names
        named = placement.effective_policy.cluster_names
        if unknown := [n for n in named if n not in self.after.clusters and n not in known]:
            what = named_briefly([f'"{one}"' for one in unknown], _MOST_NAMED)
            message = f"{name} names {what}, which is no cluster of the fleet"
            yield _finding(HoldRule.LIKELY_TYPO, message, removals)

    def _overridden(self, removals: tuple[Removal, ...], placement: Placement) -> Iterator[Finding]:
        gone = {cell for removal in removals for cell in self.new[removal]}
        if removals and not allows_empty(placement) and gone >= self.losses.placed.by_placement[placement.key]:
            message = f"{placement.key.kind} {placement.key} has no objects any more, as overrides delete all of them"
            yield _finding(HoldRule.EMPTY_SELECTION, message, removals)


def _finding(rule: HoldRule, message: str, removals: tuple[Removal, ...], field: FieldPlace | None = None) -> Finding:
    return Finding(HoldReason(rule=rule, message=message, field=field), removals)


def _no_match(gains: Sequence[Gain], removals: tuple[Removal, ...]) -> Finding:
    key, what = gains[0].placement.key, named_briefly([described(one.selector) for one in gains], _MOST_NAMED)
    message = f"{key.kind} {key}: nothing matches the selector {what}{gains[0].place}"
    return _finding(HoldRule.EMPTY_SELECTION, message, removals, gains[0].field)


def _typo(gain: Gain, why: str, removals: tuple[Removal, ...]) -> Finding:
    key = gain.placement.key
    message = f"{key.kind} {key} selects {described(gain.selector)}{gain.place}, {why}"
    return _finding(HoldRule.LIKELY_TYPO, message, removals, gain.field)


def allows_empty(placement: Placement) -> bool:
    """Whether a placement may have no objects and no clusters."""
    return placement.annotations.get(ALLOW_EMPTY) == "true"
