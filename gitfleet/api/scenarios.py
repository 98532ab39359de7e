"""Scenario (gitfleet.dev/v1alpha1): what happens to a simulated fleet and how its clusters behave (contracts.md §5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath
from typing import Annotated, Any, Final, Literal, TypeAlias

import jsonpatch
import jsonpointer
from annotated_types import Interval, Len

from gitfleet.api.annotations import At, Break, Form, OneOf, Only
from gitfleet.api.fleet import GITFLEET_GROUP
from gitfleet.api.layout import document
from gitfleet.api.metrics import Number
from gitfleet.api.objects import JsonObject
from gitfleet.api.texts import ApiText
from gitfleet.api.values import NonEmpty, Time
from gitfleet.formats.durations import SCHEMA, SCHEMA_WITH_ZERO, read_seconds, seconds_text

Delay: TypeAlias = timedelta | Literal["never"]
"""Time from the last change of an object's spec until it is available."""

DEFAULT_DELAY: Final = timedelta(seconds=5)
"""What an object takes where no rule matches (contracts.md §5)."""


def _file_path(path: object) -> str:
    """A path below the repo's root, as git has it. ValueError."""
    if not isinstance(path, str) or not path:
        raise ValueError(ApiText.NOT_PATH_FILE())
    parts = PurePosixPath(path).parts
    if path.startswith("/") or "\\" in path or ".." in parts or (parts and parts[0] == ".git") or path == ".":
        raise ValueError(ApiText.NOT_PATH_INSIDE_CONFIG_REPO())
    return str(PurePosixPath(path))


def _duration(value: object) -> timedelta:
    return timedelta(seconds=read_seconds(value, zero=True))


def _delay(value: object) -> Delay:
    return "never" if value == "never" else _duration(value)


def _text(delay: Delay) -> str:
    return delay if isinstance(delay, str) else seconds_text(delay.total_seconds())


def _step(value: object) -> timedelta:
    return timedelta(seconds=read_seconds(value))


def _patch(value: object) -> tuple[JsonObject, ...]:
    try:
        if not isinstance(value, list):
            raise TypeError
        jsonpatch.JsonPatch(value)  # reads every operation and its pointer
    except (jsonpatch.InvalidJsonPatch, jsonpointer.JsonPointerException, TypeError, AttributeError) as error:
        raise ValueError(ApiText.NOT_JSON_PATCH()) from error
    return tuple(value)


_PATH_PATTERN: Final = r"^(?!/|\.$)(?!(?:\.?/+)*\.git(?:/|$))(?!(?:.*/)?\.\.(?:/|$))[^\\]+$"
"""`_file_path` as a pattern."""
_OPERATION: Final[Mapping[str, Any]] = {
    "type": "object",
    "required": ["op", "path"],
    "properties": {
        "op": {"enum": sorted(jsonpatch.JsonPatch.operations), "description": ApiText.WHAT_IS_DONE()},
        "path": {
            "type": "string",
            "pattern": "^(?:/(?:[^~/]|~[01])*)*$",
            "description": ApiText.FIELD_JSON_POINTER(),
        },
    },
}
_DELAY: Final[Mapping[str, Any]] = {"anyOf": [{"const": "never"}, *SCHEMA_WITH_ZERO["anyOf"]]}
FilePath = Annotated[str, Form(_file_path, {"type": "string", "pattern": _PATH_PATTERN})]
Duration = Annotated[timedelta, Form(_duration, SCHEMA_WITH_ZERO, _text)]
Step = Annotated[timedelta, Form(_step, SCHEMA, _text)]
Patch = Annotated[tuple[JsonObject, ...], Form(_patch, {"type": "array", "items": _OPERATION})]


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectPattern:
    """Which objects a rule means: every given part must hold.

    group: the API group, "" for the core group
    kind: the kind
    namespace: the namespace
    name: the name
    image: a glob that the image of any container may match
    """

    group: str | None = None
    kind: NonEmpty | None = None
    namespace: NonEmpty | None = None
    name: NonEmpty | None = None
    image: NonEmpty | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Target(ObjectPattern):
    """The objects that a mutate changes."""

    kind: NonEmpty
    namespace: str | None = None
    name: NonEmpty
    image: Annotated[None, Only.MEMORY] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterRule:
    """Objects on clusters: how long they take to be available, and whether the API server refuses them.

    Without `names` and `match_labels` it holds for every cluster; where both are given, both must hold.

    names: the clusters by name
    matchLabels: the clusters by their labels
    object: which objects; every one where it is absent
    available: how long an object takes to be available, or never
    apply: fail has the API server refuse the objects
    """

    names: tuple[NonEmpty, ...] | None = None
    match_labels: Mapping[str, str] | None = None
    object: ObjectPattern = ObjectPattern()
    available: Annotated[Delay, Form(_delay, _DELAY, _text)] = DEFAULT_DELAY
    apply: Annotated[str, OneOf("fail")] | None = None
    delete_fails: Annotated[bool, Only.MEMORY] = False

    def matches_cluster(self, name: str, labels: Mapping[str, str]) -> bool:
        """Whether the rule applies to the cluster."""
        if self.names is not None and name not in self.names:
            return False
        return self.match_labels is None or all(labels.get(key) == value for key, value in self.match_labels.items())

    def breaks_as_written(self, body: JsonObject) -> Iterator[Break]:
        """A rule says something."""
        if "available" not in body and "apply" not in body:
            yield (), ApiText.NEEDS_AVAILABLE_DURATION_NEVER_APPLY()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRule:
    """When a rule for answers holds: `start` and `end` are counted from the start of the scenario, `end` not included.

    from: from when on it holds; from the start where it is absent
    until: until when it holds; to the end where it is absent
    """

    start: Annotated[Duration, At("from")] = timedelta(0)
    end: Annotated[Duration | None, At("until")] = None

    def applies_at(self, moment: timedelta) -> bool:
        """Whether it holds so long after the start."""
        return self.start <= moment and (self.end is None or moment < self.end)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRule(AnswerRule):
    """What metric providers answer to queries that match.

    query: a pattern that the whole query must match; * stands for any text
    value: the value that is measured
    values: the values that are measured, where there are several
    noData: there is no data
    fail: the provider has an error
    """

    query: NonEmpty
    value: Number | None = None
    values: Annotated[tuple[Number, ...], Len(0, 1000)] = ()
    no_data: bool = False
    fail: bool = False

    def breaks(self) -> Iterator[Break]:
        """Exactly one answer."""
        answers = [self.value is not None, bool(self.values), self.no_data, self.fail]
        if sum(answers) != 1:
            yield (), ApiText.NEEDS_EXACTLY_ONE_VALUE()


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookRule(AnswerRule):
    """What servers answer to webhooks whose URL matches.

    url: a pattern that the whole URL must match; * stands for any text
    status: the HTTP status
    fail: there is no connection
    never: no answer ever comes
    """

    url: NonEmpty
    status: Annotated[int, Interval(ge=100, le=599)] | None = None
    fail: bool = False
    never: bool = False

    def breaks(self) -> Iterator[Break]:
        """Exactly one answer."""
        if sum((self.status is not None, self.fail, self.never)) != 1:
            yield (), ApiText.NEEDS_EXACTLY_ONE_STATUS()


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A file with its content.

    path: where the file stands in the config repo
    content: the whole text of the file
    """

    path: FilePath
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """A file or folder that goes.

    path: where it stands in the config repo
    """

    path: FilePath


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A stage of a run.

    run: the run's name
    stage: the stage's name
    """

    run: NonEmpty
    stage: NonEmpty


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """A cluster that goes away or comes back.

    name: the cluster
    state: whether it answers from then on
    """

    name: NonEmpty
    state: Annotated[str, OneOf("unreachable", "reachable")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change by hand.

    cluster: the cluster on which it is made
    object: the object that is changed
    patch: the change, as a JSON patch
    """

    cluster: NonEmpty
    object: Target
    patch: Patch


_VERBS: Final = ("write", "remove", "approve", "reject", "cluster", "crash", "mutate")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One of `timeline`: a moment and exactly one thing that happens.

    at: when it happens, counted from the start
    write: a file that is committed
    remove: a file or folder that a commit removes
    approve: a stage that a person approves
    reject: a stage that a person rejects
    cluster: a cluster that goes away or comes back
    crash: what is killed at that moment
    mutate: an object that somebody changes on a cluster
    """

    at: Duration
    write: Written | None = None
    remove: Removed | None = None
    approve: Gate | None = None
    reject: Gate | None = None
    cluster: Switch | None = None
    crash: Annotated[str, OneOf("reconciler")] | None = None
    mutate: Change | None = None

    def breaks(self) -> Iterator[Break]:
        """Exactly one thing."""
        verbs = [verb for verb in _VERBS if getattr(self, verb) is not None]
        if len(verbs) != 1:
            yield (), ApiText.NEEDS_EXACTLY_ONE(verbs=", ".join(_VERBS), given=" and ".join(verbs) or "none")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One run: when it starts, how long it may last, how often gitfleet reconciles, how clusters behave, what metric
    providers and webhooks answer (the first rule that matches counts), and what happens, in any order.

    start: the moment at which it starts
    maxTime: how long it may last
    tick: how long after a reconcile the next one comes
    clusters: how clusters behave
    metrics: what metric providers answer; no data where no rule matches
    webhooks: what webhooks answer; 200 where no rule matches
    timeline: what happens
    """

    start: Time = datetime(2026, 1, 1, tzinfo=UTC)
    max_time: Step = timedelta(hours=24)
    tick: Step = timedelta(seconds=5)
    clusters: tuple[ClusterRule, ...] = ()
    metrics: tuple[MetricRule, ...] = ()
    webhooks: tuple[WebhookRule, ...] = ()
    timeline: tuple[Entry, ...] = ()


@document(tolerated={"metadata": JsonObject})
@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioFile:
    """Scenario: what happens to a simulated fleet, in one file."""

    api_version: Annotated[str, OneOf(f"{GITFLEET_GROUP}/v1alpha1")]
    kind: Annotated[str, OneOf("Scenario")]
    spec: Scenario
