"""What the OpenAPI document of Kubernetes 1.36 says of the built-in kinds: the types of their fields, as an API server
decodes them, how server-side apply merges their lists, and which versions are served.

The data are in kind_fields.json, made by tests/formats/kind_fields.py. They have the stable versions of what placements
may select, since other versions change from release to release, without the `apiVersion`, `kind`, `metadata` and
`status` of the kinds themselves. A type is a kind (`group/version/kind`) or one that others consist of:

string  boolean  int32  int64  number  quantity  int-or-string  base64    scalars
[T  {T                                                                    lists of T, mappings from names to T
mapping  any                                                              a mapping of anything, anything
?T                                                                        T where it is a mapping, anything otherwise
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pkgutil import get_data
from typing import Any, Final

import orjson

RELEASE: Final = "1.36"
"""The release of Kubernetes that the data are of."""


@cache
def _data() -> Mapping[str, Any]:
    data: dict[str, Any] = orjson.loads(get_data(__package__, "kind_fields.json") or b"{}")
    return data


def field_types() -> Mapping[str, Mapping[str, str]]:
    """The types of the fields of each kind (`group/version/kind`, the core group without its slash) and type."""
    types: Mapping[str, Mapping[str, str]] = _data()["fields"]
    return types


def list_keys() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """By type and field, the lists that server-side apply merges: the keys of their items, none for sets of values."""
    lists: Mapping[str, Mapping[str, Sequence[str]]] = _data()["lists"]
    return lists


def keys_by_field() -> Mapping[str, tuple[tuple[str, ...], ...]]:
    """The keys of the lists of each field name, whatever the type that has it."""
    found: dict[str, set[tuple[str, ...]]] = {}
    for lists in list_keys().values():
        for field, keys in lists.items():
            found.setdefault(field, set()).update([tuple(keys)] if keys else [])
    return {field: tuple(sorted(keys)) for field, keys in found.items() if keys}


@cache
def served_kinds() -> frozenset[str]:
    """Every built-in kind (`group/version/kind`) that an API server of the release serves, if only when asked to."""
    return frozenset(_data()["served"])
