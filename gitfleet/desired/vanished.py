"""What was in force before a commit and is there no more: where it stood, and what may have happened to it.

It explains removals (decisions D25 and D31); nothing is kept or taken away because of it here.
"""

from __future__ import annotations

from collections.abc import Mapping

from gitfleet.api.clusters import CLUSTER_GROUP
from gitfleet.api.objects import Identity, Origin
from gitfleet.desired.kinds import is_our_group
from gitfleet.desired.paths import IGNORE_FILE, ignoring_line, read_paths
from gitfleet.desired.readings import ReadObject, payload_identity
from gitfleet.desired.request import SYMLINK, DesiredRequest
from gitfleet.formats.renames import Renames
from gitfleet.model.desired import Vanished


def vanished_objects(
    request: DesiredRequest, before: Mapping[Identity, ReadObject], chosen: Mapping[Identity, ReadObject]
) -> dict[Identity, Vanished]:
    """For each object that was in force and is not chosen now, its last place and what stands there now."""
    gone = {identity: item for identity, item in before.items() if identity not in chosen}
    fresh: dict[str, list[Identity]] = {}
    for identity, item in chosen.items() if gone else ():
        if identity not in before or (_is_cluster(identity) and before[identity].origin.path != item.origin.path):
            fresh.setdefault(item.origin.path, []).append(identity)
    places = {item.origin.path for item in gone.values()}
    renames = {path: Renames(fresh.get(path, ())) for path in places}
    rules = ignore_rules(request)
    unread = _new_and_unread(request, rules) if gone else {}
    found: dict[Identity, Vanished] = {}
    for identity, item in sorted(gone.items()):
        path = item.origin.path
        renamed = _renamed(identity, renames[path])
        successor = renamed or renames[path].elsewhere(identity)
        origin = chosen[successor].origin if successor is not None else Origin(path, 1)
        unread_at = unread.get(item.origin.blob, "") if path not in request.files else ""
        placed_at = _new_as_payload(identity, request, chosen)
        found[identity] = Vanished(
            path=path,
            line=origin.line,
            removed=path not in request.files,
            ignored=_ignored(path, request, rules),
            moved=unread_at or placed_at,
            as_payload=not unread_at and bool(placed_at),
            successor=None if successor is None else _placed_identity(successor),
            elsewhere=renamed is None and successor is not None,
        )
    return {_placed_identity(identity): one for identity, one in found.items()}


def _new_and_unread(request: DesiredRequest, rules: bytes) -> dict[str, str]:
    """The ordinary files that this commit brings and that are not read, by blob."""
    new = {path: request.files[path] for path in request.changed or () if path in request.files}
    read = read_paths(request.files, rules) if new else frozenset()
    return {
        source.blob: path
        for path, source in sorted(new.items(), reverse=True)
        if path not in read and source.mode < SYMLINK
    }


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
    if not rules.strip():
        return {}
    newest = (record.latest_resources for record in request.accepted.placements.values())
    paths = {document.path for snapshot in newest if snapshot is not None for document in snapshot.documents}
    paths |= {removal.cause.hidden for hold in request.accepted.holds.values() for removal in hold.removals}
    return {path: line for path in sorted(paths) if (line := _ignored(path, request, rules))}


def ignore_rules(request: DesiredRequest) -> bytes:
    """The content of the ignore file, none where it is not an ordinary file."""
    source = request.files.get(IGNORE_FILE)
    return request.contents(source.blob) if source is not None and source.mode < SYMLINK else b""


def _ignored(path: str, request: DesiredRequest, rules: bytes) -> int:
    return ignoring_line(rules, path) if path in request.files else 0


def _is_cluster(identity: Identity) -> bool:
    return identity[:2] == (CLUSTER_GROUP, "MemberCluster")


def _renamed(old: Identity, here: Renames) -> Identity | None:
    """The object of a file that differs from another by a typing error; a cluster may have any other name, since the
    file of a cluster is about that cluster, and one of our kinds any other group, since no other one has it."""
    if _is_cluster(old) and (other := here.of_the_kind(old)) is not None:
        return other
    of_ours = here.in_another_group(old) if is_our_group(old[0]) else None
    return of_ours or here.misspelt(old)
