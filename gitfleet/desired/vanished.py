"""What was in force before a commit and is there no more: where it stood, and what may have happened to it.

It explains removals (decisions D25 and D31); nothing is kept or taken away because of it here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gitfleet.api.clusters import CLUSTER_GROUP
from gitfleet.api.objects import Identity
from gitfleet.desired.ignore_rules import IgnoreRules, read_ignore
from gitfleet.desired.kinds import is_our_group
from gitfleet.desired.paths import IGNORE_FILE, area_of, is_build_file
from gitfleet.desired.readings import ReadObject, payload_identity
from gitfleet.desired.rebuilt import Rebuilt, rebuilt_folders, without_hash
from gitfleet.desired.recovery import Recovery
from gitfleet.desired.request import SYMLINK, DesiredRequest
from gitfleet.formats.renames import Renames
from gitfleet.model.desired import Vanished


def vanished_objects(
    request: DesiredRequest, recovery: Recovery, chosen: Mapping[Identity, ReadObject]
) -> dict[Identity, Vanished]:
    """For each object that was in force and is not chosen now, its last place and what stands there now."""
    before = recovery.everything()
    gone: dict[str, list[Identity]] = {}
    for identity, item in sorted(before.items()):
        if identity not in chosen:
            gone.setdefault(item.origin.path, []).append(identity)
    if not gone:
        return {}
    fresh: dict[str, dict[Identity, Identity]] = {}
    rebuilt = rebuilt_folders(request)
    for identity, item in chosen.items():
        path = item.origin.path
        is_new = identity not in before or (_is_cluster(identity) and before[identity].origin.path != path)
        if is_new and _may_be_new(path, request, rebuilt):
            fresh.setdefault(path, {})[without_hash(identity, path)] = identity
    rules = ignore_rules(request)
    staying = {item.origin.path for one, item in recovery.placed().items() if one in chosen}
    everywhere = {plain: one for path in sorted(fresh) for plain, one in fresh[path].items()}
    commit = _Commit(
        request,
        before,
        chosen,
        Rebuilt(request, rules),
        rules,
        staying,
        recovery.placed(),
        everywhere,
        Renames(everywhere),
    )
    return {
        _placed_identity(identity): vanished
        for path, identities in gone.items()
        for identity, vanished in commit.vanished(path, identities, fresh.get(path, {}))
    }


@dataclass(frozen=True, slots=True)
class _Commit:
    """What a commit has, and what was in force before it; `staying` are the files that have placed objects still,
    `placed` what is placed, `fresh` the new objects in all files, and `renames` the same."""

    request: DesiredRequest
    before: Mapping[Identity, ReadObject]
    chosen: Mapping[Identity, ReadObject]
    rebuilt: Rebuilt
    rules: IgnoreRules
    staying: Collection[str]
    placed: Collection[Identity]
    fresh: Mapping[Identity, Identity]
    renames: Renames

    def vanished(
        self, path: str, gone: Sequence[Identity], fresh: Mapping[Identity, Identity]
    ) -> Iterator[tuple[Identity, Vanished]]:
        """What became of the objects that are gone from one file; `fresh` are the new ones there."""
        file, renames = self.rebuilt.own_file(path), Renames(fresh)
        place = Vanished(
            path=file, removed=file not in self.request.files, ignored=ignored_at(file, self.request, self.rules)
        )
        emptied = len(gone) > 1 and is_build_file(path) and not place.removed and path not in self.staying
        otherwise = f"{file} has nothing any more of what it had" if emptied else ""
        for identity in gone:
            plain = without_hash(identity, path)
            renamed = plain if plain in fresh else _renamed(plain, renames)
            if (meant := renamed or renames.elsewhere(plain)) is not None:
                successor = fresh[meant]
                now = replace(place, line=self.chosen[successor].origin.line, successor=_placed_identity(successor))
                # All objects of a kustomization in another namespace; not where they go back to what a hold kept.
                lost = "" if renamed or successor in self.placed else otherwise
                yield identity, replace(now, elsewhere=renamed is None, replaced=meant == plain, unbuilt=lost)
                continue
            unread_at = self.rebuilt.moved(path, self.before[identity].origin.blob)
            placed_at = _new_as_payload(identity, self.request, self.chosen)
            why = "" if unread_at or placed_at or place.ignored else self.rebuilt.why(path, identity) or otherwise
            moved = unread_at or placed_at
            now = replace(place, moved=moved, as_payload=placed_at != "" == unread_at, unbuilt=why)
            yield identity, now if moved or why or place.ignored else self._in_another_file(plain, now)

    def _in_another_file(self, plain: Identity, place: Vanished) -> Vanished:
        """What became of an object that may be in another file: one whose name or namespace differs as a typing error
        does (ours are renamed on purpose), or whose namespace does in whatever way."""
        misspelt = None if is_our_group(plain[0]) else self.renames.spelt_nearly(plain)
        meant = misspelt or self.renames.elsewhere(plain)
        if meant is None:
            return place
        successor, origin = self.fresh[meant], self.chosen[self.fresh[meant]].origin
        found = replace(place, other=origin.path, line=origin.line, successor=_placed_identity(successor))
        return replace(found, elsewhere=misspelt is None)


def _may_be_new(path: str, request: DesiredRequest, rebuilt: Collection[str]) -> bool:
    """Whether a file may have objects that it had not before; of kustomizations and releases, the `rebuilt` folders."""
    changed, folder = request.changed, area_of(path)
    if is_build_file(path):
        return folder in rebuilt or folder not in request.built_of
    return changed is None or path in changed


def _new_as_payload(identity: Identity, request: DesiredRequest, chosen: Mapping[Identity, ReadObject]) -> str:
    """The file of this commit that has an object of ours among the payload, where gitfleet does not act on it."""
    placed = payload_identity(identity)
    item = chosen.get(placed) if placed is not None and placed != identity else None
    return item.origin.path if item is not None and item.origin.path in (request.changed or ()) else ""


def _placed_identity(identity: Identity) -> Identity:
    """As manifests have it."""
    group, *rest = identity
    return (group.removeprefix("payload "), rest[0], rest[1], rest[2])


def ignored_placed(request: DesiredRequest) -> dict[str, int]:
    """The files of placed objects, and of what is held because it was hidden, that an ignore rule hides now, with the
    line of the rule."""
    rules = ignore_rules(request)
    if not rules:
        return {}
    newest = (record.latest_resources for record in request.accepted.placements.values())
    paths = {document.path for snapshot in newest if snapshot is not None for document in snapshot.documents}
    paths |= {removal.cause.hidden for hold in request.accepted.holds.values() for removal in hold.removals}
    return {path: line for path in sorted(paths) if (line := ignored_at(path, request, rules))}


def ignore_rules(request: DesiredRequest) -> IgnoreRules:
    """The rules of the ignore file, none where it is not an ordinary file."""
    source = request.files.get(IGNORE_FILE)
    return read_ignore(request.contents(source.blob) if source is not None and source.mode < SYMLINK else b"")


def ignored_at(path: str, request: DesiredRequest, rules: IgnoreRules) -> int:
    """The line of the ignore rule that hides a file of the commit, 0 for none."""
    return rules.line_hiding(path) if path in request.files else 0


def _is_cluster(identity: Identity) -> bool:
    return identity[:2] == (CLUSTER_GROUP, "MemberCluster")


def _renamed(old: Identity, here: Renames) -> Identity | None:
    """The object of a file that differs from another by a typing error; a cluster may have any other name, since the
    file of a cluster is about that cluster, and one of our kinds any other group, since no other one has it."""
    if _is_cluster(old) and (other := here.of_the_kind(old)) is not None:
        return other
    of_ours = here.in_another_group(old) if is_our_group(old[0]) else None
    return of_ours or here.misspelt(old)
