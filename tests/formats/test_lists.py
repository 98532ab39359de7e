"""A List is its items: each is a document of its own, with its line, and what stands beside the List is as it was."""

from __future__ import annotations

import json

import pytest

from gitfleet.formats.kinds import BUILT_IN_KINDS
from gitfleet.formats.texts import FormatsText
from gitfleet.formats.yaml_reader import Document, decode_parsed, encode_parsed, is_list_kind, lines_of, parse_documents

LIST = """\
apiVersion: v1
kind: List
items:
- kind: A
  deep: {of: a}
- kind: B
---
kind: C
"""


def test_items_come_behind_the_documents_with_their_lines() -> None:
    parsed = parse_documents(LIST.encode(), max_bytes=1 << 20)
    assert parsed.faults == ()
    assert parsed.documents == (
        Document(1, 8, {"kind": "C"}),
        Document(2, 4, {"kind": "A", "deep": {"of": "a"}}),
        Document(3, 6, {"kind": "B"}),
    )
    assert lines_of(LIST.encode(), [(2, ("deep", "of")), (3, ("kind",)), (1, ("kind",)), (9, ())]) == [5, 6, 8, 1]
    assert decode_parsed(encode_parsed(parsed)) == parsed


def test_a_list_in_json() -> None:
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [{"kind": "A"}, {"kind": "B"}]}, indent=1)
    parsed = parse_documents(text.encode(), max_bytes=1 << 20)
    assert [(d.index, d.line, d.value) for d in parsed.documents] == [(1, 5, {"kind": "A"}), (2, 8, {"kind": "B"})]


def test_a_list_of_a_built_in_kind() -> None:
    """An API server's own lists leave the type out of their items."""
    text = "apiVersion: v1\nkind: ConfigMapList\nitems:\n- data: {a: b}\n- {apiVersion: v1, kind: Secret}\n"
    parsed = parse_documents(text.encode(), max_bytes=1 << 20)
    assert parsed.documents == (
        Document(1, 4, {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}}),
        Document(2, 5, {"apiVersion": "v1", "kind": "Secret"}),
    )
    assert lines_of(text.encode(), [(1, ("data", "a")), (2, ("kind",))]) == [4, 5]


@pytest.mark.parametrize(
    ("api_version", "kind", "is_one"),
    [
        *((f"{row.group}/v1".lstrip("/"), f"{row.kind}List", True) for row in BUILT_IN_KINDS.values()),
        ("v1", "List", True),
        ("apps/v1", "List", False),
        ("v1", "DeploymentList", False),
        ("x.io/v1", "RoleList", False),
        (1, "List", False),
        ("v1", None, False),
    ],
)
def test_which_kinds_are_lists(api_version: object, kind: object, is_one: bool) -> None:
    assert is_list_kind(api_version, kind) is is_one


@pytest.mark.parametrize(("items", "line"), [("", 2), ("items:\n", 4), ("items: null\n", 4)])
def test_a_list_whose_items_are_missing_cannot_be_read(items: str, line: int) -> None:
    """What the file had is not gone because of it."""
    text = f"---\napiVersion: v1\nkind: List\n{items}---\n{LIST}"
    parsed = parse_documents(text.encode(), max_bytes=1 << 20)
    assert [document.value["kind"] for document in parsed.documents] == ["C", "A", "B"]
    assert parsed.faults == ((line, FormatsText.LIST_NO_ITEMS()),)
    assert decode_parsed(encode_parsed(parsed)) == parsed


def test_a_list_has_no_more_items_than_a_file_has_documents() -> None:
    text = "apiVersion: v1\nkind: List\nitems:\n" + "- 1\n" * 10_001
    parsed = parse_documents(text.encode(), max_bytes=1 << 20)
    assert parsed.documents == ()
    assert parsed.faults == ((1, FormatsText.HOLDS_MORE_DOCUMENTS(max_documents="10000")),)
