"""What holds for every kind that people write: closed, strict, and never an exception."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitfleet.api import Location, read, read_state, write
from gitfleet.api.kinds import Kind, watched_kinds
from gitfleet.api.texts import ApiText
from gitfleet.formats.yaml_reader import parse_documents

KINDS = {(kind.group, kind.name): kind for kind in watched_kinds()}
SEEDS = [
    path
    for folder in ("repo-layout", "examples", "tests/data", "tests/desired")
    for path in sorted((Path(__file__).parents[2] / folder).rglob("*.yaml"))
]


def sound_bodies() -> Iterator[tuple[Kind, Any]]:
    """Every object of ours in the repository's own files that can be read."""
    for path in SEEDS:
        for document in parse_documents(path.read_bytes(), max_bytes=1_000_000).documents:
            body = document.value
            if not isinstance(body, dict) or not isinstance(body.get("apiVersion"), str):
                continue
            kind = KINDS.get((body["apiVersion"].rpartition("/")[0], str(body.get("kind"))))
            if kind is not None and not read(kind.declaration, body)[1]:
                yield kind, body


BODIES = list(sound_bodies())
BY_KIND = {kind.name: (kind, body) for kind, body in BODIES}
EACH = pytest.mark.parametrize("name", sorted(BY_KIND))


def places_of(body: Any, here: Location = ()) -> Iterator[Location]:
    """Every place of a body."""
    yield here
    items = body.items() if isinstance(body, dict) else enumerate(body) if isinstance(body, list) else ()
    for step, item in items:
        yield from places_of(item, (*here, step))


def with_value(body: Any, place: Location, value: Any) -> Any:
    """A copy of a body with another value at a place."""
    if not place:
        return value
    changed = deepcopy(body)
    here = changed
    for step in place[:-1]:
        here = here[step]
    here[place[-1]] = value
    return changed


def at(body: Any, place: Location) -> Any:
    for step in place:
        body = body[step]
    return body


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_an_empty_mapping_says_what_is_missing(kind: Kind) -> None:
    value, breaks = read(kind.declaration, {})
    assert value is None
    assert {(("apiVersion",), ApiText.REQUIRED_ADD()), (("kind",), ApiText.REQUIRED_ADD())} <= set(breaks)


@pytest.mark.parametrize("index", range(len(BODIES)))
def test_what_is_written_reads_back_equal(index: int) -> None:
    kind, body = BODIES[index]
    value, _ = read(kind.declaration, body)
    assert value is not None
    assert read_state(kind.declaration, write(value)) == value


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(BODIES), st.data(), json_values)
def test_any_value_at_any_place_is_an_answer(found: tuple[Kind, Any], data: st.DataObject, value: Any) -> None:
    kind, body = found
    place = data.draw(st.sampled_from(list(places_of(body))))
    read_value, breaks = read(kind.declaration, with_value(body, place, value))
    assert (read_value is None) == bool(breaks)
