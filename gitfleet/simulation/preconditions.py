"""What a write asks of the object that is there before anything is written."""

from __future__ import annotations

from gitfleet.api.objects import JsonObject, ObjectKey
from gitfleet.simulation.refusals import conflict, invalid


def check_preconditions(key: ObjectKey, resource: str, there: JsonObject | None, metadata: JsonObject) -> None:
    """Refused, as a server refuses, where the object of the metadata `there` is another one or in another version than
    `metadata` names; `resource` is the plural name of its kind."""
    uid, version = metadata.get("uid"), metadata.get("resourceVersion")
    why = ""
    if uid and there is None:
        why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
    elif uid and there is not None and there["uid"] != uid:
        raise invalid(key, "metadata.uid", f'"{uid}": field is immutable')
    elif version and there is not None and there["resourceVersion"] != version:
        why = "the object has been modified; please apply your changes to the latest version and try again"
    if why:
        raise conflict(key.group, resource, key.name, why)
