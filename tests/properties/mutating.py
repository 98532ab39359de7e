"""A settled fleet whose config repo is damaged and mended again and again, and what may never come of it (invariants
2, 3 and 9): nothing escapes, nothing is a defect of ours, what is refused changes nothing and is said, what is accepted
reaches its own objects alone, and the revert heals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

import yaml

from gitfleet.api.faults import Fault, is_error
from gitfleet.api.freezes import FreezeScope
from gitfleet.errors import GitfleetError
from gitfleet.loop.driver import Driver
from gitfleet.model.failures import Failure
from gitfleet.model.state import FleetState
from tests.properties.mutations import Mutation, mutation
from tests.properties.sound_repo import BEAT, CONFIG, RUNS_LATER, beat, sound_files
from tests.scenarios.world import STATE, World, end_of

STAGED: Final = ("placements/staged.yaml", "placements/parts-part.yaml")
_TOGETHER: Final = 8
_MOST_OF_FOLDER: Final = 4
"""One that holds a whole placement hides what the others of it would do."""
_NUMBERED: Final = (
    *("generation", "observedGeneration", "observedGenerations", "revision"),
    "deployment.kubernetes.io/revision",
)


class Damage(AssertionError):
    """What came of a mutation and may not."""


class HeldTogether(Exception):
    """A revert waits for a person: which of several mutations it was for is not known."""


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
            self.world.roll_out(files=files)
        self.clean = seen(self.world)
        assert not any(map(is_error, self.world.state().faults))

    def _listen(self, driver: Driver) -> None:
        driver.failures.save = self.reports.append

    def play_each(self, seeds: Iterable[int]) -> None:
        """Mutations, many of them together. What breaks a rule together is played again, each alone; the error names
        the one that breaks it, or the fewest that do."""
        for group in groups(seeds):
            try:
                self.play(*group)
            except Exception as error:
                self._begin()
                for seed in group if len(group) > 1 else ():
                    self.play_each([seed])
                if not isinstance(error, HeldTogether):
                    fewest = self._fewest(group)
                    done = "; ".join(f"{one.path}: {one.what}" for one in map(mutation, fewest))
                    said = f"mutation {', '.join(map(str, fewest))}: {done}: {error or type(error).__name__}"
                    raise AssertionError(said) from error

    def _fewest(self, group: tuple[int, ...]) -> tuple[int, ...]:
        """Those of the mutations without which nothing breaks."""
        for seed in group if len(group) > 1 else ():
            others = tuple(one for one in group if one != seed)
            with suppress(Exception):
                self.play(*others)
                continue
            self._begin()
            return self._fewest(others)
        return group

    def play(self, *seeds: int) -> None:
        """Mutations of different files in one commit, and their revert. Damage says what broke."""
        found = [mutation(seed) for seed in seeds]
        self.reports.clear()
        start, value = len(self.world.happenings), f"beat {seeds[0]}"
        self._reconciled(found, {**{one.path: one.text for one in found}, BEAT: beat(value)})
        self._judge_neighbour(found, value)
        self.world.advance(minutes=2)
        self._reconciled(found, {})
        self._judge(found, start)
        self.world.roll_out(
            files={path: sound_files().get(path) for path in (BEAT, *(one.path for one in found))},
            limit=timedelta(hours=4),
        )
        self._no_defects("after the revert")
        if self.world.state().held and len(found) > 1:
            raise HeldTogether
        if self.world.state().held or self.left or (self.deleted and found[0].path in STAGED):
            # A sound edit placed so much that a person answers for its removal, or took a cluster or the staged
            # placement away: that needs a run to come back.
            self.held += 1
            self._begin()
        elif (end := seen(self.world)) != self.clean:
            raise Damage(f"the revert did not heal: {_difference(self.clean, end)}")

    def _reconciled(self, found: Sequence[Mutation], files: Mapping[str, str | bytes | None]) -> None:
        if files:
            self.world.repo.commit_files("main", files, self.world.clock.now(), found[0].what)
        try:
            self.world.rest()
        except GitfleetError:
            if found[0].path != CONFIG:  # the configuration alone can leave nothing to reconcile
                raise

    def _no_defects(self, when: str) -> None:
        defects = [failure.report for failure in self.reports if failure.trace]
        if defects:
            raise Damage(f"a defect {when}: " + "\n".join(defects))

    def _judge_neighbour(self, found: Sequence[Mutation], value: str) -> None:
        """The sound edit of the same commit is on every cluster of the fleet, unless there is nothing to reconcile or
        a Freeze, which has lost its scope, freezes everything."""
        there = self.world.state().clusters
        late = [one for one in there if (self.world.live(one, "ConfigMap", "beat") or {}).get("data") != {"v": value}]
        rules = self.world.state().freezes
        frozen = any(one.scope == FreezeScope() for one in rules.freezes)
        if late and not frozen and found[0].path != CONFIG:
            raise Damage(f"what is beside it did not go out to {late}")

    def _judge(self, found: Sequence[Mutation], start: int) -> None:
        self._no_defects("under the mutation")
        state = self.world.state()
        deleted = {f"{h.key}" for h in self.world.happenings[start:] if h.what == "delete"}
        objects = seen(self.world)["objects"]
        for one in objects.values():  # the neighbour's, which was judged
            one["ConfigMap/beat/beat"] = self.clean["objects"]["c1"]["ConfigMap/beat/beat"]
        refused, said = self._refused(found, [fault for fault in state.faults if is_error(fault)])
        accepted = [one for one in found if one not in refused]
        self.refused += len(refused)
        self.applied += objects != self.clean["objects"]
        changed = _changed(self.clean["objects"], objects) | deleted
        if not accepted and changed:
            raise Damage(f"refused, and changed: {_difference(self.clean['objects'], objects)}; {said}")
        strangers = {key for key in changed if not any(_reaches(one, key) for one in accepted)}
        strangers |= {key for key in changed for one in refused if _asked_for(one, key) and not _named(accepted, key)}
        if strangers:
            raise Damage(f"others changed: {sorted(strangers)}; {said}")
        self.deleted, self.left = deleted, set(state.clusters) != set(self.clean["clusters"])
        gone = deleted - {key for key in deleted for one in accepted if _asked_for(one, key)}
        if gone:
            raise Damage(f"deleted, and nobody asked: {sorted(gone)}; {said}")

    def _refused(self, found: Sequence[Mutation], errors: Sequence[Fault]) -> tuple[list[Mutation], list[str]]:
        """The mutations in whose files are errors (less those about an object of another one), and all that is said.
        Where several are damaged, each error names one of them or its object; where one is, one error does."""
        said = [str(fault) for fault in errors]
        own = {f"{kind}/{name}": one.path for one in found for kind, name in _labels(one)}
        paths = {fault.path for fault in errors if own.get(fault.object, fault.path) == fault.path}
        damaged = {one.path for one in found}
        nameless = [fault for fault in errors if fault.path not in damaged and fault.object not in own]
        if nameless and (len(found) > 1 or len(nameless) == len(errors)):
            raise Damage(f"no error names the file: {said}")
        return [one for one in found if one.path in paths], said


def groups(seeds: Iterable[int]) -> Iterator[tuple[int, ...]]:
    """The mutations that are played together: of files in resources/, each of another file, few of one folder. What
    places them is damaged alone, and one in ten of the others."""
    waiting: list[dict[str, int]] = []
    for seed in seeds:
        path = mutation(seed).path
        folder = path.rpartition("/")[0]
        if seed % 10 == 0 or not path.startswith("resources/"):
            yield (seed,)
            continue
        fits = (one for one in waiting if path not in one and sum(folder in other for other in one) < _MOST_OF_FOLDER)
        group = next(fits, None)
        if group is None:
            waiting.append(group := {})
        group[path] = seed
        if len(group) == _TOGETHER:
            waiting.remove(group)
            yield tuple(group.values())
    yield from (tuple(group.values()) for group in waiting)


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


def _named(found: Sequence[Mutation], key: str) -> bool:
    return any(_names(document, key) for one in found for document in _documents(one.text))


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
        return any(_names(document, key) for document in _documents(value))
    if not isinstance(value, dict):
        return False
    own, carried = (part if isinstance(part, dict) else {} for part in (value.get("metadata"), value.get("data")))
    label = f"{own['namespace']}/{own.get('name')}" if own.get("namespace") else own.get("name")
    return (value.get("kind"), label) == (kind, rest) or any(_names(part, key) for part in carried.values())


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
