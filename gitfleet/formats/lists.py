"""`kind: List`, and the lists of built-in kinds (`ConfigMapList`): each item is read as if it were a document of its
own (D35, D45)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from gitfleet.formats.json_values import JsonObject, JsonValue
from gitfleet.formats.kinds import BUILT_IN_KINDS
from gitfleet.formats.sops import is_sops_encrypted
from gitfleet.formats.texts import FormatsText

NO_ITEMS: Final = FormatsText.LIST_NO_ITEMS()


def is_list(value: JsonValue) -> bool:
    """Whether a document is a list with its items; one that SOPS encrypted stays whole: its items do not say so."""
    return (
        isinstance(value, dict)
        and not is_sops_encrypted(value)
        and is_list_kind(value.get("apiVersion"), value.get("kind"))
        and isinstance(value.get("items"), list | None)
    )


def is_list_kind(api_version: JsonValue, kind: JsonValue) -> bool:
    """Whether it is the v1 List, or the list of a built-in kind."""
    if not isinstance(api_version, str) or not isinstance(kind, str) or not kind.endswith("List"):
        return False
    row = BUILT_IN_KINDS.get((api_version.rpartition("/")[0], kind.removesuffix("List")))
    return (api_version, kind) == ("v1", "List") or row is not None


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
                yield number, index, place, _typed(item, value)
                number += 1


def _typed(item: JsonValue, of: JsonObject) -> JsonValue:
    """The item with the type that its list names: an API server's own lists leave it out of their items."""
    kind = str(of["kind"]).removesuffix("List")
    if not kind or not isinstance(item, dict) or "apiVersion" in item or "kind" in item:
        return item
    return {"apiVersion": of["apiVersion"], "kind": kind, **item}
