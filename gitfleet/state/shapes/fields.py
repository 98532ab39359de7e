"""What the files of the state branch share."""

from __future__ import annotations

from typing import Any, Final

from gitfleet.api import InvalidContent
from gitfleet.api.objects import JsonObject
from gitfleet.formats.yaml_reader import read_documents
from gitfleet.state.texts import StateText

LATEST_LABEL: Final = "kubernetes-fleet.io/is-latest-snapshot"
OURS: Final = "gitfleet"
"""The part of `status` that holds what KubeFleet has no field for."""


def present(**fields: Any) -> dict[str, Any]:
    """The fields that are not None and not empty."""
    return {name: value for name, value in fields.items() if value is not None and value not in ("", [], {})}


def document(content: bytes) -> JsonObject:
    """The one mapping that a file holds. UnreadableText or InvalidContent."""
    documents = read_documents(content)
    if len(documents) != 1:
        raise InvalidContent(StateText.MUST_HOLD_ONE_DOCUMENT_HOLDS(count=len(documents)))
    return mapping(documents[0])


def mapping(value: Any) -> JsonObject:
    """The very value; InvalidContent where it is no mapping."""
    if not isinstance(value, dict):
        raise InvalidContent(StateText.MUST_HOLD_MAPPING())
    return value
