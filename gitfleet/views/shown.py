"""Objects as people see them: without the values of Secrets, those in an override's patches included.

`get -o yaml`, `get -o json` and `describe` show this; the files that they come from hold the values, as the repo does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gitfleet.api.objects import JsonObject, JsonValue
from gitfleet.formats.masking import MASK
from gitfleet.formats.secret_objects import masked_object

_SELECTORS: Final = ("resourceSelectors", "clusterResourceSelectors")
_CARRIERS: Final = frozenset(("Secret", "ResourceEnvelope", "ClusterResourceEnvelope"))
_SECRET_PATHS: Final = ("/data", "/stringData")
_LABELS: Final = "/metadata/labels"


def shown_object(body: JsonObject) -> JsonObject:
    """The object with every value of a Secret masked.

    A patch's value counts as one where its override selects a Secret or an envelope, and where it goes into `data` or
    `stringData` of whatever lies in a namespace; not where it goes into labels.
    """
    masked = masked_object(body)
    spec = masked.get("spec")
    if "Override" not in str(body.get("kind")) or not isinstance(spec, Mapping):
        return masked
    kinds = _selected_kinds(spec)
    if not kinds & (_CARRIERS | {"Namespace"}):
        return masked
    return {**masked, "spec": _masked_patches(spec, everywhere=bool(kinds & _CARRIERS))}


def _selected_kinds(value: JsonValue) -> set[str]:
    """The kinds of an override's selectors, at whatever depth: a snapshot holds the override in its own spec."""
    kinds: set[str] = set()
    if isinstance(value, Mapping):
        for key, part in value.items():
            if key in _SELECTORS and isinstance(part, list):
                kinds |= {str(selector.get("kind")) for selector in part if isinstance(selector, Mapping)}
            else:
                kinds |= _selected_kinds(part)
    return kinds


def _masked_patches(value: JsonValue, *, everywhere: bool) -> Any:
    match value:
        case Mapping() if "op" in value and "path" in value:
            path = str(value["path"])
            secret = not path.startswith(_LABELS) if everywhere else path.startswith(_SECRET_PATHS)
            return {**value, "value": MASK} if secret and "value" in value else value
        case Mapping():
            return {key: _masked_patches(part, everywhere=everywhere) for key, part in value.items()}
        case list():
            return [_masked_patches(item, everywhere=everywhere) for item in value]
        case _:
            return value
