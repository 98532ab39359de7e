"""Reading one field of a mapping with its type checked, and the few shapes that every object shares: times,
conditions, metadata. Everything raises `Misshapen` with one sentence that names the field."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, TypeAlias, TypeVar

from gitfleet.api import Misshapen as Misshapen
from gitfleet.api.conditions import Condition, Conditions, Status
from gitfleet.api.objects import JsonObject, ObjectKey
from gitfleet.formats.canonical_json import NotJson, canonical_json, parse_json
from gitfleet.formats.times import read_time, time_text

Choice = TypeVar("Choice", bound=StrEnum)

PLACEMENT_LABEL = "kubernetes-fleet.io/parent-CRP"
LATEST_LABEL = "kubernetes-fleet.io/is-latest-snapshot"
OURS = "gitfleet"
"""The part of `status` that holds what KubeFleet has no field for."""


def need_text(source: Mapping[str, Any], key: str) -> str:
    """A text that must be there."""
    value = source.get(key)
    if value.__class__ is not str:
        raise Misshapen(f"`{key}` must be text")
    return value


def text_at(source: Mapping[str, Any], key: str, default: str = "") -> str:
    """A text, or the default where the field is absent."""
    value = source.get(key)
    return default if value is None else need_text(source, key)


def optional_text(source: Mapping[str, Any], key: str) -> str | None:
    """A text, or None where the field is absent."""
    value = source.get(key)
    return None if value is None else need_text(source, key)


def int_at(source: Mapping[str, Any], key: str, default: int | None = None) -> int:
    """A whole number; without a default it must be there."""
    value = source.get(key, default)
    if value.__class__ is not int:
        raise Misshapen(f"`{key}` must be a whole number")
    return value


def index_at(source: Mapping[str, Any], key: str) -> int:
    """A whole number that is written as text, as labels and annotations are."""
    value = need_text(source, key)
    if not value.isascii() or not value.isdigit():
        raise Misshapen(f"`{key}` must be a whole number in quotes")
    return int(value)


def flag_at(source: Mapping[str, Any], key: str, default: bool = False) -> bool:
    """true or false, or the default where the field is absent."""
    value = source.get(key, default)
    if value.__class__ is not bool:
        raise Misshapen(f"`{key}` must be true or false")
    return value


def amount_at(source: Mapping[str, Any], key: str, default: int | str) -> int | str:
    """A whole number or a percentage."""
    value = source.get(key, default)
    if value.__class__ is not int and value.__class__ is not str:
        raise Misshapen(f"`{key}` must be a number or a percentage")
    return value


def choice_at(source: Mapping[str, Any], key: str, choices: type[Choice], default: Choice | None = None) -> Choice:
    """One of an enumeration's values; without a default it must be there."""
    value = source.get(key)
    if value is None and default is not None:
        return default
    try:
        return choices(value)  # type: ignore[arg-type]  # what is no choice is refused
    except ValueError:
        raise Misshapen(f"`{key}` must be one of {', '.join(choices)}") from None


def mapping_at(source: Mapping[str, Any], key: str) -> dict[str, Any]:
    """A mapping, empty where the field is absent."""
    value = source.get(key)
    if value is None:
        return {}
    if value.__class__ is not dict:
        raise Misshapen(f"`{key}` must be a mapping")
    return value


def optional_mapping(source: Mapping[str, Any], key: str) -> dict[str, Any] | None:
    """A mapping, or None where the field is absent."""
    return None if source.get(key) is None else mapping_at(source, key)


def mappings_at(source: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """A list of mappings, empty where the field is absent."""
    value = source.get(key)
    if value is None:
        return []
    if value.__class__ is not list or any(item.__class__ is not dict for item in value):
        raise Misshapen(f"`{key}` must be a list of mappings")
    return value


def texts_at(source: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """A list of texts, empty where the field is absent."""
    value = source.get(key)
    if value is None:
        return ()
    if value.__class__ is not list or any(item.__class__ is not str for item in value):
        raise Misshapen(f"`{key}` must be a list of texts")
    return tuple(value)


def indexes_at(source: Mapping[str, Any], key: str) -> tuple[int, ...]:
    """A list of indexes, empty where the field is absent."""
    value = source.get(key)
    if value is None:
        return ()
    if value.__class__ is not list or any(item.__class__ is not int or item < 0 for item in value):
        raise Misshapen(f"`{key}` must be a list of whole numbers")
    return tuple(value)


def text_map_at(source: Mapping[str, Any], key: str) -> dict[str, str]:
    """A mapping of texts, empty where the field is absent."""
    value = mapping_at(source, key)
    if any(item.__class__ is not str for item in value.values()):
        raise Misshapen(f"`{key}` must be a mapping of texts")
    return value


def need_time(source: Mapping[str, Any], key: str) -> datetime:
    """A time that must be there."""
    try:
        return read_time(need_text(source, key))
    except ValueError:
        raise Misshapen(f"`{key}` must be a time such as 2026-01-01T00:00:00Z") from None


def optional_time(source: Mapping[str, Any], key: str) -> datetime | None:
    """A time, or None where the field is absent."""
    return need_time(source, key) if source.get(key) is not None else None


def condition_objects(conditions: Conditions) -> list[JsonObject]:
    """metav1.Conditions as JSON."""
    return [
        {
            "lastTransitionTime": time_text(condition.last_transition_time),
            "message": condition.message,
            "observedGeneration": condition.observed_generation,
            "reason": condition.reason,
            "status": condition.status.value,
            "type": condition.type,
        }
        for condition in conditions
    ]


_CONDITION_FIELDS: Final = ("lastTransitionTime", "message", "observedGeneration", "reason", "status", "type")
_STATUSES = {status.value: status for status in Status}


KnownConditions: TypeAlias = dict[tuple[Any, ...], Condition]
"""Conditions that were read before, by their fields: equal ones are one object."""


def read_conditions(
    source: Mapping[str, Any], key: str = "conditions", known: KnownConditions | None = None
) -> Conditions:
    """metav1.Conditions from JSON. `known` is asked first and takes in what is new: the conditions of many bindings are
    few different ones."""
    every = mappings_at(source, key)
    if known is None:
        return tuple(map(_read_condition, every))
    found: list[Condition] = []
    for item in every:
        values = tuple(item.values())
        try:
            condition = known.get(values)
        except TypeError:  # a list or mapping where none belongs
            condition = None
        if condition is None:
            condition = _read_condition(item)
            if tuple(item) == _CONDITION_FIELDS and values[2].__class__ is int:
                known[values] = condition
        found.append(condition)
    return tuple(found)


def _read_condition(item: Mapping[str, Any]) -> Condition:
    status = _STATUSES.get(need_text(item, "status"))
    if status is None:
        raise Misshapen('`status` of a condition must be "True", "False" or "Unknown"')
    return Condition(
        type=need_text(item, "type"),
        status=status,
        reason=text_at(item, "reason"),
        message=text_at(item, "message"),
        last_transition_time=need_time(item, "lastTransitionTime"),
        observed_generation=int_at(item, "observedGeneration", 0),
    )


def key_fields(key: ObjectKey) -> JsonObject:
    """A resource identifier as KubeFleet lists it: no namespace for what is cluster-scoped."""
    fields = {"group": key.group, "kind": key.kind, "name": key.name, "version": key.version}
    return {**fields, "namespace": key.namespace} if key.namespace else fields


def read_key(source: Mapping[str, Any]) -> ObjectKey:
    """A resource identifier back."""
    return ObjectKey(
        text_at(source, "group"),
        need_text(source, "version"),
        need_text(source, "kind"),
        text_at(source, "namespace"),
        need_text(source, "name"),
    )


def present(**fields: Any) -> dict[str, Any]:
    """The fields that are not None and not empty."""
    return {name: value for name, value in fields.items() if value is not None and value not in ("", [], {})}


def written_text(body: JsonObject) -> str | None:
    """The object as people wrote it, in one line, as kubectl keeps it in its last-applied annotation; None for no
    object."""
    return canonical_json(body).decode() if body else None


def read_written(ours: Mapping[str, Any]) -> JsonObject:
    """What `written_text` kept."""
    text = optional_text(ours, "written")
    if text is None:
        return {}
    try:
        body = parse_json(text)
    except NotJson:
        body = None
    if not isinstance(body, dict):
        raise Misshapen("`written` must be a JSON object")
    return body


def bytes_text(text: str) -> str:
    """Go's []byte in JSON."""
    return b64encode(text.encode()).decode()


def read_bytes_text(source: Mapping[str, Any], key: str) -> str:
    """What `bytes_text` wrote."""
    try:
        return b64decode(need_text(source, key), validate=True).decode()
    except ValueError:
        raise Misshapen(f"`{key}` must be base64") from None
