"""The exact form of a scenario file, checked once: unknown fields, wrong values and missing parts are all reported."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath
from typing import Annotated, Any, Final, Literal, cast

import jsonpatch
import jsonpointer
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from gitfleet.api.objects import JsonObject
from gitfleet.formats.durations import read_seconds
from gitfleet.formats.times import read_time
from gitfleet.simulation.rules import DEFAULT_DELAY, Delay

MAX_BYTES: Final = 8 << 20
"""Largest scenario file read."""
MAX_FAULTS: Final = 100
"""Most faults of one file that are reported."""


def _file_path(path: object) -> str:
    """A path below the repo's root, as git has it. ValueError."""
    if not isinstance(path, str) or not path:
        raise ValueError("is not the path of a file")
    parts = PurePosixPath(path).parts
    if path.startswith("/") or "\\" in path or ".." in parts or (parts and parts[0] == ".git") or path == ".":
        raise ValueError("is not a path inside the config repo")
    return str(PurePosixPath(path))


def _duration(value: object) -> timedelta:
    return timedelta(seconds=read_seconds(value, zero=True))


def _delay(value: object) -> Delay:
    return "never" if value == "never" else _duration(value)


def _step(value: object) -> timedelta:
    return timedelta(seconds=read_seconds(value))


def _patch(value: object) -> tuple[JsonObject, ...]:
    try:
        jsonpatch.JsonPatch(cast(Any, value))  # reads every operation and its pointer
    except (jsonpatch.InvalidJsonPatch, jsonpointer.JsonPointerException, TypeError, AttributeError) as error:
        raise ValueError("is not a JSON patch: a list of {op, path, value}") from error
    return tuple(cast("list[JsonObject]", value))


FilePath = Annotated[str, BeforeValidator(_file_path)]
Duration = Annotated[timedelta, BeforeValidator(_duration)]
Step = Annotated[timedelta, BeforeValidator(_step)]
Moment = Annotated[datetime, BeforeValidator(read_time)]
Name = Annotated[str, Field(min_length=1, strict=True)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, arbitrary_types_allowed=True)


class Pattern(_Part):
    """`object` of a rule."""

    group: str | None = None
    kind: Name | None = None
    namespace: Name | None = None
    name: Name | None = None
    image: Name | None = None


class Target(_Part):
    """`object` of a mutate."""

    group: str | None = None
    kind: Name
    namespace: str | None = None
    name: Name


class Rule(_Part):
    """One of `clusters`."""

    names: tuple[Name, ...] | None = None
    match_labels: dict[str, str] | None = None
    object: Pattern | None = None
    available: Annotated[Any, BeforeValidator(_delay)] = DEFAULT_DELAY
    apply: Literal["fail"] | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Rule:
        if not self.model_fields_set & {"available", "apply"}:
            raise ValueError("a rule needs `available` (a duration or never) or `apply: fail`")
        return self


class Written(_Part):
    """A file with its content."""

    path: FilePath
    content: Annotated[str, Field(strict=True)]


class Removed(_Part):
    """A file or folder that goes."""

    path: FilePath


class Gate(_Part):
    """A stage of a run."""

    run: Name
    stage: Name


class Switch(_Part):
    """A cluster that goes away or comes back."""

    name: Name
    state: Literal["unreachable", "reachable"]


class Change(_Part):
    """A change by hand."""

    cluster: Name
    object: Target
    patch: Annotated[Any, BeforeValidator(_patch)]


_VERBS: Final = ("write", "remove", "approve", "reject", "cluster", "crash", "mutate")


class Entry(_Part):
    """One of `timeline`: a moment and exactly one thing that happens."""

    at: Duration
    write: Written | None = None
    remove: Removed | None = None
    approve: Gate | None = None
    reject: Gate | None = None
    cluster: Switch | None = None
    crash: Literal["reconciler"] | None = None
    mutate: Change | None = None

    @model_validator(mode="after")
    def _one_thing(self) -> Entry:
        given = [verb for verb in _VERBS if getattr(self, verb) is not None]
        if len(given) != 1:
            raise ValueError(f"needs exactly one of {', '.join(_VERBS)}, and has {' and '.join(given) or 'none'}")
        return self


class Spec(_Part):
    """`spec`."""

    start: Moment = datetime(2026, 1, 1, tzinfo=UTC)
    max_time: Step = timedelta(hours=24)
    tick: Step = timedelta(seconds=5)
    clusters: tuple[Rule, ...] = ()
    timeline: tuple[Entry, ...] = ()


class ScenarioFile(_Part):
    """The whole document."""

    api_version: Literal["gitfleet.dev/v1alpha1"]
    kind: Literal["Scenario"]
    metadata: dict[str, Any] = Field(default_factory=dict)
    spec: Spec


def check_document(value: object) -> tuple[ScenarioFile | None, list[ErrorDetails]]:
    """The document in its form, or everything that is wrong with it."""
    try:
        return ScenarioFile.model_validate(value), []
    except ValidationError as error:
        return None, error.errors(include_url=False)


def message_of(error: ErrorDetails) -> str:
    """One fault as a sentence for people."""
    match error["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return "is not a field that scenarios have; check its spelling"
        case "value_error":
            return str(error.get("ctx", {}).get("error", error["msg"]))
        case "literal_error":
            return f"must be {error['ctx']['expected']}"
        case _:
            sentence = error["msg"]
            return sentence[:1].lower() + sentence[1:]
