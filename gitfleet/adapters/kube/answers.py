"""Whether a response holds the object that was asked for: a server may lie, or a proxy answer for another one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gitfleet.api.objects import JsonObject, ObjectKey

OTHER: Final = "the server answered with another object"


def other_object(body: JsonObject, key: ObjectKey, *, namespaced: bool) -> str:
    """What is wrong with a response that should hold the object of a key: a sentence, "" when it is that object.

    Its kind, group, name and namespace must be those that were asked for, and its metadata an object. The version may
    differ. No value of it is repeated.
    """
    metadata: Any = body.get("metadata")
    if not isinstance(metadata, Mapping):
        return f"{key}: the server answered with an object without metadata"
    for name, type_ in (("uid", str), ("resourceVersion", str), ("generation", int)):
        if not isinstance(metadata.get(name), type_ | None):
            return f"{key}: the server answered with an object whose metadata.{name} has a wrong type"
    version = body.get("apiVersion", key.api_version)
    group = version.rpartition("/")[0] if isinstance(version, str) else None
    found = (group, body.get("kind", key.kind), metadata.get("name"), metadata.get("namespace") or "")
    wanted = (key.group, key.kind, key.name, key.namespace if namespaced else "")
    return "" if found == wanted else f"{key}: {OTHER}"
