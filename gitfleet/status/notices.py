"""What is said of files of the state branch that could not be used."""

from __future__ import annotations

from typing import Final

from gitfleet.api.faults import Fault, Severity
from gitfleet.api.placements import PlacementKey
from gitfleet.api.staged import EVICTION, Eviction
from gitfleet.model.state import Damage, FleetState

MOST_NOTICES: Final = 20
_LONGEST: Final = 400
_KIND: Final = "StateFile"


def notices_of(damage: Damage) -> tuple[Fault, ...]:
    """A warning for a head that is not used, and for each file that is set aside, with where its content is kept; the
    first few by path, and a sentence that says how many more."""
    found = [_notice(damage, path) for path in sorted(damage.files)]
    if len(found) > MOST_NOTICES:
        more = f"{len(found) - MOST_NOTICES} more files of the state branch cannot be used and are set aside"
        found[MOST_NOTICES:] = [_warning("state", f"{_KIND}/state", more)]
    if (head := damage.head) is not None:
        instead = f"commit {head.instead[:12]} before it holds {'for them' if head.missing else 'instead'}"
        found.insert(0, _warning("state", f"{_KIND}/head", f"commit {head.commit[:12]} {head.why}; {instead}"))
    return tuple(found)


def released_placement(cluster: str, owner: PlacementKey, count: int) -> Fault:
    """What is said of objects whose owner does not exist."""
    sentence = f"{_stay(count, cluster)}: {owner.kind} {owner} does not exist"
    return _warning(f"inventory/{cluster}", f"{_KIND}/{cluster}/{owner}", sentence)


def released_cluster(cluster: str, count: int) -> Fault:
    """What is said of an inventory whose cluster nobody knows."""
    sentence = f"{_stay(count, cluster)}: the fleet has no such cluster"
    return _warning(f"inventory/{cluster}", f"{_KIND}/{cluster}", sentence)


def lost_snapshot(path: str, owner: PlacementKey) -> Fault:
    """What is said of a snapshot that bindings name and that is gone."""
    sentence = f"it is gone; what clusters have of {owner} stays until a newer snapshot reaches them"
    return _warning(path, f"{_KIND}/{path}", sentence)


def _stay(count: int, cluster: str) -> str:
    if count == 1:
        return f"1 object stays on cluster {cluster} and is gitfleet's no longer"
    return f"{count} objects stay on cluster {cluster} and are gitfleet's no longer"


def waiting_eviction(eviction: Eviction, why: str) -> Fault:
    """What is said of an eviction that is not decided yet."""
    path, line = (eviction.origin.path, eviction.origin.line) if eviction.origin else ("evictions", 1)
    sentence = f"waits to take {eviction.placement_name} off {eviction.cluster_name}: {why}"
    return Fault(path, line, f"{EVICTION}/{eviction.name}", "", sentence, Severity.WARNING)


def standing_notices(before: FleetState, commit: str) -> tuple[Fault, ...]:
    """The notices of a state to be recorded: its own, and those of before until the next commit of the config repo."""
    recorded = before.faults if before.observed_commit == commit else ()
    older = [f for f in recorded if f.object.startswith(f"{_KIND}/") and f not in before.damage.notices]
    return (*older, *before.damage.notices)


def _notice(damage: Damage, path: str) -> Fault:
    instead = "what it said is worked out again"
    if path in damage.restored:
        instead = f"the version of commit {damage.restored[path][:12]} holds instead"
    kept = "" if damage.commit.startswith("dir:") else f" (`git show {damage.commit[:12]}:{path}`)"
    why = " ".join(damage.files[path].split())
    why = why if len(why) <= _LONGEST else f"{why[:_LONGEST]}..."
    return _warning(path, f"{_KIND}/{path}", f"it is set aside{kept}, and {instead}: {why}")


def _warning(path: str, name: str, sentence: str) -> Fault:
    return Fault(path, 1, name, "", sentence, Severity.WARNING)
