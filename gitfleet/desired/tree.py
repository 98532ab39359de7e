"""The whole tree: all readings become one Desired, and every fault holds the last good version in its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from gitfleet.api.faults import Fault, LastGood, Severity, is_error, listed
from gitfleet.api.fleet import FleetConfig
from gitfleet.api.objects import GroupKind, Identity, Manifest
from gitfleet.api.placing_policy import PlacingPolicy
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
    patch_errors,
    pin_refusals,
    scaled_warnings,
    scope_refusals,
    scopes_of,
    update_refusals,
    was_in_force,
)
from gitfleet.desired.gates import gate_slips, hidden_gates
from gitfleet.desired.gathering import Gathered, gather
from gitfleet.desired.held_targets import held_placements, held_targets
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
from gitfleet.desired.left_over import left_over_warnings
from gitfleet.desired.mislabelled import mislabelled_warnings
from gitfleet.desired.paths import area_of, is_build_file
from gitfleet.desired.policy_rules import denied_payload, denied_selectors, denied_workloads, policy_warnings
from gitfleet.desired.pool import Pool
from gitfleet.desired.present import Present
from gitfleet.desired.readings import FileReading, ReadObject, by_kind, faults_at
from gitfleet.desired.recovery import Recovery
from gitfleet.desired.relabelled import relabelled_refusals
from gitfleet.desired.replaced import Replacements, kept_payload, kept_placements
from gitfleet.desired.request import DesiredRequest
from gitfleet.desired.rollout_rules import rollout_refusals, workload_notes
from gitfleet.desired.taken_back import misread_placements
from gitfleet.desired.texts import DesiredText
from gitfleet.desired.unclear import CommitRead, misnamed_files, read_again, unclear_places
from gitfleet.desired.unselected import unselected_notes
from gitfleet.desired.vanished import ignored_placed, vanished_objects
from gitfleet.formats.sentences import counted
from gitfleet.model.desired import Desired

_MOST_READINGS: Final = 3
"""So often a commit is read at most: one folder that is refused as a whole may be why another one has an error."""


def read_desired(request: DesiredRequest) -> Desired:
    """Everything that people want at the request's commit.

    Never raises on any content. What is faulty goes on at its last good version; every fault is reported once, sorted.
    """
    errors: dict[str, tuple[Fault, ...]] = {}
    found, more = _read(request, errors)
    for _ in range(_MOST_READINGS - 1):
        if more.keys() <= errors.keys():
            break
        errors = more | errors
        found, more = _read(request, errors)
    return found


def _read(
    request: DesiredRequest, folders: Mapping[str, Sequence[Fault]]
) -> tuple[Desired, dict[str, tuple[Fault, ...]]]:
    """A reading that takes no object from the built `folders`, for their errors; and the errors of the built folders of
    which it refused an object. What is wrong with an object may show only beside all others."""
    gathered = gather(request)
    pool = Pool(request, Recovery(request), faults=list(gathered.faults))
    gathered.readings.update(list(unused_bases(request, pool.recovery, gathered.readings)))
    for path, faults in folders.items():
        gathered.readings[path] = _refused_whole(path, gathered.readings[path], faults)
    _hide(pool, gathered)
    _choose(pool, gathered)
    _recover(pool, gathered)
    _keep_gates(pool, gathered)
    pool.refuse(update_refusals(pool.chosen.values(), request.accepted, pool.recovery))
    pool.refuse(relabelled_refusals(request, pool.recovery, pool.chosen))
    _refuse_payload(pool, gathered)
    _refuse_unconnected(pool)
    scopes = scopes_of(pool.chosen.values())
    _refuse_beside_others(pool, scopes)
    _keep_replaced(pool, gathered)
    items = pool.chosen.values()
    slips = gate_slips(items, pool.recovery, request.accepted, request.contents)
    pool.refuse([(item, note) for item, note, _ in slips])
    for item, _, gate in slips:
        pool.keep(gate, item.origin.path)
    pool.refuse([*pin_refusals(items, pool.recovery, request.changed), *config_refusals(items, pool.kept)])
    _deny(pool, scopes)
    errors = _keep_replaced(pool, gathered)
    pool.faults += faults_at(patch_errors(pool.chosen.values(), pool.kept), request.contents)
    pool.faults += faults_at(_warnings(pool), request.contents, Severity.WARNING)
    read = CommitRead(errors, gathered.readings, pool.chosen)
    found = replace(_desired(pool, scopes), unclear=unclear_places(read, pool.faults), read_again=read_again(read))
    found = _with_held(found, pool, gathered)
    found = replace(found, kept=kept_placements(pool.kept), kept_payload=kept_payload(pool.kept))
    misread = misread_placements(errors, pool.chosen, pool.kept)
    found = replace(found, misread=misread, misnamed=misnamed_files(read, found.vanished))
    paths = filter(is_build_file, pool.incomplete & gathered.readings.keys())
    return found, {path: tuple(one for one in pool.faults if one.path == path and is_error(one)) for path in paths}


def _refuse_beside_others(pool: Pool, scopes: Mapping[GroupKind, bool]) -> None:
    for _ in range(2):  # where an object goes back to its last good version, another one may not fit beside it
        known, refused = _known_kinds(pool), scope_refusals(pool.chosen.values(), scopes)
        refused += override_refusals(pool.chosen.values(), pool.request.accepted.overrides)
        refused += selector_refusals(pool.chosen.values(), known, pool.request.accepted)
        refused += rollout_refusals(pool.chosen.values(), known, partial(_standing, pool))
        refused = [(item, note) for item, note in refused if item.identity not in pool.kept]
        if not refused:
            break
        pool.refuse(refused)


def _refused_whole(path: str, reading: FileReading, faults: Sequence[Fault]) -> FileReading:
    """A built folder with errors. A part of a release may be worse than nothing (a ServiceAccount without its role), so
    its sound objects are refused with the others."""
    wrong = {fault.object for fault in faults}
    sound = sum(item.label not in wrong for item in reading.objects)
    message = DesiredText.FOLDER_PLACED_WHOLE(count=counted(sound, "object"))
    note = [Fault(path, 1, "", "", message, Severity.WARNING)] if sound else []
    faulty = (*reading.faulty, *reading.objects)
    return replace(reading, objects=(), faulty=faulty, faults=(*faults, *reading.faults, *note))


def _hide(pool: Pool, gathered: Gathered) -> None:
    """Note the errors of the files, and what the commit may hold besides what was read."""
    for path, reading in gathered.readings.items():
        pool.faults += reading.faults
        pool.refused += reading.faulty
        pool.incomplete.update([path] if reading.faulty or reading.unreadable else [])
        for item in reading.faulty:
            pool.hidden.add(item.identity)
        if reading.unreadable:
            pool.hidden.add_text(path, pool.request.text_of(path))
    for path in gathered.closed:
        pool.hidden.add_text(path, pool.request.text_of(path))


def _standing(pool: Pool, item: ReadObject) -> tuple[bool, bool]:
    """What comes first of two that cannot both be: what was in force, and of those what this commit does not change."""
    before = pool.recovery.previous(item.identity)
    accepted = pool.recovery.rollout(item.identity, "")
    in_force = accepted is not None or was_in_force(item, pool.recovery, pool.request.changed)
    return not in_force, before is not None and item is not before and item.origin.blob != before.origin.blob


def _warnings(pool: Pool) -> Refusals:
    sound = [item for item in pool.chosen.values() if item.identity not in pool.kept]
    known = replace(_known_kinds(pool), hidden=pool.hidden)
    # Without its budget a placement could be evicted at will: one that means nothing stays and blocks evictions.
    found = [*budget_warnings(sound), *exported_warnings(sound, pool.request.accepted), *policy_warnings(sound, known)]
    found += [*selector_warnings(sound, known), *undeclared_warnings(sound, known), *left_over_warnings(sound)]
    found += scaled_warnings(sound)
    present = Present(pool.chosen.values(), pool.request.accepted, pool.hidden, pool.recovery.everything())
    absent = present.warnings(absent_notes, unselected_notes, workload_notes) + mislabelled_warnings(present.items)
    return [*found, *((item, note) for item, note in absent if item.identity not in pool.kept)]


def _known_kinds(pool: Pool) -> KnownKinds:
    """While removals are held, the kinds that may be hidden are taken to be known: nothing is removed for them."""
    manifests = (item.value for item in pool.chosen.values() if isinstance(item.value, Manifest))
    return kinds_with(manifests, hidden=pool.hidden if pool.holds_removals else Hidden())


def _refuse_unconnected(pool: Pool) -> None:
    """Clusters that nothing says how to reach, outside of simulations. One that was never accepted goes on
    nevertheless: what would be done with it can be planned, and nothing is done while it does not answer."""
    notes = connection_refusals(pool.chosen.values()) if not pool.request.simulated else []
    known = pool.request.accepted.clusters
    had = {name for name, cluster in known.items() if cluster.connection is not None and cluster.deleting is None}
    pool.refuse([(item, note) for item, note in notes if item.identity[3] in had])
    pool.faults += faults_at([pair for pair in notes if pair[0].identity[3] not in had], pool.request.contents)


def _refuse_payload(pool: Pool, gathered: Gathered) -> None:
    """Payload whose kind is a misspelling of another's that is gone, and payload whose namespace nothing makes."""
    vanished = {i: item for i, item in pool.recovery.everything().items() if i not in pool.chosen}
    pool.refuse(renamed_kind_refusals(pool.chosen.values(), _known_kinds(pool), vanished))
    faulty = {item.identity for reading in gathered.readings.values() for item in reading.faulty}
    faulty |= {item.identity for item in pool.refused}
    made = namespaces_made(pool.chosen.values())
    for name, items in missing_namespaces(pool.chosen.values(), faulty).items():
        if pool.holds_removals and pool.hidden.has_object("Namespace", name):
            continue
        kept = pool.recovery.object(("", "Namespace", "", name), items[0].origin.path)
        near = near_namespace(name, made)
        if kept is not None:
            pool.keep(kept, items[0].origin.path)
            pool.faults.append(kept_namespace_fault(name, near, items, pool.request.contents))
        else:
            note = missing_namespace_break(name, near)
            pool.refuse([(item, note) for item in items if item.identity not in pool.kept])


def _choose(pool: Pool, gathered: Gathered) -> None:
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
        sentence = DesiredText.DEFINED_SECOND_TIME(origin=first.origin)
        doubled += [(item, ((), sentence)) for item in others]
        pool.doubled += others
        pool.incomplete.update(item.origin.path for item in others)
    pool.faults += faults_at(doubled, pool.request.contents)


def _recover(pool: Pool, gathered: Gathered) -> None:
    """Bring back what is missing because of faults within files, and what unreadable entries hide."""
    damaged: dict[str, frozenset[str] | None] = {}
    for path, reading in gathered.readings.items():
        refused = {item.identity for item in reading.faulty}
        unmatched = {identity for identity in sorted(refused) if not pool.restore(identity, path)}
        if reading.unreadable:
            pool.restore_file(path, path, refused)
            damaged[path] = None
        elif refused and is_build_file(path):
            pool.restore_file(path, path, refused)
            damaged[path] = frozenset(identity[3] for identity in unmatched)
        elif unmatched:
            pool.restore_damaged(path, refused, unmatched - pool.recovery.was_faulty(path), damaged)
    for path in gathered.closed:
        pool.restore_file(path, area_of(path), set())
        damaged[path] = None
    pool.restore_vanished(damaged)
    pool.restore_doubled(gathered)
    pool.restore_overrides()


def _keep_gates(pool: Pool, gathered: Gathered) -> None:
    """Gates of which the file is hidden, moved out of sight or emptied; another one of its name does not replace it."""
    for item, path, fault in list(hidden_gates(pool.request, pool.recovery, pool.chosen, gathered.readings)):
        pool.chosen.pop(item.identity, None)
        pool.keep(item, path)
        pool.faults.append(fault)


def _keep_replaced(pool: Pool, gathered: Gathered) -> Replacements:
    """Placements and clusters that are gone where something with an error may take their place."""
    unreadable = [*(path for path, reading in gathered.readings.items() if reading.unreadable), *gathered.closed]
    errors = Replacements(pool.request, pool.recovery, (*pool.refused, *pool.doubled), unreadable)
    for path, items, fault in errors.of(pool.chosen, pool.kept, pool.faults):
        for item in items:
            if item.identity not in pool.kept:
                pool.chosen.pop(item.identity, None)  # an edit that takes selectors from it
            pool.keep(item, path)
        pool.faults.append(fault)
    for path in errors.of_unknown_files():
        pool.hold_removals(path)
    pool.restore_overrides()
    return errors


def _deny(pool: Pool, scopes: Mapping[GroupKind, bool]) -> None:
    """Report what the fleet's policy denies. What is placed of it stays as it is placed, the rest is left out."""
    unmatched: dict[str, dict[Identity, str]] = {}
    policy = _policy(pool)
    denied = denied_payload(pool.chosen.values(), policy)
    for item in {item.identity: item for item, _ in denied}.values():
        del pool.chosen[item.identity]
        pool.hidden.add(item.identity)
        pool.incomplete.add(item.origin.path)
        if (placed := pool.recovery.placed().get(item.identity)) is not None:
            pool.keep(placed, item.origin.path)
        elif pool.recovery.object(item.identity, item.origin.path) is None:
            unmatched.setdefault(item.origin.path, {})[item.identity] = item.label
    pool.restore_unmatched(unmatched)
    pool.faults += faults_at(denied, pool.request.contents)
    pool.refuse(denied_selectors(pool.chosen.values(), policy, scopes))
    pool.refuse(denied_workloads(pool.chosen.values(), policy))


def _policy(pool: Pool) -> PlacingPolicy:
    configs = (item.value for item in pool.chosen.values() if isinstance(item.value, FleetConfig))
    return next(configs, FleetConfig()).policy


def _with_held(found: Desired, pool: Pool, gathered: Gathered) -> Desired:
    unnamed = (item for reading in gathered.readings.values() for item in reading.unnamed)
    refused = (*pool.refused, *unnamed)
    return replace(
        found,
        held_targets=held_targets(refused, pool.chosen, pool.faults, _known_kinds(pool), _policy(pool)),
        held_placements=held_placements(refused, pool.chosen, pool.faults),
    )


def _desired(pool: Pool, scopes: dict[GroupKind, bool]) -> Desired:
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
