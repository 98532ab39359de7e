"""Moves out of a gate: what a placement has that is External, frozen, pinned or quarantined goes to one that is not.

Source: decision records 0019 (External) and 0021 (a rename waits for what names the old name).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from gitfleet.api.bindings import is_active
from gitfleet.api.holds import OF_GATES, Hold, HoldReason, HoldRule, Removal, RemovalKind
from gitfleet.api.placements import PlacementKey
from gitfleet.formats.sentences import named_briefly
from gitfleet.model.rolling import Frozen
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.removals.placed import Losses
from gitfleet.removals.shares import Finding

_MOST_NAMED: Final = 3
_NOT_EXTERNAL: Final = (
    "{taker}, which is not External, takes over {what}: its latest snapshot and all later ones would go to every "
    "cluster without stages and approvals"
)
_NOT_PINNED: Final = "{taker} takes over {what}, and the Pin of {owner} is not for it: newer content would go out"
_NOT_QUARANTINED: Final = (
    "{taker} takes over {what}, and the Quarantine of {owner}'s newest content is not for it: that would go out"
)
_NOT_FROZEN: Final = "{taker} takes over {what}, and is not "


@dataclass(frozen=True, slots=True, kw_only=True)
class Gates:
    """What stops placements as of a commit, beside their strategy External: on which of some clusters one is `frozen`
    and until when, those that a Pin names (`pinned`), and the digests of content that is `quarantined`."""

    frozen: Callable[[PlacementKey, Iterable[str]], Mapping[str, Frozen]] = lambda *_: {}
    pinned: Collection[PlacementKey] = ()
    quarantined: Mapping[PlacementKey, Collection[str]] = field(default_factory=dict)

    def lost(
        self, before: FleetState, after: FleetState, removals: Iterable[Removal], losses: Losses
    ) -> Iterator[Finding]:
        """For each gate of a placement a finding of what another one takes over for which it would not count: that one
        has no such gate, or a freeze that ends sooner."""
        found: dict[tuple[PlacementKey, str], list[tuple[PlacementKey, Removal]]] = {}
        for removal in removals:
            old = before.placements.get(removal.placement) if removal.placement is not None else None
            if old is None or removal.kind not in (RemovalKind.PLACEMENT, RemovalKind.OBJECT):
                continue
            for taker, clusters in sorted(losses.taken_by(removal).items()) if self._of(old) else ():
                for gate in self._missing(old, after.placements[taker], clusters):
                    found.setdefault((old.placement.key, gate), []).append((taker, removal))
        for (owner, gate), moves in found.items():
            held = tuple({removal.id: removal for _, removal in moves}.values())
            objects = [str(removal.object) for removal in held if removal.object is not None]
            what = f"{named_briefly(objects, _MOST_NAMED)} of placement {owner}" if objects else f"what {held[0]} has"
            message = gate.format(taker=f"{moves[0][0].kind} {moves[0][0]}", what=what, owner=owner)
            rule = HoldRule.NOT_EXTERNAL if gate == _NOT_EXTERNAL else HoldRule.GATE_LOST
            yield Finding(HoldReason(rule=rule, message=message), held)

    def without_ended(self, holds: Mapping[str, Hold], before: FleetState) -> dict[str, Hold]:
        """The holds without those that nobody has answered and that waited for nothing but gates which have ended:
        their removals are judged again."""
        return {name: hold for name, hold in holds.items() if self._of_hold(hold, before) != {}}

    def until(self, hold: Hold, before: FleetState) -> Frozen | None:
        """The freeze with which a hold ends, where nothing else holds."""
        gates = self._of_hold(hold, before) or {None: None}
        freezes = [frozen for frozen in gates.values() if frozen is not None]
        return max(freezes, key=lambda one: one.end) if len(freezes) == len(gates) else None

    def _of_hold(self, hold: Hold, before: FleetState) -> dict[object, Frozen | None] | None:
        """What the placements of a hold have that is for gates alone; None where it is answered or is for more."""
        of_gates = bool(hold.reasons) and all(reason.rule in OF_GATES for reason in hold.reasons)
        keys = {removal.placement for removal in hold.removals if removal.placement is not None}
        if hold.answer is not None or not of_gates or not keys <= before.placements.keys():
            return None
        return {(key, gate): one for key in keys for gate, one in self._of(before.placements[key]).items()}

    def _of(self, record: PlacementRecord) -> dict[str, Frozen | None]:
        """The gates of a placement, by what is said of one that has it not; of freezes the one that ends last. Nothing
        else delays a placement that is to go."""
        key, latest = record.placement.key, record.latest_resources
        found: dict[str, Frozen | None] = {}
        stays = record.placement.deleting is None
        if stays and record.placement.strategy.external:
            found[_NOT_EXTERNAL] = None
        if stays and record.is_pinned and key in self.pinned:
            found[_NOT_PINNED] = None
        if stays and latest is not None and latest.hash in self.quarantined.get(key, ()):
            found[_NOT_QUARANTINED] = None
        frozen = self.frozen(key, [binding.cluster for binding in record.bindings if is_active(binding)]).values()
        return found | ({_NOT_FROZEN: max(frozen, key=lambda one: one.end)} if frozen else {})

    def _missing(self, old: PlacementRecord, new: PlacementRecord, clusters: Collection[str]) -> Iterator[str]:
        has = self._of(new)
        yield from (gate for gate in self._of(old) if gate != _NOT_FROZEN and gate not in has)
        later = self.frozen(new.placement.key, clusters)
        for name, frozen in sorted(self.frozen(old.placement.key, clusters).items()):
            if name not in later or later[name].end < frozen.end:
                reason = frozen.reason.replace("{", "{{").replace("}", "}}")
                yield f"{_NOT_FROZEN}{reason}"
                return
