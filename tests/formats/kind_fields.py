"""Makes the table of `gitfleet.formats.kind_fields` from the OpenAPI document of a Kubernetes release.

    python -m tests.formats.kind_fields swagger.json

The document is `api/openapi-spec/swagger.json` of k8s.io/kubernetes at the version of
tests/realparts/controlplane/go.mod (`go mod download -json k8s.io/kubernetes@VERSION` names the folder).
"""

from __future__ import annotations

import json
import sys
import textwrap
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


def types_of(document: Mapping[str, Any]) -> Types:
    """The types of built-in kinds (`apiVersion/kind`) and of what they consist of."""
    definitions: Mapping[str, Any] = document["definitions"]
    kinds: Types = {}
    found: Types = {}
    wanted: list[str] = []
    code = partial(_code, definitions, wanted)
    for definition in definitions.values():
        for kind in definition.get("x-kubernetes-group-version-kind", ()):
            row = BUILT_IN_KINDS.get((kind["group"], kind["kind"]))
            if row is not None and row.selectable and kind["version"].removeprefix("v").isdigit():
                parts = definition["properties"].items()
                name = "/".join(filter(None, (kind["group"], kind["version"], kind["kind"])))
                kinds[name] = {field: code(schema) for field, schema in parts if field not in _OF_EVERY_KIND}
    while wanted:
        if (name := wanted.pop()) not in found:
            found[name] = {}
            found[name] |= {
                field: "mapping" if field == "status" and "$ref" in schema else code(schema)
                for field, schema in definitions[name]["properties"].items()
            }
    return _shortened(kinds, found)


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


def _shortened(kinds: Types, found: Types) -> Types:
    """Names without their package where only one type has them."""
    count = Counter(name.rpartition(".")[2] for name in found)
    names = {name: ".".join(name.split(".")[-1 if count[name.rpartition(".")[2]] == 1 else -3 :]) for name in found}
    every = kinds | {names[name]: fields for name, fields in found.items()}
    return {name: {f: _renamed(code, names) for f, code in fields.items()} for name, fields in every.items()}


def _renamed(code: str, names: Mapping[str, str]) -> str:
    bare = code.lstrip("[{?")
    return code[: len(code) - len(bare)] + names.get(bare, bare)


def table_of(types: Types) -> str:
    """The text of the table."""
    rows: list[str] = []
    for name, fields in sorted(types.items()):
        by_code: dict[str, list[str]] = {}
        for field, code in sorted(fields.items()):
            by_code.setdefault(code, []).append(field)
        rows.append(f"{name}: " + "; ".join(f"{code} {' '.join(listed)}" for code, listed in sorted(by_code.items())))
    return textwrap.fill(" | ".join(rows), 120, break_long_words=False, break_on_hyphens=False)


def main() -> None:
    """Write the table into the module that has it."""
    module = Path(kind_fields.__file__)
    head, mark, _ = module.read_text().partition('_TABLE: Final = """\n')
    table = table_of(types_of(json.loads(Path(sys.argv[1]).read_text())))
    rest = module.read_text().partition('\n"""\n# The end of the table.\n')[2]
    module.write_text(f'{head}{mark}{table}\n"""\n# The end of the table.\n{rest}')


if __name__ == "__main__":
    main()
