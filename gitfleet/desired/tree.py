"""The whole tree: all readings become one Desired, and every fault holds the last good version in its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from gitfleet.api.faults import Fault, LastGood, Severity, listed
from gitfleet.api.fleet import FleetConfig
from gitfleet.api.objects import GroupKind, Identity, Manifest
from gitfleet.desired.absent import absent_notes
from gitfleet.desired.bases import unused_bases
from gitfleet.desired.crosschecks import (
    Refusals,
    budget_warnings,
    by_precedence,
    config_refusals,
    connection_refusals,
    exported_warnings,
    override_refusals,
    pin_refusals,
    scope_refusals,
    scopes_of,
    update_refusals,
)
from gitfleet.desired.gates import gate_slips, hidden_gates
from gitfleet.desired.gathering import Gathered, gather
from gitfleet.desired.hidden import Hidden
from gitfleet.desired.kind_rules import (
    kept_namespace_fault,
    missing_namespace_break,
    missing_namespaces,
    namespaces_made,
    near_namespace,
    renamed_kind_refusals,
    selector_refusals,
    selector_warnings,
    undeclared_warnings,
)
from gitfleet.desired.known_kinds import KnownKinds, kinds_with
from gitfleet.desired.mislabelled import mislabelled_warnings
from gitfleet.desired.paths import area_of, is_build_file
from gitfleet.desired.policy_rules import denied_payload, denied_selectors, policy_warnings
from gitfleet.desired.present import Present
from gitfleet.desired.readings import ReadObject, by_kind, faults_at
from gitfleet.desired.recovery import Recovery, is_within
from gitfleet.desired.replaced import Replacements, kept_payload, kept_placements
from gitfleet.desired.request import DesiredRequest
from gitfleet.desired.taken_back import misread_placements
from gitfleet.desired.unclear import CommitRead, misnamed_placements, read_again, unclear_places
from gitfleet.desired.unselected import unselected_notes
from gitfleet.desired.vanished import ignored_placed, vanished_objects
from gitfleet.model.desired import Desired

_MOST_GUESSES: Final = 1_000_000
"""Beyond so many pairs of a vanished object and a file that may hold it, all of them are taken to be there."""


@dataclass(slots=True)
class _Pool:
    """The objects that go on, and what was found on the way."""

    request: DesiredRequest
    recovery: Recovery
    chosen: dict[Identity, ReadObject] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    kept: dict[Identity, set[str]] = field(default_factory=dict)
    doubled: list[ReadObject] = field(default_factory=list)
    refused: list[ReadObject] = field(default_factory=list)
    last_good: dict[str, dict[tuple[str, str], set[int]]] = field(default_factory=dict)
    hidden: Hidden = field(default_factory=Hidden)
    holds_removals: bool = False


def read_desired(request: DesiredRequest) -> Desired:
    """Everything that people want at the request's commit.

    Never raises on any content. What is faulty goes on at its last good version; every fault is reported once, sorted.
    """
    gathered = gather(request)
    pool = _Pool(request, Recovery(request), faults=list(gathered.faults))
    gathered.readings.update(list(unused_bases(request, pool.recovery, gathered.readings)))
    _hide(pool, gathered)
    _choose(pool, gathered)
    _recover(pool, gathered)
    _keep_gates(pool, gathered)
    _refuse(pool, update_refusals(pool.chosen.values(), request.accepted, pool.recovery))
    _refuse_payload(pool, gathered)
    _refuse_unconnected(pool)
    scopes = scopes_of(pool.chosen.values())
    for _ in range(2):  # where an object goes back to its last good version, another one may not fit beside it
        refused = scope_refusals(pool.chosen.values(), scopes)
        refused += override_refusals(pool.chosen.values(), request.accepted.overrides)
        refused += selector_refusals(pool.chosen.values(), _known_kinds(pool), request.accepted)
        refused = [(item, note) for item, note in refused if item.identity not in pool.kept]
        if not refused:
            break
        _refuse(pool, refused)
    _keep_replaced(pool, gathered)
    items = pool.chosen.values()
    slips = gate_slips(items, pool.recovery, request.accepted, request.contents)
    _refuse(pool, [(item, note) for item, note, _ in slips])
    for item, _, gate in slips:
        _keep(pool, gate, item.origin.path)
    _refuse(pool, [*pin_refusals(items, pool.recovery, request.changed), *config_refusals(items, pool.kept)])
    _deny(pool, scopes)
    errors = _keep_replaced(pool, gathered)
    pool.faults += faults_at(_warnings(pool), request.contents, Severity.WARNING)
    read = CommitRead(errors, gathered.readings, pool.chosen)
    found = replace(_desired(pool, scopes), unclear=unclear_places(read, pool.faults), read_again=read_again(read))
    found = replace(found, kept=kept_placements(pool.kept), kept_payload=kept_payload(pool.kept))
    misread = misread_placements(errors, pool.chosen, pool.kept)
    return replace(found, misread=misread, misnamed=misnamed_placements(read))


def _hide(pool: _Pool, gathered: Gathered) -> None:
    """Note the errors of the files, and what the commit may hold besides what was read."""
    for path, reading in gathered.readings.items():
        pool.faults += reading.faults
        pool.refused += reading.faulty
        for item in reading.faulty:
            pool.hidden.add(item.identity)
        if reading.unreadable:
            pool.hidden.add_text(path, pool.request.text_of(path))
    for path in gathered.closed:
        pool.hidden.add_text(path, pool.request.text_of(path))


def _warnings(pool: _Pool) -> Refusals:
    sound = [item for item in pool.chosen.values() if item.identity not in pool.kept]
    known = replace(_known_kinds(pool), hidden=pool.hidden)
    # Without its budget a placement could be evicted at will: one that means nothing stays and blocks evictions.
    found = [*budget_warnings(sound), *exported_warnings(sound, pool.request.accepted), *policy_warnings(sound, known)]
    found += [*selector_warnings(sound, known), *undeclared_warnings(sound, known)]
    present = Present(pool.chosen.values(), pool.request.accepted, pool.hidden, pool.recovery.everything())
    absent = present.warnings(absent_notes, unselected_notes) + mislabelled_warnings(present.items)
    return [*found, *((item, note) for item, note in absent if item.identity not in pool.kept)]


def _known_kinds(pool: _Pool) -> KnownKinds:
    """While removals are held, the kinds that may be hidden are taken to be known: nothing is removed for them."""
    manifests = (item.value for item in pool.chosen.values() if isinstance(item.value, Manifest))
    return kinds_with(manifests, hidden=pool.hidden if pool.holds_removals else Hidden())


def _refuse_unconnected(pool: _Pool) -> None:
    """Clusters that nothing says how to reach, outside of simulations. One that was never accepted goes on
    nevertheless: what would be done with it can be planned, and nothing is done while it does not answer."""
    notes = connection_refusals(pool.chosen.values()) if not pool.request.simulated else []
    known = pool.request.accepted.clusters
    had = {name for name, cluster in known.items() if cluster.connection is not None and cluster.deleting is None}
    _refuse(pool, [(item, note) for item, note in notes if item.identity[3] in had])
    pool.faults += faults_at([pair for pair in notes if pair[0].identity[3] not in had], pool.request.contents)


def _refuse_payload(pool: _Pool, gathered: Gathered) -> None:
    """Payload whose kind is a misspelling of another's that is gone, and payload whose namespace nothing makes."""
    vanished = {i: item for i, item in pool.recovery.everything().items() if i not in pool.chosen}
    _refuse(pool, renamed_kind_refusals(pool.chosen.values(), _known_kinds(pool), vanished))
    faulty = {item.identity for reading in gathered.readings.values() for item in reading.faulty}
    made = namespaces_made(pool.chosen.values())
    for name, items in missing_namespaces(pool.chosen.values(), faulty).items():
        if pool.holds_removals and pool.hidden.has_object("Namespace", name):
            continue
        kept = pool.recovery.object(("", "Namespace", "", name), items[0].origin.path)
        near = near_namespace(name, made)
        if kept is not None:
            _keep(pool, kept, items[0].origin.path)
            pool.faults.append(kept_namespace_fault(name, near, items, pool.request.contents))
        else:
            note = missing_namespace_break(name, near)
            _refuse(pool, [(item, note) for item in items if item.identity not in pool.kept])


def _choose(pool: _Pool, gathered: Gathered) -> None:
    """Every object once; of several with one identity, the one that was there before, or the first by path."""
    several: dict[Identity, list[ReadObject]] = {}
    for reading in gathered.readings.values():
        for item in reading.objects:
            first = pool.chosen.setdefault(item.identity, item)
            if first is not item:
                several.setdefault(item.identity, [first]).append(item)
    doubled: Refusals = []
    for identity, items in several.items():
        first, *others = by_precedence(items, pool.recovery, pool.request.changed)
        pool.chosen[identity] = first
        sentence = f"is defined a second time; {first.origin} already has it, remove one of the two"
        doubled += [(item, ((), sentence)) for item in others]
        pool.doubled += others
    pool.faults += faults_at(doubled, pool.request.contents)


def _recover(pool: _Pool, gathered: Gathered) -> None:
    """Bring back what is missing because of faults within files, and what unreadable entries hide."""
    damaged: dict[str, frozenset[str] | None] = {}
    for path, reading in gathered.readings.items():
        refused = {item.identity for item in reading.faulty}
        unmatched = {identity for identity in sorted(refused) if not _restore(pool, identity, path)}
        if reading.unreadable:
            _restore_file(pool, path, path, refused)
            damaged[path] = None
        elif unmatched:
            _restore_damaged(pool, path, refused, unmatched - pool.recovery.was_faulty(path), damaged)
    for path in gathered.closed:
        _restore_file(pool, path, area_of(path), set())
        damaged[path] = None
    _restore_vanished(pool, damaged)
    _restore_doubled(pool, gathered)
    _restore_overrides(pool)


def _keep_gates(pool: _Pool, gathered: Gathered) -> None:
    """Gates of which the file is hidden, moved out of sight or emptied; another one of its name does not replace it."""
    for item, path, fault in list(hidden_gates(pool.request, pool.recovery, pool.chosen, gathered.readings)):
        pool.chosen.pop(item.identity, None)
        _keep(pool, item, path)
        pool.faults.append(fault)


def _keep_replaced(pool: _Pool, gathered: Gathered) -> Replacements:
    """Placements and clusters that are gone where something with an error may take their place."""
    unreadable = [*(path for path, reading in gathered.readings.items() if reading.unreadable), *gathered.closed]
    errors = Replacements(pool.request, pool.recovery, (*pool.refused, *pool.doubled), unreadable)
    for path, items, fault in errors.of(pool.chosen, pool.kept, pool.faults):
        for item in items:
            if item.identity not in pool.kept:
                pool.chosen.pop(item.identity, None)  # an edit that takes selectors from it
            _keep(pool, item, path)
        pool.faults.append(fault)
    for path in errors.of_unknown_files():
        _hold_removals(pool, path)
    _restore_overrides(pool)
    return errors


def _restore_doubled(pool: _Pool, gathered: Gathered) -> None:
    """What the documents that define something a second time were before: a copied name takes nothing away."""
    by_path: dict[str, set[Identity]] = {}
    for item in pool.doubled:
        by_path.setdefault(item.origin.path, set()).add(item.identity)
    for path, identities in by_path.items():
        counts = Counter(item.identity for item in gathered.readings[path].objects)
        fresh = {found for found in identities if pool.recovery.is_new_double(found, path, counts[found])}
        _restore_damaged(pool, path, set(), fresh, {})


def _restore_damaged(
    pool: _Pool, path: str, refused: set[Identity], fresh: set[Identity], damaged: dict[str, frozenset[str] | None]
) -> None:
    """What faulty objects of a file that nobody knows may hide. One that was there already (not `fresh`) hides no more
    than it did then; the names of the others go to `damaged`."""
    if fresh:
        _restore_file(pool, path, path, refused)
        damaged[path] = frozenset(identity[3] for identity in fresh)
    else:
        for item in pool.recovery.held_for(path):
            _keep(pool, item, path)


def _restore_file(pool: _Pool, path: str, below: str, refused: set[Identity]) -> None:
    """All that was in a file that cannot be read in full, or below a closed folder, and is nowhere now.

    A faulty object that nobody knows counts as well: it may be a known one whose name or namespace was damaged.
    """
    for item in pool.recovery.of_path(path, below):
        if item.identity not in refused:
            _keep(pool, item, path)
    if not pool.recovery.knows(path):
        _hold_removals(pool, path)


def _hold_removals(pool: _Pool, path: str) -> None:
    """Nobody knows what was in a faulty file: whatever is missing may stand there."""
    pool.holds_removals = True
    pool.last_good.setdefault(path, {})[("", "")] = set()


def _restore_vanished(pool: _Pool, damaged: Mapping[str, frozenset[str] | None]) -> None:
    """What this commit has no more, and what may have moved into a file that cannot be read in full.

    `damaged` are these files: the names of faulty objects that nobody knows, or None where any object may be missing.
    """
    changed = pool.request.changed
    vanished = {i: item for i, item in pool.recovery.everything().items() if i not in pool.chosen} if damaged else {}
    many = len(vanished) * len(damaged) > _MOST_GUESSES
    for path, names in damaged.items() if vanished else ():
        content = pool.request.text_of(path) if names is None and not many else b""
        is_new = changed is None or path in changed
        is_new = is_new or (is_build_file(path) and any(is_within(other, area_of(path)) for other in changed or ()))
        for identity, item in vanished.items():
            name = identity[3]
            named = (name.encode() in content or not content) if names is None else name in names
            # What is held already may be so because of this file, or because of one that was renamed to it; other
            # things cannot have moved into a file that did not change.
            held_for = pool.recovery.paths_of(identity)
            renamed = names is None and is_new and not held_for <= pool.request.files.keys()
            if renamed or (named and (is_new or held_for)):
                _keep(pool, item, path)


def _restore_overrides(pool: _Pool) -> None:
    """While removals are held, an override that bindings use goes on as well."""
    for item in pool.recovery.overrides_in_use() if pool.holds_removals else ():
        pool.chosen.setdefault(item.identity, item)


def _restore(pool: _Pool, identity: Identity, path: str) -> bool:
    """One object's last good version, unless another file of this commit defines it; whether the object was known."""
    if identity in pool.chosen:
        return True
    item = pool.recovery.object(identity, path)
    if item is not None:
        _keep(pool, item, path)
    return item is not None


def _keep(pool: _Pool, item: ReadObject, path: str) -> None:
    """Let a last good version go on because of the file at a path, unless the commit has the object; note which version
    it is, so that the next commits can hold it too. One may go on because of several files, for each as long as that
    has the error."""
    if pool.chosen.setdefault(item.identity, item) is not item and item.identity not in pool.kept:
        return
    pool.kept.setdefault(item.identity, set()).add(path)
    # What was accepted does not name its file: the version that the files had is noted for it.
    origin = (item if item.origin.blob else pool.recovery.previous(item.identity) or item).origin
    if origin.blob:
        is_own = origin.path == path and not pool.recovery.is_used_again(item.identity, path)
        source = (origin.blob, "" if is_own else origin.path)
        pool.last_good.setdefault(path, {}).setdefault(source, set()).add(origin.document)
    elif is_build_file(item.origin.path) and area_of(item.origin.path) != area_of(path):
        pool.last_good.setdefault(path, {})[("", "")] = set()  # no file has it: the next commits hold whatever is gone


def _refuse(pool: _Pool, refusals: Refusals) -> None:
    """Report each fault, and put the object's last good version in its place, or nothing where there is none. One that
    is refused itself, because something else changed around it, goes on nevertheless."""
    pool.faults += faults_at(refusals, pool.request.contents)
    unmatched: dict[str, dict[Identity, str]] = {}
    for item in {item.identity: item for item, _ in refusals}.values():
        pool.hidden.add(item.identity)
        refused = pool.chosen.pop(item.identity, None)
        if item.identity not in pool.kept:
            pool.refused.append(item)
        kept = pool.recovery.object(item.identity, item.origin.path) if refused is not None else None
        configs = (one for one in pool.chosen.values() if isinstance(one.value, FleetConfig))
        if kept is not None and not (isinstance(kept.value, FleetConfig) and any(configs)):
            _keep(pool, kept, item.origin.path)
        elif kept is None:
            unmatched.setdefault(item.origin.path, {})[item.identity] = item.label
    _restore_unmatched(pool, unmatched)


def _restore_unmatched(pool: _Pool, unmatched: Mapping[str, Mapping[Identity, str]]) -> None:
    """A refused object that nobody knows may be a known one whose name, namespace or kind was damaged: what was in its
    file stays."""
    damaged: dict[str, frozenset[str] | None] = {}
    for path, labels in unmatched.items():
        fresh = {identity for identity, label in labels.items() if pool.recovery.may_be_new(path, label)}
        _restore_damaged(pool, path, set(labels), fresh, damaged)
    _restore_vanished(pool, damaged)


def _deny(pool: _Pool, scopes: Mapping[GroupKind, bool]) -> None:
    """Report what the fleet's policy denies. What is placed of it stays as it is placed, the rest is left out."""
    unmatched: dict[str, dict[Identity, str]] = {}
    config = next((item.value for item in pool.chosen.values() if isinstance(item.value, FleetConfig)), FleetConfig())
    denied = denied_payload(pool.chosen.values(), config.policy)
    for item in {item.identity: item for item, _ in denied}.values():
        del pool.chosen[item.identity]
        pool.hidden.add(item.identity)
        if (placed := pool.recovery.placed().get(item.identity)) is not None:
            _keep(pool, placed, item.origin.path)
        elif pool.recovery.object(item.identity, item.origin.path) is None:
            unmatched.setdefault(item.origin.path, {})[item.identity] = item.label
    _restore_unmatched(pool, unmatched)
    pool.faults += faults_at(denied, pool.request.contents)
    _refuse(pool, denied_selectors(pool.chosen.values(), config.policy, scopes))


def _desired(pool: _Pool, scopes: dict[GroupKind, bool]) -> Desired:
    objects, manifests = by_kind(pool.chosen[identity] for identity in sorted(pool.chosen))
    return Desired(
        commit=pool.request.commit,
        objects=objects,
        payload=tuple(sorted(manifests, key=lambda manifest: manifest.origin)),
        namespaced=dict(sorted(scopes.items())),
        faults=listed(pool.faults),
        last_good={
            path: tuple(
                LastGood(blob, tuple(sorted(some)), origin) for (blob, origin), some in sorted(versions.items())
            )
            for path, versions in sorted(pool.last_good.items())
        },
        holds_removals=pool.holds_removals,
        vanished=vanished_objects(pool.request, pool.recovery, pool.chosen),
        ignored=ignored_placed(pool.request),
        sources={folder: built.sources for folder, built in pool.request.built.items() if built.sources},
    )
