"""What is said of files of the state branch that could not be used."""

from __future__ import annotations

from typing import Final

from gitfleet.api.faults import Fault, Severity
from gitfleet.api.placements import PlacementKey
from gitfleet.api.staged import EVICTION, Eviction
from gitfleet.model.state import Damage, FleetState
from gitfleet.status.texts import StatusText

MOST_NOTICES: Final = 20
_LONGEST: Final = 400
_KIND: Final = "StateFile"


def notices_of(damage: Damage) -> tuple[Fault, ...]:
    """A warning for a head that is not used, and for each file that is set aside, with where its content is kept; the
    first few by path, and a sentence that says how many more."""
    found = [_notice(damage, path) for path in sorted(damage.files)]
    if len(found) > MOST_NOTICES:
        more = StatusText.MORE_FILES_STATE_BRANCH_CANNOT(count=len(found) - MOST_NOTICES)
        found[MOST_NOTICES:] = [_warning("state", f"{_KIND}/state", more)]
    if (head := damage.head) is not None:
        instead = StatusText.COMMIT_BEFORE_HOLDS(
            instead=head.instead[:12], part="for them" if head.missing else "instead"
        )
        found.insert(0, _warning("state", f"{_KIND}/head", f"commit {head.commit[:12]} {head.why}; {instead}"))
    return tuple(found)


def released_placement(cluster: str, owner: PlacementKey, count: int) -> Fault:
    """What is said of objects whose owner does not exist."""
    sentence = StatusText.NOT_EXIST(stay=_stay(count, cluster), owner=owner.kind, owner_2=owner)
    return _warning(f"inventory/{cluster}", f"{_KIND}/{cluster}/{owner}", sentence)


def released_cluster(cluster: str, count: int) -> Fault:
    """What is said of an inventory whose cluster nobody knows."""
    sentence = StatusText.FLEET_NO_CLUSTER(stay=_stay(count, cluster))
    return _warning(f"inventory/{cluster}", f"{_KIND}/{cluster}", sentence)


def lost_snapshot(path: str, owner: PlacementKey) -> Fault:
    """What is said of a snapshot that bindings name and that is gone."""
    sentence = StatusText.GONE_CLUSTERS_STAYS_UNTIL_NEWER(owner=owner)
    return _warning(path, f"{_KIND}/{path}", sentence)


def _stay(count: int, cluster: str) -> str:
    if count == 1:
        return StatusText.OBJECT_STAYS_CLUSTER_GITFLEET_NO(cluster=cluster)
    return StatusText.OBJECTS_STAY_CLUSTER_GITFLEET_NO(count=count, cluster=cluster)


def waiting_eviction(eviction: Eviction, why: str) -> Fault:
    """What is said of an eviction that is not decided yet."""
    path, line = (eviction.origin.path, eviction.origin.line) if eviction.origin else ("evictions", 1)
    sentence = StatusText.WAITS_TAKE_OFF(
        placement_name=eviction.placement_name, eviction=eviction.cluster_name, why=why
    )
    return Fault(path, line, f"{EVICTION}/{eviction.name}", "", sentence, Severity.WARNING)


def standing_notices(before: FleetState, commit: str) -> tuple[Fault, ...]:
    """The notices of a state to be recorded: its own, and those of before until the next commit of the config repo."""
    recorded = before.faults if before.observed_commit == commit else ()
    older = [f for f in recorded if f.object.startswith(f"{_KIND}/") and f not in before.damage.notices]
    return (*older, *before.damage.notices)


def _notice(damage: Damage, path: str) -> Fault:
    instead = StatusText.SAID_WORKED_OUT_AGAIN()
    if path in damage.restored:
        instead = StatusText.VERSION_COMMIT_HOLDS_INSTEAD(restored=damage.restored[path][:12])
    kept = "" if damage.commit.startswith("dir:") else f" (`git show {damage.commit[:12]}:{path}`)"
    why = " ".join(damage.files[path].split())
    why = why if len(why) <= _LONGEST else f"{why[:_LONGEST]}..."
    return _warning(path, f"{_KIND}/{path}", StatusText.SET_ASIDE(kept=kept, instead=instead, why=why))


def _warning(path: str, name: str, sentence: str) -> Fault:
    return Fault(path, 1, name, "", sentence, Severity.WARNING)
