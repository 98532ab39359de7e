"""JSON Schemas of declarations (2020-12), for editors: what people may write, with every bound and every default."""

from __future__ import annotations

import dataclasses
import inspect
import re
import types
from collections.abc import Mapping
from enum import Enum
from typing import Any, Final, Literal, Union, get_args, get_origin

from gitfleet.api.annotations import FIRST_OF_LIST, Absent, Accept, Check, Form, OneOf
from gitfleet.api.layout import Field, bounds_of, find, layout_of, nest, parts_of
from gitfleet.api.reading import METADATA
from gitfleet.api.texts import ApiText
from gitfleet.api.writing import write_as

_FIELD: Final = re.compile(r"^([a-zA-Z]+(?:\.[a-zA-Z]+)*): (.+(?:\n    .+)*)$", re.M)
_SCALARS: Final[Mapping[Any, str]] = {str: "string", int: "integer", float: "number", bool: "boolean"}


def json_schema(cls: type) -> dict[str, Any]:
    """The schema of a declaration; the declarations in it stand under `$defs`."""
    definitions: dict[str, Any] = {}
    schema = _class_schema(cls, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "$defs": dict(sorted(definitions.items())),
    }


def _class_schema(cls: type, definitions: dict[str, Any]) -> dict[str, Any]:
    layout = layout_of(cls)
    tree: dict[str, Any] = {}
    if layout.document.identify is not None:
        tree = {"apiVersion": str, "kind": str, "metadata": dict(METADATA), "status": Mapping[str, Any]}
    tree |= layout.document.tolerated
    nest(tree, layout.fields)
    schema = _section(tree, (), layout.lenient, definitions)
    if layout.document.lenient:
        del schema["additionalProperties"]
    summary, fields = descriptions_of(cls)
    for item in layout.fields:
        if text := fields.get(".".join(item.path[len(layout.document.section) :])):
            described = schema
            for step in item.path[:-1]:
                described = described["properties"][step]
            described["properties"][item.path[-1]]["description"] = text
            if item.also:
                described["properties"][item.also]["description"] = ApiText.ANOTHER_NAME(item=item.path[-1])
    return {"title": cls.__name__, "description": summary, **schema}


def descriptions_of(cls: type) -> tuple[str, dict[str, str]]:
    """What docstrings say to those who write a declaration: the first paragraph, and by its path in the file each
    field that a line `path: text` of the class or of one that it extends describes."""
    docs = [inspect.cleandoc(base.__doc__ or "") for base in reversed(cls.__mro__)]
    return docs[-1].split("\n\n")[0], {
        path: " ".join(text.split()) for doc in docs for path, text in _FIELD.findall(doc)
    }


def _section(
    tree: Mapping[str, Any], path: tuple[str, ...], lenient: frozenset[tuple[str, ...]], definitions: dict[str, Any]
) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    required: list[str] = []
    exclusive: list[dict[str, Any]] = []
    for name, item in tree.items():
        if isinstance(item, dict):
            properties[name] = _section(item, (*path, name), lenient, definitions)
            needed = "required" in properties[name]
        elif isinstance(item, Field):
            properties[name] = _field_schema(item, definitions)
            if item.also:
                properties[item.also] = {**properties[name], "deprecated": True}
                exclusive.append({"required": [name, item.also]})
            needed = item.required
        else:
            properties[name] = _schema(item, definitions)
            needed = name in ("apiVersion", "kind")
        if needed:
            required.append(name)
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if path not in lenient:
        schema["additionalProperties"] = False
    if exclusive:
        schema["not"] = {"anyOf": exclusive}
    return {**schema, "required": required} if required else schema


def _field_schema(item: Field, definitions: dict[str, Any]) -> dict[str, Any]:
    schema = _schema(item.type, definitions)
    if item.required or item.absent is None or item.absent is Absent.ABSENT:
        return schema
    return {**schema, "default": write_as(item.type, item.absent)}


def _schema(hint: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    bare, extras = parts_of(hint)
    form, choice, spelling = find(Form, extras), find(OneOf, extras), find(Accept, extras)
    if FIRST_OF_LIST in extras:
        return {"type": "array", "items": _schema(bare, definitions)}
    if form is not None:
        schema = dict(form.schema)
    else:
        schema = {"enum": list(choice.values)} if choice is not None else _bare_schema(bare, definitions)
    for extra in extras:
        if isinstance(extra, Check):
            schema |= extra.schema
    schema |= _limits(extras, schema.get("type"))
    return schema if spelling is None else {"anyOf": [schema, spelling.schema(schema)]}


def _limits(extras: tuple[Any, ...], kind: Any) -> dict[str, Any]:
    unit = "Items" if kind == "array" else "Length"
    words = {"min_length": f"min{unit}", "max_length": f"max{unit}", "ge": "minimum", "le": "maximum"}
    return {words[name]: value for name, value in bounds_of(extras).items()}


def _bare_schema(bare: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    if bare in _SCALARS:
        return {"type": _SCALARS[bare]}
    origin, arguments = get_origin(bare), get_args(bare)
    if origin in (Union, types.UnionType):
        inner = [part for part in arguments if part is not type(None)]
        return _schema(inner[0], definitions)
    if origin is tuple:
        return {"type": "array", "items": _schema(arguments[0], definitions)}
    if origin is Literal:
        return {"enum": list(arguments)}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        keys, values = (_schema(argument, definitions) for argument in arguments)
        names = {"propertyNames": keys} if len(keys) > 1 else {}  # a key is a string anyway
        return {"type": "object", **names, **({"additionalProperties": values} if values else {})}
    if isinstance(bare, type) and issubclass(bare, Enum):
        return {"enum": [member.value for member in bare]}
    if isinstance(bare, type) and dataclasses.is_dataclass(bare):
        if bare.__name__ not in definitions:
            definitions[bare.__name__] = {}
            definitions[bare.__name__] = _class_schema(bare, definitions)
        return {"$ref": f"#/$defs/{bare.__name__}"}
    return {}
