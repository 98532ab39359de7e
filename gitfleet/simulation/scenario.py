"""Scenarios: what happens to a simulated fleet and how its clusters behave, read from a YAML file (contracts.md §5)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from gitfleet.api import dotted, read
from gitfleet.api.faults import Fault
from gitfleet.api.objects import JsonObject
from gitfleet.api.scenarios import Entry, Rule, ScenarioFile
from gitfleet.errors import BadInput
from gitfleet.formats.yaml_reader import line_of, lines_of, parse_documents
from gitfleet.simulation.rules import ClusterRule, ObjectPattern

MAX_BYTES: Final = 8 << 20
"""Largest scenario file read."""
MAX_FAULTS: Final = 100
"""Most faults of one file that are reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Happens:
    """Anything on the timeline: `at` is the time since the start, `place` its index in the file's timeline."""

    at: timedelta
    place: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteFile(Happens):
    """A person commits a file with this content to the watched branch."""

    path: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveFile(Happens):
    """A person commits the removal of a file or folder."""

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Approve(Happens):
    """A person approves what a run's stage is waiting for."""

    run: str
    stage: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reject(Happens):
    """A person rejects it: the run stops there."""

    run: str
    stage: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchCluster(Happens):
    """A cluster's API server goes away or comes back."""

    cluster: str
    reachable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Crash(Happens):
    """The reconciler ends: its memory is lost, only git remains."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutate(Happens):
    """Somebody changes a live object by hand: `object` has kind and name, `patch` is a JSON patch (RFC 6902)."""

    cluster: str
    object: ObjectPattern
    patch: tuple[JsonObject, ...]


TimelineEntry: TypeAlias = WriteFile | RemoveFile | Approve | Reject | SwitchCluster | Crash | Mutate


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One run: its start (UTC), how long it may last, how often gitfleet reconciles, how clusters behave, what happens.

    `timeline` is in order of time; entries of the same moment stay in the order in which they were written.
    """

    start: datetime
    max_time: timedelta
    tick: timedelta
    cluster_rules: tuple[ClusterRule, ...] = ()
    timeline: tuple[TimelineEntry, ...] = ()


class BadScenario(BadInput):
    """A scenario file that cannot be run: `faults` are all that is wrong with it, `str` has one line for each."""

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        super().__init__("\n".join(str(fault) for fault in faults))
        self.faults = faults


def read_scenario(content: bytes, *, path: str = "scenario.yaml") -> Scenario:
    """The scenario that a file's bytes hold; `path` is what faults call the file. BadScenario with all its faults."""
    parsed = parse_documents(content, max_bytes=MAX_BYTES)
    faults = [Fault(path, line, "", "", message) for line, message in parsed.faults]
    if not faults and len(parsed.documents) != 1:
        faults.append(Fault(path, 1, "", "", "a scenario is exactly one YAML document of kind Scenario"))
    if faults:
        raise BadScenario(tuple(faults))
    document = parsed.documents[0]
    file, breaks = read(ScenarioFile, document.value)
    if file is None:
        label = _object_of(document.value)
        found = breaks[:MAX_FAULTS]
        lines = lines_of(content, [(document.index, location) for location, _ in found])
        raise BadScenario(
            tuple(
                sorted(
                    Fault(path, line, label, dotted(location), sentence)
                    for line, (location, sentence) in zip(lines, found, strict=True)
                )
            )
        )
    return _scenario(file)


def line_of_entry(content: bytes, entry: TimelineEntry) -> int:
    """The 1-based line of a scenario file's bytes on which an entry of its timeline stands."""
    parsed = parse_documents(content, max_bytes=MAX_BYTES)
    return line_of(content, parsed.documents[0].index if parsed.documents else 0, ("spec", "timeline", entry.place))


def _object_of(value: object) -> str:
    metadata = value.get("metadata") if isinstance(value, dict) else None
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return f"Scenario/{name}" if isinstance(name, str) else "Scenario"


def _scenario(file: ScenarioFile) -> Scenario:
    spec = file.spec
    timeline = [_entry(entry, place) for place, entry in enumerate(spec.timeline)]
    return Scenario(
        start=spec.start,
        max_time=spec.max_time,
        tick=spec.tick,
        cluster_rules=tuple(_rule(rule) for rule in spec.clusters),
        timeline=tuple(sorted(timeline, key=lambda entry: entry.at)),
    )


def _rule(rule: Rule) -> ClusterRule:
    return ClusterRule(
        names=rule.names,
        match_labels=rule.match_labels,
        object=ObjectPattern(**asdict(rule.object)),
        available=rule.available,
        apply_fails=rule.apply == "fail",
    )


def _entry(entry: Entry, place: int) -> TimelineEntry:
    at = entry.at
    if entry.write:
        return WriteFile(at=at, place=place, path=entry.write.path, content=entry.write.content)
    if entry.remove:
        return RemoveFile(at=at, place=place, path=entry.remove.path)
    if entry.approve:
        return Approve(at=at, place=place, run=entry.approve.run, stage=entry.approve.stage)
    if entry.reject:
        return Reject(at=at, place=place, run=entry.reject.run, stage=entry.reject.stage)
    if entry.cluster:
        return SwitchCluster(
            at=at, place=place, cluster=entry.cluster.name, reachable=entry.cluster.state == "reachable"
        )
    if entry.mutate:
        pattern = ObjectPattern(**asdict(entry.mutate.object))
        return Mutate(at=at, place=place, cluster=entry.mutate.cluster, object=pattern, patch=entry.mutate.patch)
    return Crash(at=at, place=place)
