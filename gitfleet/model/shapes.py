"""The shape of a live object under a manifest: what the server holds at the manifest's own fields, and nothing else.

Servers fill in defaults, rewrite quantities and move `stringData` into `data`, so a live object never equals its
manifest. What can be compared is one observation with the next: the shape is recorded right after an apply, and a later
observation with another shape means that somebody changed a field of ours. Fields nobody wrote in the manifest never
count.

How a list is compared follows the server's own bookkeeping (`metadata.managedFields`, the fields gitfleet applied):
`k:` entries make it a map by those keys, `v:` entries a set, anything else one whole value. Where there is no such
bookkeeping, the lists of the built-in workload kinds are known by their field names. Source: server-side apply
(Kubernetes documentation, "Merge strategy"; structured-merge-diff FieldsV1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from gitfleet.api.objects import JsonObject, JsonValue
from gitfleet.formats.canonical_json import digest_of, parse_json

FIELD_MANAGER: Final = "gitfleet"
"""The name under which gitfleet applies. It is never changed: ownership on every cluster hangs on it."""

OwnedFields = Mapping[str, Any] | None
"""A node of the FieldsV1 tree of gitfleet's own manager; None where the server did not report it."""

_LIST_KEYS: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "containers": (("name",),),
    "initContainers": (("name",),),
    "ephemeralContainers": (("name",),),
    "env": (("name",),),
    "volumes": (("name",),),
    "imagePullSecrets": (("name",),),
    "webhooks": (("name",),),
    "resourceClaims": (("name",),),
    "schedulingGates": (("name",),),
    "volumeMounts": (("mountPath",),),
    "volumeDevices": (("devicePath",),),
    "hostAliases": (("ip",),),
    "topologySpreadConstraints": (("topologyKey", "whenUnsatisfiable"),),
    "ports": (("containerPort", "protocol"), ("port", "protocol")),
}
_MAPPING: Final = (dict, Mapping)
"""Checked in this order: isinstance of an abstract class is slow."""
_METADATA_PARTS: Final = ("labels", "annotations")
_UNSHAPED: Final = frozenset({"apiVersion", "kind", "metadata", "status"})


def shape_digest(manifest_body: JsonObject, live_body: JsonObject) -> str:
    """SHA-256 hex of the live object's values at the manifest's own fields.

    Maps count by the manifest's keys, lists as the module's docstring says; identity, `status` and all metadata but
    labels and annotations never count. Two observations of an object nobody touched give the same digest.
    """
    owned = owned_fields(live_body)
    wanted, live = unfold(manifest_body), live_body
    shape: dict[str, JsonValue] = {}
    for part, want in wanted.items():
        if part not in _UNSHAPED and part in live:
            shape[part] = _shape(part, want, live[part], child_fields(owned, part))
    want_meta, live_meta = wanted.get("metadata") or {}, live.get("metadata") or {}
    meta_owned = child_fields(owned, "metadata")
    for part in _METADATA_PARTS:
        if want_meta.get(part):
            key = f"metadata.{part}"
            shape[key] = _shape(part, want_meta[part], live_meta.get(part) or {}, child_fields(meta_owned, part))
    return digest_of(shape)


def owned_fields(live_body: JsonObject) -> OwnedFields:
    """The tree of fields that gitfleet applied, as the server remembers it; None when it names no such manager."""
    for entry in (live_body.get("metadata") or {}).get("managedFields") or ():
        if is_own_apply(entry):
            fields = entry.get("fieldsV1")
            return fields if isinstance(fields, Mapping) else None
    return None


def is_own_apply(entry: JsonObject) -> bool:
    """Whether a managedFields entry stands for an apply by gitfleet (to the object itself, not to a subresource)."""
    return entry.get("manager") == FIELD_MANAGER and entry.get("operation") == "Apply" and not entry.get("subresource")


def child_fields(owned: OwnedFields, name: str) -> OwnedFields:
    """The node below a field."""
    child = owned.get(f"f:{name}") if owned else None
    return child if isinstance(child, _MAPPING) else None


def unfold(body: JsonObject) -> JsonObject:
    """A manifest as the server stores it: a Secret's `stringData` stands under `data` (values then differ in encoding,
    which `shape_digest` does not see and whoever compares values has to undo)."""
    if body.get("kind") != "Secret" or not isinstance(body.get("stringData"), Mapping) or "/" in _version(body):
        return body
    data = {**(body.get("data") or {}), **body["stringData"]}
    return {**{k: v for k, v in body.items() if k != "stringData"}, "data": data}


def list_keys(field: str, wanted: Sequence[JsonValue], owned: OwnedFields) -> tuple[str, ...] | None:
    """By which keys the items of a list are identified; None when the list is one whole value (or a set)."""
    if not wanted or not all(isinstance(item, Mapping) for item in wanted):
        return None
    if owned is not None:
        first = next((name for name in owned if name.startswith("k:")), None)
        return tuple(name for name, _ in _named(first)) if first is not None else None
    for keys in _LIST_KEYS.get(field, ()):
        if all(keys[0] in item for item in wanted):
            return keys
    return None


def match_item(item: JsonObject, candidates: Sequence[JsonValue], keys: tuple[str, ...]) -> JsonObject | None:
    """The live item that an item of the manifest names; a key the manifest leaves to its default matches any value."""
    for candidate in candidates:
        if isinstance(candidate, Mapping) and all(k not in item or candidate.get(k) == item[k] for k in keys):
            return candidate
    return None


def _shape(field: str, want: JsonValue, have: JsonValue, owned: OwnedFields) -> JsonValue:
    if isinstance(want, _MAPPING) and isinstance(have, _MAPPING):
        return {
            # Most values are texts, and a text is its own shape.
            k: have[k] if isinstance(v, str) else _shape(k, v, have[k], child_fields(owned, k))
            for k, v in want.items()
            if k in have
        }
    if not isinstance(want, list) or not isinstance(have, list):
        return have
    keys = list_keys(field, want, owned)
    if keys is not None:
        return [_shape_item(item, have, keys, owned) for item in want]
    if owned is not None and any(name.startswith("v:") for name in owned):
        return [item for item in want if item in have]
    return have


def _shape_item(item: JsonObject, have: Sequence[JsonValue], keys: tuple[str, ...], owned: OwnedFields) -> JsonValue:
    found = match_item(item, have, keys)
    return None if found is None else _shape("", item, found, item_fields(owned, found, keys))


def item_fields(owned: OwnedFields, found: JsonObject, keys: tuple[str, ...]) -> OwnedFields:
    """The node below one item of a list that is a map."""
    if owned is None:
        return None
    for name, child in owned.items():
        if name.startswith("k:") and isinstance(child, Mapping):
            named = _named(name)
            if len(named) == len(keys) and all(found.get(key) == value for key, value in named):
                return child
    return None


@lru_cache(maxsize=4096)
def _named(name: str) -> tuple[tuple[str, JsonValue], ...]:
    """The keys and values of a FieldsV1 path element such as `k:{"name":"web"}`."""
    return tuple(parse_json(name[2:]).items())


def _version(body: JsonObject) -> str:
    return str(body.get("apiVersion") or "")
