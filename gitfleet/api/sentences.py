"""From pydantic's errors to sentences: which field, what is wrong with it, and what to do.

No sentence repeats a value that stands in a file, so none can give away a secret.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic_core import ValidationError

from gitfleet.api.annotations import Break, Location
from gitfleet.api.layout import class_in, layout_of
from gitfleet.api.texts import ApiText
from gitfleet.formats.near_names import did_you_mean
from gitfleet.formats.yaml_scalars import shown


class InvalidContent(ValueError):
    """What gitfleet wrote itself is not what the declaration says: a field is missing or of another type."""


def dotted(location: Location) -> str:
    """A location as people write it: `spec.stages[1].name`, `metadata.labels["a.b/c"]`."""
    text = ""
    for step in location:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step.replace("_", "").replace("-", "").isalnum():
            text += f".{step}" if text else step
        else:
            text += f'["{shown(step)}"]'
    return text


def without_nulls(value: Any) -> Any:
    """The value without fields that are null: Kubernetes reads them as absent. A patch's `value: null` stays."""
    if isinstance(value, dict):
        fields = {name: item for name, item in value.items() if item is not None or name == "value"}
        return {name: item if name == "value" else without_nulls(item) for name, item in fields.items()}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value


def breaks_of(error: ValidationError, cls: type) -> list[Break]:
    """Every error with its location and its sentence."""
    breaks: list[Break] = []
    for item in error.errors(include_url=False):
        # "[key]" is pydantic's mark for a mapping's key, as opposed to its value.
        location: Location = tuple(step for step in item["loc"] if step != "[key]")
        context: Mapping[str, Any] = item.get("ctx") or {}
        raised = context.get("error")
        if isinstance(raised, ValueError):
            sentence = raised.args[0] if raised.args else ""  # not `str`: it may be a Sentence
            breaks.append((location, sentence if isinstance(sentence, str) else str(raised)))
        elif item["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
            breaks.append((location, _unknown_field(cls, location)))
        elif item["type"] in ("literal_error", "enum"):
            breaks.append((location, _not_a_choice(str(context["expected"]), item["input"])))
        else:
            breaks.append((location, _sentence(item["type"], context)))
    return breaks


_PLAIN = {
    "missing": ApiText.REQUIRED_ADD(),
    "string_type": ApiText.MUST_STRING_PUT_QUOTES(),
    "int_type": ApiText.MUST_WHOLE_NUMBER(),
    "int_from_float": ApiText.MUST_WHOLE_NUMBER_REMOVE_FRACTION(),
    "bool_type": ApiText.MUST_TRUE_FALSE(),
    "list_type": ApiText.MUST_LIST_BEGIN_EACH_ITEM(),
    "tuple_type": ApiText.MUST_LIST_BEGIN_EACH_ITEM(),
    "dict_type": ApiText.MUST_MAPPING_WRITE_KEY(),
    "dataclass_type": ApiText.MUST_MAPPING_WRITE_FIELDS_BELOW(),
    "string_too_short": ApiText.MUST_NOT_EMPTY_FILL(),
}


def _sentence(kind: str, context: Mapping[str, Any]) -> str:
    """What to do about one of pydantic's own error types."""
    if kind in _PLAIN:
        return _PLAIN[kind]
    match kind:
        case "greater_than_equal":
            return ApiText.MUST_LEAST_RAISE(context=context["ge"])
        case "less_than_equal":
            return ApiText.MUST_MOST_LOWER(context=context["le"])
        case "too_short":
            return ApiText.NEEDS_LEAST_ITEM(context=context["min_length"])
        case "too_long":
            return ApiText.MOST_ITEMS_REMOVE_SOME(context=context["max_length"])
        case _:
            return ApiText.NOT_FIELD_TAKES()


def _not_a_choice(expected: str, value: Any) -> str:
    """The choices, and the one that a value is nearest to, whatever its case."""
    choices = re.findall("'([^']*)'", expected)
    end = did_you_mean(value, choices, "correct it") if isinstance(value, str) else "correct it"
    return ApiText.MUST_ONE(replace=expected.replace(" or ", ", "), end=end)


def _unknown_field(cls: type, location: Location) -> str:
    names = fields_at(cls, location[:-1])
    if location[-1] in names:
        return ApiText.NOT_GO_OTHER_NAME_FIELD()
    *parent, name = location
    homes = [field for field in names if name in fields_at(cls, (*parent, field))]
    if len(homes) == 1:  # as after a wrong indentation
        return ApiText.NOT_KNOWN_FIELD(hint=ApiText.MOVE_BELOW(field=homes[0]))
    otherwise = ApiText.LABELS_BELOW() if "matchLabels" in names else "remove it"
    return ApiText.NOT_KNOWN_FIELD(hint=did_you_mean(str(name), names, otherwise))


def fields_at(cls: type, location: Location) -> list[str]:
    """The names of the fields that the mapping at a location has; none when a location leads out of declarations."""
    layout = layout_of(cls)
    fields = layout.fields
    for depth in range(len(location) + 1):
        section = tuple(location[:depth])
        field = next((item for item in fields if item.path == section), None)
        inner = class_in(field.type) if field is not None else None
        if inner is not None:
            remaining = tuple(location[depth:])
            while remaining and isinstance(remaining[0], int):
                remaining = remaining[1:]
            return fields_at(inner, remaining)
    envelope = [] if location or layout.document.identify is None else ["apiVersion", "kind", "metadata", "status"]
    steps = [item.path[len(location)] for item in fields if _leads(item.path, location)]
    aliases = [item.also for item in fields if item.also and item.path[:-1] == tuple(location)]
    return list(dict.fromkeys([*envelope, *steps, *aliases]))


def _leads(path: tuple[str, ...], location: Location) -> bool:
    return len(path) > len(location) and path[: len(location)] == tuple(location)
