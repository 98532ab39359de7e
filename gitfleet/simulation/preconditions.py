"""What a write asks of the object that is there before anything is written."""

from __future__ import annotations

from gitfleet.api.objects import JsonObject, ObjectKey
from gitfleet.simulation import kinds
from gitfleet.simulation.bodies import Stored
from gitfleet.simulation.refusals import conflict, invalid


def check_preconditions(key: ObjectKey, kind: kinds.Kind, stored: Stored | None, metadata: JsonObject) -> None:
    """Refused, as a server refuses, where the object is another one or in another version than `metadata` names."""
    uid, version = metadata.get("uid"), metadata.get("resourceVersion")
    why = ""
    if uid and stored is None:
        why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
    elif uid and stored is not None and stored.live.uid != uid:
        raise invalid(key, "metadata.uid", f'"{uid}": field is immutable')
    elif version and stored is not None and stored.live.resource_version != version:
        why = "the object has been modified; please apply your changes to the latest version and try again"
    if why:
        raise conflict(key.group, kind.plural, key.name, why)
