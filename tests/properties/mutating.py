"""A settled fleet whose config repo is damaged and mended again and again, and what may never come of it (invariants
2, 3 and 9): nothing escapes, nothing is a defect of ours, what is refused changes nothing and is said, what is accepted
reaches its own objects alone, and the revert heals."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

import yaml

from gitfleet.api.faults import is_error
from gitfleet.errors import GitfleetError
from gitfleet.loop.driver import Driver
from gitfleet.model.failures import Failure
from gitfleet.model.state import FleetState
from tests.properties.mutations import Mutation, mutation
from tests.properties.sound_repo import BEAT, CONFIG, RUNS_LATER, beat, sound_files
from tests.scenarios.world import STATE, World, end_of

STAGED: Final = "placements/staged.yaml"
_NUMBERED: Final = ("generation", "observedGeneration", "observedGenerations", "revision")


class Damage(AssertionError):
    """What came of a mutation and may not."""


class _Read(World):
    """A world whose state branch is read by one reader, which parses no file and assembles no commit twice."""

    _last: tuple[str | None, FleetState] | None = None

    def state(self) -> FleetState:
        """The state branch."""
        self.trees = getattr(self, "trees", None) or self.state_trees()
        head = self.repo.fetch().get(STATE)
        if self._last is None or self._last[0] != head:
            self._last = head, self.trees.at(head)
        return self._last[1]


@dataclass
class Mutated:
    """The fleet; `refused` and `applied` count the mutations that had an error and those that changed clusters, `held`
    those whose revert waited for a person; `deleted` is what the last one took away, `left` whether clusters went."""

    world: World = field(init=False)
    clean: dict[str, Any] = field(init=False)
    reports: list[Failure] = field(default_factory=list)
    refused: int = 0
    applied: int = 0
    held: int = 0
    deleted: set[str] = field(default_factory=set)
    left: bool = False

    def __post_init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self.world = _Read(start_with=self._listen)
        runs_later = {path: text for path, text in sound_files().items() if path != RUNS_LATER}
        for files in (runs_later, sound_files()):
            self.world.write(files)
            self.world.settle()
        self.clean = seen(self.world)
        assert not any(map(is_error, self.world.state().faults))

    def _listen(self, driver: Driver) -> None:
        driver.save_report = self.reports.append

    def play(self, seed: int) -> None:
        """One mutation and its revert. Damage says what broke."""
        found = mutation(seed)
        self.reports.clear()
        start = len(self.world.happenings)
        self._reconciled(found, {found.path: found.text, BEAT: beat(f"beat {seed}")})
        self._judge_neighbour(found, f"beat {seed}")
        self.world.advance(minutes=2)
        self._reconciled(found, {})
        self._judge(found, start)
        self.world.write({found.path: sound_files().get(found.path), BEAT: sound_files()[BEAT]})
        self.world.settle(timedelta(hours=4))
        self._no_defects("after the revert")
        if self.world.state().holds or self.left or (self.deleted and found.path == STAGED):
            # A sound edit placed so much that a person answers for its removal, or took a cluster or the staged
            # placement away: that needs a run to come back.
            self.held += 1
            self._begin()
        elif (end := seen(self.world)) != self.clean:
            raise Damage(f"the revert did not heal: {_difference(self.clean, end)}")

    def _reconciled(self, found: Mutation, files: dict[str, str | bytes | None]) -> None:
        if files:
            self.world.repo.commit_files("main", files, self.world.clock.now(), found.what)
        try:
            self.world.rest()
        except GitfleetError:
            if found.path != CONFIG:  # the configuration alone can leave nothing to reconcile
                raise

    def _no_defects(self, when: str) -> None:
        defects = [failure.report for failure in self.reports if failure.trace]
        if defects:
            raise Damage(f"a defect {when}: " + "\n".join(defects))

    def _judge_neighbour(self, found: Mutation, value: str) -> None:
        """The sound edit of the same commit is on every cluster of the fleet, unless there is nothing to reconcile."""
        there = self.world.state().clusters
        late = [one for one in there if (self.world.live(one, "ConfigMap", "beat") or {}).get("data") != {"v": value}]
        if late and found.path != CONFIG:
            raise Damage(f"what is beside it did not go out to {late}")

    def _judge(self, found: Mutation, start: int) -> None:
        self._no_defects("under the mutation")
        state = self.world.state()
        errors = [fault for fault in state.faults if is_error(fault)]
        deleted = {f"{h.key}" for h in self.world.happenings[start:] if h.what == "delete"}
        objects = seen(self.world)["objects"]
        for one in objects.values():  # the neighbour's, which was judged
            one["ConfigMap/beat/beat"] = self.clean["objects"]["c1"]["ConfigMap/beat/beat"]
        said = [str(fault) for fault in errors]
        own = {f"{kind}/{name}" for kind, name in _labels(found)}
        if errors and not any(fault.path == found.path or fault.object in own for fault in errors):
            raise Damage(f"no error names the file: {said}")
        if any(fault.path == found.path for fault in errors):
            self.refused += 1
            if objects != self.clean["objects"]:
                raise Damage(f"refused, and changed: {_difference(self.clean['objects'], objects)}; {said}")
        self.applied += objects != self.clean["objects"]
        strangers = {key for key in _changed(self.clean["objects"], objects) | deleted if not _reaches(found, key)}
        if strangers:
            raise Damage(f"others changed: {sorted(strangers)}; {said}")
        self.deleted, self.left = deleted, set(state.clusters) != set(self.clean["clusters"])
        gone = deleted - {key for key in deleted if _asked_for(found, key)}
        if gone:
            raise Damage(f"deleted, and nobody asked: {sorted(gone)}; {said}")


def seen(world: World) -> dict[str, Any]:
    """What must be the same again after the revert, less what counts versions. On a cluster that has left the fleet
    (a misspelt name made it) the objects stay."""
    end, state = end_of(world), world.state()
    return {
        "objects": {name: _uncounted(found) for name, found in end["objects"].items() if name in end["clusters"]},
        "inventory": {c: {k: entry[0] for k, entry in found.items()} for c, found in end["inventory"].items()},
        "bindings": {key: [(b[0], b[1]) for b in found] for key, found in end["bindings"].items()},
        "clusters": end["clusters"],
        "faults": [str(fault) for fault in state.faults],
        "removals": [str(key) for key, record in state.placements.items() if record.placement.deleting],
    }


def _uncounted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _uncounted(part) for key, part in value.items() if key not in _NUMBERED}
    return [_uncounted(part) for part in value] if isinstance(value, list) else value


def _changed(before: dict[str, Any], after: dict[str, Any]) -> set[str]:
    """The keys of all objects that differ anywhere."""
    found: set[str] = set()
    for cluster in {*before, *after}:
        one, other = before.get(cluster, {}), after.get(cluster, {})
        found |= {key for key in {*one, *other} if one.get(key) != other.get(key)}
    return found


def _reaches(found: Mutation, key: str) -> bool:
    """Whether a sound edit of a file may change an object: one of its folder, or the one that it became."""
    folder = found.path.split("/")[1] if found.path.startswith("resources/") else ""
    if not folder or any(_names(document, key) for document in _documents(found.text)):
        return True
    if folder == "cluster":
        return any(part in key for part in ("ClusterRole/", "CustomResourceDefinition/", "Widget/"))
    return f"/{folder}/" in key or key == f"Namespace/{folder}" or key.count("/") == 1


def _documents(text: str | bytes | None) -> list[Any]:
    """What stands in a text, nothing when it is no YAML."""
    try:
        return list(yaml.safe_load_all(text or ""))
    except (yaml.YAMLError, ValueError, RecursionError):
        return []


def _asked_for(found: Mutation, key: str) -> bool:
    """Whether a sound edit of a file may delete an object: its own, or what it places or carries."""
    if not found.path.startswith("resources/"):
        return True
    return any(_names(document, key) for document in _documents(sound_files().get(found.path)))


def _labels(found: Mutation) -> list[tuple[str, str]]:
    return [(body["kind"], body["metadata"]["name"]) for body in _documents(sound_files().get(found.path))]


def _names(value: Any, key: str) -> bool:
    """Whether an object, or one that it carries, is the one of a key."""
    kind, _, rest = key.partition("/")
    if isinstance(value, str) and "\n" in value:
        value = yaml.safe_load(value)
    if not isinstance(value, dict):
        return False
    own = value.get("metadata") or {}
    label = f"{own['namespace']}/{own['name']}" if own.get("namespace") else own.get("name")
    return (value.get("kind"), label) == (kind, rest) or any(
        _names(part, key) for part in (value.get("data") or {}).values()
    )


def _difference(one: Any, other: Any, at: str = "") -> str:
    """The first few places at which two values differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        parts = [
            _difference(one.get(key), other.get(key), f"{at}/{key}")
            for key in sorted({*one, *other}, key=str)
            if one.get(key) != other.get(key)
        ]
        return "; ".join(parts[:4])
    return f"{at}: {str(one)[:300]} became {str(other)[:300]}"
