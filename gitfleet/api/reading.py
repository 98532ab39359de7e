"""Plain JSON to values of declarations, with every error at once. Only it and `sentences` know pydantic.

A declaration is compiled to pydantic-core's validators twice: `WRITTEN` is what people may write (every unknown field,
wrong type and broken rule is an error), `STATE` is what gitfleet wrote itself (types are checked, unknown fields of a
newer version pass, rules that came later do not make an older state unreadable).
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, is_dataclass
from enum import Enum
from functools import cache, lru_cache, partial
from typing import Any, Final, Literal, TypeVar, Union, get_args, get_origin

from pydantic_core import CoreSchema, SchemaValidator, ValidationError, core_schema

from gitfleet.api.annotations import FIRST_OF_LIST, Accept, Break, Check, Default, Form, Location, OneOf, Only
from gitfleet.api.layout import Field, Layout, bounds_of, class_in, find, is_shared, layout_of, nest, parts_of
from gitfleet.api.sentences import InvalidContent, breaks_of, dotted, without_nulls
from gitfleet.api.texts import ApiText
from gitfleet.formats.canonical_json import json_bytes

_T = TypeVar("_T")


class Profile(Enum):
    """Who wrote what is read."""

    WRITTEN = "people"
    STATE = "gitfleet"


METADATA: Final[Mapping[str, Any]] = {
    "name": str, "namespace": str, "labels": Mapping[str, str], "annotations": Mapping[str, str],
    "finalizers": tuple[str, ...], "generateName": str, "creationTimestamp": str, "deletionTimestamp": str,
    "deletionGracePeriodSeconds": int, "generation": int, "resourceVersion": str, "selfLink": str, "uid": str,
    "ownerReferences": tuple[Mapping[str, Any], ...], "managedFields": tuple[Mapping[str, Any], ...],
}  # fmt: skip
"""ObjectMeta: what a server adds to an object that was copied from one is let through, and not taken."""


def read(cls: type[_T], body: Any) -> tuple[_T | None, list[Break]]:
    """The value of what people wrote, or every error that was found. Never raises, whatever the body.

    As with Kubernetes' own validation rules, rules over several fields are judged once each field is sound by itself.
    """
    body = without_nulls(body)
    try:
        value = _validators(cls, Profile.WRITTEN).validate_python(body)
    except ValidationError as error:
        return None, breaks_of(error, cls)
    broken = list(broken_rules(value, body))
    return (None, broken) if broken else (value, [])


def read_state(cls: type[_T], body: Any) -> _T:
    """The value of what gitfleet wrote; InvalidContent with one sentence that names the first wrong field."""
    try:
        value: _T = _validators(cls, Profile.STATE).validate_python(body, context={})
    except ValidationError as error:
        location, sentence = breaks_of(error, cls)[0]
        raise InvalidContent(f"`{dotted(location)}` {sentence}") from None
    return value


def _validator(cls: Any, profile: Profile) -> SchemaValidator:
    return SchemaValidator(_schema(cls, profile))


_validators: Final[Callable[[Any, Profile], SchemaValidator]] = cache(_validator)
"""The validators of every type read so far; they depend on the declaration alone."""


def _schema(hint: Any, profile: Profile) -> CoreSchema:
    """The schema of a type with its annotations."""
    bare, extras = parts_of(hint)
    form = find(Form, extras)
    if form is not None:
        plain = core_schema.no_info_plain_validator_function(form.read)
        return plain if profile is Profile.STATE else _with_checks(plain, extras)
    if FIRST_OF_LIST in extras:
        items = core_schema.list_schema(_schema(bare, profile))
        return core_schema.no_info_after_validator_function(lambda listed: listed[0] if listed else None, items)
    choice = find(OneOf, extras) if profile is Profile.WRITTEN else None
    schema = _bare_schema(Literal[choice.values] if choice else bare, profile)
    if profile is Profile.STATE:
        return schema
    if schema["type"] == "tuple":
        # A tuple counts its sound items, a list all of them.
        items = core_schema.list_schema(_schema(get_args(bare)[0], profile), strict=True, **bounds_of(extras))
        schema = core_schema.no_info_after_validator_function(tuple, items)
    else:
        schema |= bounds_of(extras)  # type: ignore[operator]  # a schema is a dict that mypy knows by its keys
    return _with_checks(schema, extras)


def _with_checks(schema: CoreSchema, extras: tuple[Any, ...]) -> CoreSchema:
    """The schema with what only people must satisfy, and may spell otherwise."""
    for extra in extras:
        if isinstance(extra, Check):
            schema = core_schema.no_info_after_validator_function(_checked(extra.sentence), schema)
        elif isinstance(extra, Accept):
            schema = core_schema.no_info_before_validator_function(extra.normal, schema)
    return schema


def _checked(sentence_of: Callable[[Any], str | None]) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        if sentence := sentence_of(value):
            raise ValueError(sentence)
        return value

    return check


_SCALARS: Final[Mapping[Any, Callable[[], CoreSchema]]] = {
    str: lambda: core_schema.str_schema(strict=True),
    int: lambda: core_schema.int_schema(strict=True),
    float: lambda: core_schema.float_schema(strict=True),
    bool: lambda: core_schema.bool_schema(strict=True),
    Any: core_schema.any_schema,
}


def _bare_schema(bare: Any, profile: Profile) -> CoreSchema:
    if bare in _SCALARS:
        return _SCALARS[bare]()
    origin, arguments = get_origin(bare), get_args(bare)
    if origin in (Union, types.UnionType):
        inner = [part for part in arguments if part is not type(None)]
        if len(inner) == 1:
            return core_schema.nullable_schema(_schema(inner[0], profile))
    elif origin is tuple and arguments[-1] is Ellipsis:
        items = core_schema.tuple_schema([_schema(arguments[0], profile)], variadic_item_index=0)
        if profile is Profile.WRITTEN or not is_shared(arguments[0]):
            return items
        return core_schema.with_info_wrap_validator_function(partial(_shared, arguments[0]), items)
    elif origin is Literal:
        return core_schema.literal_schema(list(arguments))
    elif isinstance(origin, type) and issubclass(origin, Mapping):
        keys, values = (_schema(argument, profile) for argument in arguments)
        return core_schema.dict_schema(keys, values, strict=True)
    elif isinstance(bare, type) and issubclass(bare, Enum):
        return core_schema.enum_schema(bare, list(bare), sub_type="str")
    elif isinstance(bare, type) and is_dataclass(bare):
        return _class_schema(layout_of(bare), bare, profile)
    raise TypeError(ApiText.NO_TYPE_FIELD_DECLARATION(bare=bare))


def _class_schema(layout: Layout, cls: Any, profile: Profile) -> CoreSchema:
    fields = list(layout.fields)
    extra: Any = "ignore" if profile is Profile.STATE or layout.document.lenient else "forbid"
    if layout.plain and not (layout.document.tolerated and extra == "forbid"):
        return _plain_schema(cls, fields, extra, profile)
    body = _sections(layout, fields, extra, profile)
    return core_schema.no_info_after_validator_function(_builder(cls, layout, fields, profile), body)


def _shared(cls: Any, items: Any, read_items: Any, info: Any) -> Any:
    """Values that were read before in the same call, by the text of their list."""
    try:
        key = (cls, json_bytes(items))
    except TypeError:  # what has no text is no list of mappings
        return read_items(items)
    value = info.context.get(key)
    if value is None:
        value = info.context[key] = read_items(items)
    return value


def _defaulted(item: Field, profile: Profile) -> CoreSchema:
    schema = _schema(item.type, profile)
    if item.required:
        return schema
    if item.factory is not MISSING:
        return core_schema.with_default_schema(schema, default_factory=item.factory)
    return core_schema.with_default_schema(schema, default=item.default)


def _plain_schema(cls: Any, fields: list[Field], extra: Any, profile: Profile) -> CoreSchema:
    """Every attribute is one key: pydantic-core makes the value itself."""
    rows = [
        core_schema.dataclass_field(
            item.attribute, _defaulted(item, profile), kw_only=True, validation_alias=_names_of(item)
        )
        for item in fields
    ]
    arguments = core_schema.dataclass_args_schema(cls.__name__, rows, extra_behavior=extra)
    return core_schema.dataclass_schema(cls, arguments, [item.attribute for item in fields], slots=True)


def _names_of(item: Field) -> str | list[list[str | int]]:
    return [[item.path[0]], [item.also]] if item.also else item.path[0]


def _sections(layout: Layout, fields: list[Field], extra: Any, profile: Profile) -> CoreSchema:
    """Fields that stand in mappings below the class's own, as nested mappings."""
    tree: dict[str, Any] = {}
    if layout.document.identify is not None and profile is Profile.WRITTEN:
        tree = {"apiVersion": str, "kind": str, "metadata": dict(METADATA)}
        if not any(item.path[0] == "status" for item in fields):
            tree["status"] = Mapping[str, Any]
    if profile is Profile.WRITTEN:
        tree |= layout.document.tolerated
    nest(tree, fields)
    return _section(tree, (), layout, extra, profile)


def _section(
    tree: Mapping[str, Any], path: tuple[str, ...], layout: Layout, extra: Any, profile: Profile
) -> CoreSchema:
    rows: dict[str, core_schema.TypedDictField] = {}
    for name, item in tree.items():
        if isinstance(item, dict):
            rows[name] = core_schema.typed_dict_field(
                _section(item, (*path, name), layout, extra, profile), required=_needed(item)
            )
        elif isinstance(item, Field):
            defaulted = item.part is not None or find(Default, parts_of(item.type)[1]) is not None
            schema = _defaulted(item, profile) if defaulted else _schema(item.type, profile)
            rows[name] = core_schema.typed_dict_field(schema, required=item.required)
        else:
            needed = name in ("apiVersion", "kind")
            rows[name] = core_schema.typed_dict_field(_schema(item, profile), required=needed)
    return core_schema.typed_dict_schema(rows, extra_behavior="ignore" if path in layout.lenient else extra)


def _needed(tree: Mapping[str, Any]) -> bool:
    return any(
        _needed(item) if isinstance(item, dict) else isinstance(item, Field) and item.required for item in tree.values()
    )


def _builder(cls: type, layout: Layout, fields: list[Field], profile: Profile) -> Callable[[dict[str, Any]], Any]:
    """From nested mappings to the value. What a server fills in is not taken where people wrote it."""
    taken = [item for item in fields if profile is Profile.STATE or item.only is not Only.SERVER]
    sections: dict[tuple[str, ...], list[tuple[str, str | None, str]]] = {}
    alone = [(item.attribute, item.path[:-1], item.alone) for item in taken if item.alone is not MISSING]
    for item in taken:
        sections.setdefault(item.path[:-1], []).append((item.attribute, item.part, item.path[-1]))
    plan = list(sections.items())
    # Thousands of entries have the same placement, or objects of the same names: each is one value.
    inlined = [(name, _part(layout.inlined[name])) for name in layout.inlined]
    nothing: dict[str, Any] = {}

    def build(body: dict[str, Any]) -> Any:
        values: dict[str, Any] = {name: {} for name, _ in inlined}
        for steps, rows in plan:
            section = body
            for step in steps:
                section = section.get(step, nothing)
            for attribute, part, key in rows:
                if key in section:
                    (values if part is None else values[attribute])[attribute if part is None else part] = section[key]
        for name, path, meaning in alone:
            if name not in values and _there(body, path):
                values[name] = meaning
        for name, inner in inlined:
            values[name] = inner(*values[name].items())
        return cls(**values)

    return build


def _part(cls: Any) -> Callable[..., Any]:
    """Makes a part of its items; one of a `shared` class is the same value for the same items."""

    def make(*items: tuple[str, Any]) -> Any:
        return cls(**dict(items))

    return lru_cache(maxsize=4096)(make) if is_shared(cls) else make


def _there(body: Any, path: tuple[str, ...]) -> bool:
    for step in path:
        body = body.get(step)
        if body is None:
            return False
    return True


def broken_rules(value: Any, body: Any, top: Location = ()) -> Iterator[Break]:
    """What breaks the rules of a value and of all declarations in it, located from the top of the file.

    `body` is what the value was read from, for rules on what stands there though it says nothing new.
    """
    if hasattr(value, "breaks"):
        for location, sentence in value.breaks():
            yield (*top, *location), sentence
    if hasattr(value, "breaks_as_written") and isinstance(body, Mapping):
        for location, sentence in value.breaks_as_written(body):
            yield (*top, *location), sentence
    for item in _ruled_fields(value.__class__):
        part, place = getattr(value, item.attribute), (*top, *item.path)
        written = _below(body, item.path)
        if isinstance(part, tuple):
            for index, element in enumerate(part):
                yield from broken_rules(element, written[index], (*place, index))
        elif part is not None:
            yield from broken_rules(part, written, place)


def _below(body: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        if not isinstance(body, Mapping):
            return None
        body = body.get(step)
    return body


@cache
def _ruled_fields(cls: Any) -> tuple[Field, ...]:
    """The fields that lead to a rule; fields inside mappings of declarations are none of them."""
    return tuple(
        item
        for item in layout_of(cls).fields
        if item.part is None
        and (inner := class_in(item.type)) is not None
        and get_origin(parts_of(item.type)[0]) is not Mapping
        and (hasattr(inner, "breaks") or hasattr(inner, "breaks_as_written") or _ruled_fields(inner))
    )
