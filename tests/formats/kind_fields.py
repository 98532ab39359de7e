"""Makes the data of `gitfleet.formats.kind_fields` from the OpenAPI document of a Kubernetes release.

    python -m tests.formats.kind_fields swagger.json

The document is `api/openapi-spec/swagger.json` of k8s.io/kubernetes at the version of
tests/realparts/programs/go.mod (`go mod download -json k8s.io/kubernetes@VERSION` names the folder).
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from gitfleet.formats import kind_fields
from gitfleet.formats.kinds import BUILT_IN_KINDS

_META = "io.k8s.apimachinery.pkg.apis.meta.v1."
_SCHEMAS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."
_WRITTEN_OTHERWISE = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "int-or-string",
    "io.k8s.apimachinery.pkg.runtime.RawExtension": "any",
    f"{_META}Time": "string",
    f"{_META}MicroTime": "string",
    f"{_META}FieldsV1": "any",
    **{f"{_SCHEMAS}JSONSchemaPropsOr{other}": "?JSONSchemaProps" for other in ("Array", "Bool", "StringArray")},
}
"""Definitions whose JSON form is not what their schema says."""
_SCALARS = {"boolean": "boolean", "number": "number"}
_OF_EVERY_KIND = frozenset({"apiVersion", "kind", "metadata", "status"})
"""Judged elsewhere, or taken off before an object is placed."""

Types = dict[str, dict[str, str]]
"""The types of the fields of each type."""
Lists = dict[str, dict[str, list[str]]]
"""The keys of the lists of each type that are maps to server-side apply, and no keys for those that are sets."""


def data_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """Everything in the data file."""
    definitions: Mapping[str, Any] = document["definitions"]
    kinds: Types = {}
    found: Types = {}
    of_kinds: dict[str, str] = {}
    served: set[str] = set()
    wanted: list[str] = [f"{_META}ObjectMeta"]
    code = partial(_code, definitions, wanted)
    for full_name, definition in definitions.items():
        for kind in definition.get("x-kubernetes-group-version-kind", ()):
            row = BUILT_IN_KINDS.get((kind["group"], kind["kind"]))
            name = "/".join(filter(None, (kind["group"], kind["version"], kind["kind"])))
            if row is not None:
                served.add(name)
            if row is not None and row.selectable and kind["version"].removeprefix("v").isdigit():
                parts = definition["properties"].items()
                kinds[name] = {field: code(schema) for field, schema in parts if field not in _OF_EVERY_KIND}
                of_kinds[full_name] = name
    while wanted:
        if (name := wanted.pop()) not in found:
            found[name] = {}
            found[name] |= {
                field: "mapping" if field == "status" and "$ref" in schema else code(schema)
                for field, schema in definitions[name]["properties"].items()
            }
    names = _short_names(found)
    every = kinds | {names[name]: fields for name, fields in found.items()}
    types = {name: {f: _renamed(code, names) for f, code in fields.items()} for name, fields in every.items()}
    return {"fields": types, "lists": _lists(definitions, names | of_kinds), "served": sorted(served)}


def _lists(definitions: Mapping[str, Any], names: Mapping[str, str]) -> Lists:
    lists: Lists = {}
    for full_name, name in names.items():
        for field, schema in definitions[full_name]["properties"].items():
            if schema.get("x-kubernetes-list-type") in ("map", "set"):
                lists.setdefault(name, {})[field] = schema.get("x-kubernetes-list-map-keys", [])
    return lists


def _code(definitions: Mapping[str, Any], wanted: list[str], schema: Mapping[str, Any]) -> str:
    """The type of a field; the types that it refers to are added to `wanted`."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name in _WRITTEN_OTHERWISE:
            wanted.extend([f"{_SCHEMAS}JSONSchemaProps"] if _WRITTEN_OTHERWISE[name].startswith("?") else [])
            return _WRITTEN_OTHERWISE[name]
        if "properties" not in definitions[name]:
            return "mapping" if definitions[name].get("type") == "object" else "any"
        wanted.append(name)
        return str(name)
    code = partial(_code, definitions, wanted)
    match schema["type"]:
        case "array":
            return f"[{code(schema['items'])}"
        case "object":
            return f"{{{code(schema['additionalProperties'])}" if "additionalProperties" in schema else "mapping"
        case "string":
            return "base64" if schema.get("format") == "byte" else "string"
        case "integer":
            return str(schema["format"])
        case other:
            return _SCALARS[other]


def _short_names(found: Types) -> dict[str, str]:
    """Names without their package where only one type has them."""
    count = Counter(name.rpartition(".")[2] for name in found)
    return {name: ".".join(name.split(".")[-1 if count[name.rpartition(".")[2]] == 1 else -3 :]) for name in found}


def _renamed(code: str, names: Mapping[str, str]) -> str:
    bare = code.lstrip("[{?")
    return code[: len(code) - len(bare)] + names.get(bare, bare)


def text_of(data: Mapping[str, Any]) -> str:
    """The text of the data file: a type on each line."""
    parts = []
    for name, part in data.items():
        if isinstance(part, dict):
            rows = [f"{json.dumps(key)}: {json.dumps(value, sort_keys=True)}" for key, value in sorted(part.items())]
            parts.append(f"{json.dumps(name)}: {{\n" + ",\n".join(rows) + "\n}")
        else:
            parts.append(f"{json.dumps(name)}: [\n" + ",\n".join(map(json.dumps, part)) + "\n]")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main() -> None:
    """Write the data file."""
    document = json.loads(Path(sys.argv[1]).read_text())
    Path(kind_fields.__file__).with_name("data").joinpath("kind_fields.json").write_text(text_of(data_of(document)))


if __name__ == "__main__":
    main()
