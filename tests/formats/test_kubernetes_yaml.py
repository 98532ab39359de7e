"""What sigs.k8s.io/yaml makes of a file, as a table; each row was taken from the real package."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.formats.texts import FormatsText
from gitfleet.formats.yaml_reader import decode_parsed, parse_documents

ROOM = 1 << 20


def value_of(text: str) -> Any:
    """The value of a file with one sound document."""
    parsed = parse_documents(text.encode(), max_bytes=ROOM)
    assert parsed.faults == ()
    (document,) = parsed.documents
    return document.value


def faults_of(text: str | bytes) -> list[str]:
    """`line: sentence` of each fault of a file."""
    content = text.encode() if isinstance(text, str) else text
    return [f"{line}: {message}" for line, message in parse_documents(content, max_bytes=ROOM).faults]


@pytest.mark.parametrize(
    ("scalar", "value"),
    [
        ("y", True),
        ("yes", True),
        ("tRUE", "tRUE"),
        ("~", None),
        ("", None),
        ("0777", 511),
        ("0o777", 511),
        ("08", 8),
        ("0b101", 5),
        ("+12", 12),
        ("1_000", 1000),
        ("1.0", 1),
        (".5", 0.5),
        ("2001-01-01", "2001-01-01"),
        ("12:30:45", "12:30:45"),
        ("9223372036854775807", 2**63 - 1),
        ("18446744073709551615", 2**64 - 1),
        ("18446744073709551616", 1.8446744073709552e19),
        ("0x1" + "0" * 16, "0x1" + "0" * 16),
        ("1e400", "1e400"),
        ("=", "="),
        (".inF", ".inF"),
        ("'y'", "y"),
        ("!foo x", "x"),
        ("!!str 1", "1"),
        ('!!int "5"', 5),
        ("!!binary aGVsbG8=", "hello"),
        ("! 5", 5),
    ],
)
def test_scalars(scalar: str, value: object) -> None:
    got = value_of(f"a: {scalar}")["a"]
    assert (got, type(got)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("y: 1", {"true": 1}),
        ("1: a", {"1": "a"}),
        ("2001-01-01: a", {"2001-01-01": "a"}),
        ("a: &x {k: 1}\nb: *x", {"a": {"k": 1}, "b": {"k": 1}}),
        ("a: &x {k: 1, l: 2}\nb:\n  l: 3\n  <<: *x", {"a": {"k": 1, "l": 2}, "b": {"l": 3, "k": 1}}),
        (
            "a: &x {k: 1}\nb: &y {k: 2, l: 2}\nc: {<<: [*x, *y]}",
            {"a": {"k": 1}, "b": {"k": 2, "l": 2}, "c": {"k": 1, "l": 2}},
        ),
        ('a: {"<<": 1}', {"a": {"<<": 1}}),
        ("\ufeffa: 1", {"a": 1}),
        ("%YAML 1.1\n---\na: 1", {"a": 1}),
        ("a: >-\n  x\n  y\n", {"a": "x y"}),
    ],
)
def test_documents(text: str, value: object) -> None:
    assert value_of(text) == value


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("a: 1\nb: .inf", [("2: " + FormatsText.INFINITY_NOT_NUMBER_CANNOT_WRITTEN())]),
        ("~: 1", [("1: " + FormatsText.KEY_EMPTY_NULL())]),
        ("[a]: 1", [("1: " + FormatsText.LIST_MAPPING_STANDS_KEY())]),
        ("a: &a [*a]", [("1: " + FormatsText.ANCHOR_CONTAINS_ALIAS_ITSELF())]),
        (
            "a: 1\nb: 1\na: 2\nb: 2",
            [
                ("3: " + FormatsText.KEY_GIVEN_TWICE_ONE_MAPPING(key="a")),
                ("4: " + FormatsText.KEY_GIVEN_TWICE_ONE_MAPPING(key="b")),
            ],
        ),
        ("%YAML 1.2\n---\na: 1", [("1: " + FormatsText.YAML_DIRECTIVES_OTHER_YAML_NOT())]),
        ("a: !!int x", [("1: " + FormatsText.VALUE_NOT_TAG_SAYS(kind="int"))]),
        ("a: {<<: 1}", [("1: " + FormatsText.MERGES_ONLY_MAPPINGS())]),
        ("a: *x", [("1: " + FormatsText.YAML_CANNOT_READ_FOUND_UNDEFINED())]),
        (
            "a:\n\t- 1",
            [("2: " + FormatsText.YAML_CANNOT_READ(problem="", where="found character that cannot start any token"))],
        ),
        (b"a: 1\nb: \xe9", [("2: " + FormatsText.NOT_UTF_TEXT())]),
        (b"\xff\xfea\x00", [("1: " + FormatsText.UTF_NOT_UTF())]),
        ("[" * 40_000, [("1: " + FormatsText.NESTED_MORE_LEVELS_DEEP(max_depth="200"))]),
        (
            "? " * 40_000,
            [
                ("1: " + FormatsText.LIST_MAPPING_STANDS_KEY()),
                ("1: " + FormatsText.NESTED_MORE_LEVELS_DEEP(max_depth="200")),
            ],
        ),
        (
            "\n".join(" " * depth + "a:" for depth in range(1000)),
            [("201: " + FormatsText.NESTED_MORE_LEVELS_DEEP(max_depth="200"))],
        ),
    ],
)
def test_faults(text: str | bytes, faults: list[str]) -> None:
    assert sorted(faults_of(text)) == sorted(faults)


def test_of_very_many_faults_the_first_are_kept() -> None:
    parsed = parse_documents(b"a: 1\n" * 5000 + b"---\nb: 1\n", max_bytes=1 << 20)
    assert len(parsed.faults) == 1001
    assert parsed.faults[0] == (1, FormatsText.THINGS_CANNOT_READ(count="4999", most_faults="1000"))
    assert [document.value for document in parsed.documents] == [{"b": 1}]


def test_an_alias_bomb_is_stopped() -> None:
    layers = "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]\n" for n in range(1, 10))
    assert faults_of(f"l0: &l0 [lol]\n{layers}") == [("6: " + FormatsText.ALIASES_EXPAND_FAR_MORE_FILE())]


def test_a_chain_of_aliases_is_as_deep_as_it_is_long() -> None:
    chain = "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 3000))
    assert faults_of(f"a0: &a0 [x]\n{chain}") == [("200: " + FormatsText.NESTED_MORE_LEVELS_DEEP(max_depth="200"))]


def test_a_file_may_be_only_so_long() -> None:
    parsed = parse_documents(b"a: 1\n" * 10, max_bytes=20)
    assert parsed.faults == ((1, FormatsText.BYTES_MORE_READ(count="50", limit="20")),)
    assert parsed.documents == ()


def test_a_stream_may_have_only_so_many_documents() -> None:
    for text in ("---\n" * 10_001, "---\na: [\n" * 10_001):
        assert faults_of(text) == [("1: " + FormatsText.HOLDS_MORE_DOCUMENTS(max_documents="10000"))]


def test_copies_of_an_alias_share_nothing() -> None:
    value = value_of("a: &x {k: []}\nb: *x")
    value["a"]["k"].append(1)
    assert value["b"] == {"k": []}


@pytest.mark.parametrize("damaged", [b"", b"{}", b'{"version": 0, "documents": [], "faults": []}', b"[1]", b"\xff"])
def test_a_damaged_or_foreign_entry_is_no_entry(damaged: bytes) -> None:
    assert decode_parsed(damaged) is None
