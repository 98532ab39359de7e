"""What an API server refuses, in its own words: HTTP status, reason, message and details of a `Status` body.

Source: apimachinery `pkg/api/errors`, and apiserver `fieldmanager/conflict.go` for conflicts of field managers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gitfleet.api.objects import JsonObject, ObjectKey


class Refused(Exception):
    """The server's refusal of one request."""

    def __init__(self, status: int, reason: str, message: str, **details: Any) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.message = message
        self.details = details

    @property
    def body(self) -> JsonObject:
        """The response's body."""
        return {
            "apiVersion": "v1",
            "kind": "Status",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "details": self.details,
            "code": self.status,
        }


def not_found(group: str, plural: str, name: str) -> Refused:
    """No such object."""
    message = f'{_qualified(plural, group)} "{name}" not found'
    return Refused(404, "NotFound", message, name=name, group=group, kind=plural)


def no_such_kind() -> Refused:
    """The server does not serve this kind, or not in this version."""
    return Refused(404, "NotFound", "the server could not find the requested resource")


def bad_request(message: str) -> Refused:
    """A request that the server does not understand."""
    return Refused(400, "BadRequest", message)


def conflict(group: str, plural: str, name: str, why: str) -> Refused:
    """A precondition does not hold."""
    message = f'Operation cannot be fulfilled on {_qualified(plural, group)} "{name}": {why}'
    return Refused(409, "Conflict", message, name=name, group=group, kind=plural)


def forbidden(group: str, plural: str, name: str, why: str) -> Refused:
    """The object may not be written."""
    message = f'{_qualified(plural, group)} "{name}" is forbidden: {why}'
    return Refused(403, "Forbidden", message, name=name, group=group, kind=plural)


def invalid(key: ObjectKey, field: str, why: str) -> Refused:
    """A field of the object may not be what it is."""
    causes = [{"reason": "FieldValueInvalid", "message": f"Invalid value: {why}", "field": field}]
    message = f'{_qualified(key.kind, key.group)} "{key.name}" is invalid: {field}: Invalid value: {why}'
    return Refused(422, "Invalid", message, name=key.name, group=key.group, kind=key.kind, causes=causes)


def untyped(key: ObjectKey, misfits: Sequence[str]) -> Refused:
    """The object does not fit the schema by which server-side apply merges. A real server gives no reason."""
    lines = misfits[0] if len(misfits) == 1 else "\n  ".join(("errors:", *misfits))
    version = key.api_version if key.group else f"/{key.version}"
    subject = f"{key.namespace}/{key.name}; {version}, Kind={key.kind}"
    return Refused(500, "", f"failed to create typed patch object ({subject}): {lines}")


def owned_by_others(conflicts: Sequence[tuple[str, str]]) -> Refused:
    """An apply without force would change fields of others: (manager, path) for each."""
    causes = [
        {"reason": "FieldManagerConflict", "message": f"conflict with {manager}", "field": path}
        for manager, path in conflicts
    ]
    if len(conflicts) == 1:
        manager, path = conflicts[0]
        return Refused(409, "Conflict", f"Apply failed with 1 conflict: conflict with {manager}: {path}", causes=causes)
    lines: list[str] = []
    for owner in sorted({manager for manager, _ in conflicts}):
        lines.append(f"conflicts with {owner}:")
        lines += [f"- {path}" for manager, path in conflicts if manager == owner]
    message = f"Apply failed with {len(conflicts)} conflicts: " + "\n".join(lines)
    return Refused(409, "Conflict", message, causes=causes)


def _qualified(name: str, group: str) -> str:
    return f"{name}.{group}" if group else name


def check_preconditions(key: ObjectKey, resource: str, current: JsonObject | None, metadata: JsonObject) -> None:
    """Refused, as a server refuses, where the object of the metadata `there` is another one or in another version than
    `metadata` names; `resource` is the plural name of its kind."""
    uid, version = metadata.get("uid"), metadata.get("resourceVersion")
    why = ""
    if uid and current is None:
        why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
    elif uid and current is not None and current["uid"] != uid:
        raise invalid(key, "metadata.uid", f'"{uid}": field is immutable')
    elif version and current is not None and current["resourceVersion"] != version:
        why = "the object has been modified; please apply your changes to the latest version and try again"
    if why:
        raise conflict(key.group, resource, key.name, why)
