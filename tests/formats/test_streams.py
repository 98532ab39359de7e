"""Streams of documents: a broken one does not hide the sound ones, and every field has its line."""

from __future__ import annotations

import pytest

from gitfleet.formats.texts import FormatsText
from gitfleet.formats.yaml_reader import line_of, parse_documents

BROKEN = """\
a: 1
---
# a comment
b: [
---
c: 3
---
---
d: x: y
---
e: 5
e: 6
---
f: 6
"""


def test_sound_documents_of_a_broken_stream_are_read() -> None:
    parsed = parse_documents(BROKEN.encode(), max_bytes=10_000)
    assert [(document.index, document.line, document.value) for document in parsed.documents] == [
        (0, 1, {"a": 1}),
        (2, 6, {"c": 3}),
        (6, 14, {"f": 6}),
    ]
    assert parsed.faults == (
        (
            4,
            FormatsText.YAML_CANNOT_READ(problem="", where="did not find expected node content"),
        ),
        (
            9,
            (FormatsText.YAML_CANNOT_READ(problem="", where="mapping values are not allowed in this context")),
        ),
        (12, FormatsText.KEY_GIVEN_TWICE_ONE_MAPPING(key="e")),
    )


def test_empty_documents_count_but_are_not_given() -> None:
    parsed = parse_documents(b"# nothing\n---\n---\na: 1\n---\n# still nothing\n---\nb: 2\n...\n", max_bytes=10_000)
    assert [(document.index, document.line) for document in parsed.documents] == [(1, 4), (3, 8)]
    assert parsed.faults == ()


def test_a_directive_refuses_its_own_document_alone() -> None:
    parsed = parse_documents(b"# all\n%YAML 9.9\n---\na: 1\n---\nb: 2\n", max_bytes=10_000)
    assert [(document.index, document.line, document.value) for document in parsed.documents] == [(1, 6, {"b": 2})]
    assert [line for line, _ in parsed.faults] == [2]


def test_any_number_of_blank_lines_is_read_at_once() -> None:
    parsed = parse_documents(b"\n" * 100_000 + b"a: 1\n---\nb: [\n", max_bytes=200_000)
    assert [document.line for document in parsed.documents] == [100_001]
    assert [line for line, _ in parsed.faults] == [100_003]


CONTENT = b"""\
a: 1
---
x:
  w:
  - p: 1
  - q: 2
    "r s": 3
  1: one
z: {k: [1,
  2]}
"""


@pytest.mark.parametrize(
    ("location", "line"),
    [
        ((), 3),
        (("x", "w", 0), 5),
        (("x", "1"), 8),
        (("z", "k", 1), 10),
        (("x", "w", 1, "missing"), 6),
        (("x", "w", 7), 4),
        (("x", "w", "not an index"), 4),
    ],
)
def test_lines_of_fields(location: tuple[str | int, ...], line: int) -> None:
    assert line_of(CONTENT, 1, location) == line


def test_json_is_read_as_json() -> None:
    content = (
        b'{\n\t"a": "\\ud83d\\ude00\\/",\n\t"b": {"c": 1.0, "d": 1e2, "e": 12345678901234567890123}\n}\n{"f": null}\n'
    )
    parsed = parse_documents(content, max_bytes=10_000)
    assert parsed.faults == ()
    assert [(document.index, document.line, document.value) for document in parsed.documents] == [
        (0, 1, {"a": "\U0001f600/", "b": {"c": 1, "d": 100, "e": 1.2345678901234568e22}}),
        (1, 5, {"f": None}),
    ]
    assert line_of(content[:-12], 0, ("b", "d")) == 3


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b'{\n "a": 1,\n\t"a": 2}', (1, "")),
        (b'{"a": NaN}', (1, FormatsText.INFINITY_NOT_NUMBER_CANNOT_WRITTEN())),
        (b'{"a": "\\ud83d"}', (1, FormatsText.U_ESCAPE_NAMES_HALF_SURROGATE())),
        (b'{"a": ' + b"[" * 300 + b"]" * 300 + b"}", (1, FormatsText.NESTED_MORE_LEVELS_DEEP(max_depth="200"))),
    ],
)
def test_faults_of_json(content: bytes, fault: tuple[int, str]) -> None:
    parsed = parse_documents(content, max_bytes=1_000_000)
    assert parsed.documents == ()
    assert len(parsed.faults) == 1
    assert not fault[1] or parsed.faults[0] == fault
