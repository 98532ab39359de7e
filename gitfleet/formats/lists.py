"""`kind: List`, as kubectl prints several objects: each item is read as if it were a document of its own (D35)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from gitfleet.formats.json_values import JsonValue
from gitfleet.formats.sops import is_sops_encrypted
from gitfleet.formats.texts import FormatsText

NO_ITEMS: Final = FormatsText.LIST_NO_ITEMS()


def is_list(value: JsonValue) -> bool:
    """Whether a document is a v1 List with its items; one that SOPS encrypted stays whole: its items do not say so."""
    return (
        isinstance(value, dict)
        and not is_sops_encrypted(value)
        and (value.get("apiVersion"), value.get("kind")) == ("v1", "List")
        and isinstance(value.get("items"), list | None)
    )


def lacks_items(value: JsonValue) -> bool:
    """Whether a document is a List that does not say what is in it: an export that failed looks like that."""
    return isinstance(value, dict) and is_list(value) and value.get("items") is None


def items_of(documents: Iterable[tuple[int, JsonValue]]) -> Iterator[tuple[int, int, int, JsonValue]]:
    """(index of the item, index of its list, place in it, item) of all lists among (index, value) of one file.

    Items are numbered behind all documents, so that whatever else stands in the file keeps its index.
    """
    found = list(documents)
    number = max((index for index, _ in found), default=-1) + 1
    for index, value in found:
        if isinstance(value, dict) and is_list(value):
            for place, item in enumerate(value.get("items") or ()):
                yield number, index, place, item
                number += 1
