"""From pydantic's errors to sentences: which field, what is wrong with it, and what to do.

A break is (location, sentence); locations are field names and list indexes from the top of the document. No sentence
repeats a value that stands in a file, so none can give away a secret.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from gitfleet.api.objects import JsonValue
from gitfleet.formats.yaml_scalars import shown

Location = tuple[str | int, ...]
Break = tuple[Location, str]
_Shape = TypeVar("_Shape", bound=BaseModel)


class Broken(ValueError):
    """Raised by a shape's own rule: all that it found, with locations below the shape."""

    def __init__(self, breaks: Sequence[Break]) -> None:
        super().__init__("; ".join(sentence for _, sentence in breaks))
        self.breaks = tuple(breaks)


def read_shape(shape: type[_Shape], raw: JsonValue) -> tuple[_Shape | None, list[Break]]:
    """The typed value of a raw one, or every break that was found.

    A rule over several fields only runs on a part whose own fields are sound. Fields that are not are therefore taken
    away and the rest is looked at once more, so that a typing error does not hide what else is wrong; what only their
    absence breaks is left out again.
    """
    try:
        return shape.model_validate(raw), []
    except ValidationError as error:
        breaks = _breaks_of(shape, error)
        unsound = _unsound_fields(error)
    if unsound:
        try:
            shape.model_validate(_without(raw, unsound))
        except ValidationError as error:
            breaks += [
                found
                for found in _breaks_of(shape, error)
                if found not in breaks and not any(field[: len(found[0])] == found[0] for field in unsound)
            ]
    return None, breaks


def below(location: Location, breaks: Sequence[Break]) -> list[Break]:
    """The same breaks, seen from further up: `location` leads to what they were located in."""
    return [((*location, *further), sentence) for further, sentence in breaks]


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


def without_nulls(value: JsonValue) -> JsonValue:
    """The value without fields that are null: Kubernetes reads them as absent. A patch's `value: null` stays."""
    if isinstance(value, dict):
        kept = {name: item for name, item in value.items() if item is not None or name == "value"}
        return {name: item if name == "value" else without_nulls(item) for name, item in kept.items()}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value


def _breaks_of(shape: type[BaseModel], error: ValidationError) -> list[Break]:
    breaks: list[Break] = []
    for item in error.errors(include_url=False, include_input=False):
        # "[key]" is pydantic's mark for a mapping's key, as opposed to its value.
        location: Location = tuple(step for step in item["loc"] if step != "[key]")
        context: Mapping[str, Any] = item.get("ctx") or {}
        cause = context.get("error")
        if isinstance(cause, Broken):
            breaks += [((*location, *further), sentence) for further, sentence in cause.breaks]
        elif isinstance(cause, ValueError):
            breaks.append((location, str(cause)))
        elif item["type"] == "extra_forbidden":
            breaks.append((location, _unknown_field(shape, location)))
        else:
            breaks.append((location, _sentence(item["type"], context)))
    return breaks


def _unsound_fields(error: ValidationError) -> list[Location]:
    """The fields that are wrong by themselves; items of lists are not among them, since the others would move up."""
    return [
        tuple(item["loc"])
        for item in error.errors(include_url=False, include_input=False)
        if item["type"] != "missing"
        and not isinstance((item.get("ctx") or {}).get("error"), Broken)
        and item["loc"]
        and isinstance(item["loc"][-1], str)
        and "[key]" not in item["loc"]
    ]


def _sentence(kind: str, context: Mapping[str, Any]) -> str:
    """What to do about one of pydantic's own error types."""
    plain = {
        "missing": "is required; add it",
        "string_type": "must be a string; put it in quotes",
        "int_type": "must be a whole number, without quotes",
        "int_from_float": "must be a whole number; remove the fraction",
        "bool_type": "must be true or false, without quotes",
        "list_type": "must be a list; begin each item with a dash",
        "dict_type": "must be a mapping; write `key: value` below it",
        "model_type": "must be a mapping; write its fields below it",
        "model_attributes_type": "must be a mapping; write its fields below it",
    }.get(kind)
    if plain:
        return plain
    match kind:
        case "literal_error" | "enum":
            return f"must be one of {str(context['expected']).replace(' or ', ', ')}; correct it"
        case "greater_than_equal":
            return f"must be at least {context['ge']}; raise it"
        case "greater_than":
            return f"must be more than {context['gt']}; raise it"
        case "less_than_equal":
            return f"must be at most {context['le']}; lower it"
        case "too_short":
            return f"needs at least {context['min_length']} item(s); add one"
        case "too_long":
            return f"may have at most {context['max_length']} items; remove some"
        case "string_too_short":
            return "must not be empty; fill it in"
        case "string_too_long":
            return f"may have at most {context['max_length']} characters; shorten it"
        case _:
            return "is not what this field takes; see `gitfleet schema`"


def _unknown_field(shape: type[BaseModel], location: Location) -> str:
    known = _fields_at(shape, location[:-1])
    near = get_close_matches(str(location[-1]), known, n=1, cutoff=0.6)
    if not near:
        folded = {name.lower(): name for name in known}
        near = [folded[str(location[-1]).lower()]] if str(location[-1]).lower() in folded else []
    return f'is not a known field; did you mean "{near[0]}"?' if near else "is not a known field; remove it"


def _fields_at(shape: type[BaseModel], location: Location) -> list[str]:
    """The names of the fields that the shape below a location has; none when a location leads out of shapes."""
    here: type[BaseModel] | None = shape
    for step in location:
        if here is None:
            return []
        if isinstance(step, int):
            continue
        field = next((f for name, f in here.model_fields.items() if step in (name, f.alias)), None)
        here = _shape_in(field.annotation) if field is not None else here
    return [field.alias or name for name, field in here.model_fields.items()] if here else []


def _shape_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in get_args(annotation) if (found := _shape_in(part)) is not None), None)


def _without(raw: JsonValue, fields: Sequence[Location], here: Location = ()) -> JsonValue:
    if isinstance(raw, dict):
        return {
            name: _without(item, fields, (*here, name)) for name, item in raw.items() if (*here, name) not in fields
        }
    if isinstance(raw, list):
        return [_without(item, fields, (*here, index)) for index, item in enumerate(raw)]
    return raw
