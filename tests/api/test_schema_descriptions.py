"""The JSON Schemas tell people what each field is for, in the words of the file and not of the code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest

from gitfleet.api.kinds import KINDS, Place

DESCRIBED: Final = sorted({kind.name for kind in KINDS.values() if kind.place is not Place.STATE_BRANCH})
FOR_DEVELOPERS: Final = re.compile(r"\w_\w|§|\.md|\bNone\b|[Dd]ecision D?\d|the seed")
TOLERATED: Final = "selectionScope"
"""Of an override's objects: a hub fills it in, and nobody writes it."""
SCHEMAS: Final = {kind.name: kind.schema() for kind in KINDS.values() if kind.name in DESCRIBED}


def fields_of(schema: Mapping[str, Any], named: Mapping[str, Any], here: str) -> Iterator[tuple[str, str]]:
    """Every field below a schema that holds a value or a declaration of its own, with its description."""
    whole = {**named.get(str(schema.get("$ref")).rpartition("/")[2], {}), **schema}
    for name, field in whole.get("properties", {}).items():
        if "properties" not in field:
            yield f"{here}.{name}", field.get("description", "")
        yield from fields_of(field.get("items", field), named, f"{here}.{name}")


@pytest.mark.parametrize("kind", DESCRIBED)
def test_every_field_that_people_write_is_described(kind: str) -> None:
    spec = SCHEMAS[kind]["properties"]["spec"]

    found = dict(fields_of(spec, SCHEMAS[kind]["$defs"], "spec"))

    silent = [field for field, text in found.items() if not text and not field.endswith(TOLERATED)]
    assert len(found) > len(silent) == 0, silent


@pytest.mark.parametrize("kind", DESCRIBED)
def test_no_description_is_for_developers(kind: str) -> None:
    parts = {kind: SCHEMAS[kind], **SCHEMAS[kind]["$defs"]}
    texts = {name: part["description"] for name, part in parts.items()} | dict(
        fields_of(SCHEMAS[kind], SCHEMAS[kind]["$defs"], kind)
    )

    assert {name: text for name, text in texts.items() if FOR_DEVELOPERS.search(text)} == {}
