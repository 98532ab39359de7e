"""Whether a response is about the object that was asked for: a server may lie, or a proxy answer for another one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gitfleet.adapters.kube.refusals import refusal_of, status_of
from gitfleet.adapters.kube.texts import KubeText
from gitfleet.api.objects import JsonObject, ObjectKey
from gitfleet.ports.transport import Response

OTHER: Final = KubeText.SERVER_ANSWERED_ANOTHER_OBJECT()


def other_object(body: JsonObject, key: ObjectKey, *, namespaced: bool) -> str:
    """What is wrong with a response that should hold the object of a key: a sentence, "" when it is that object.

    Its kind, group, name and namespace must be those that were asked for, and its metadata an object. The version may
    differ. No value of it is repeated.
    """
    metadata: Any = body.get("metadata")
    if not isinstance(metadata, Mapping):
        return KubeText.SERVER_ANSWERED_OBJECT_WITHOUT_METADATA(key=key)
    for name, type_ in (("uid", str), ("resourceVersion", str), ("generation", int)):
        if not isinstance(metadata.get(name), type_ | None):
            return KubeText.SERVER_ANSWERED_OBJECT_WHOSE_METADATA(key=key, name=name)
    version = body.get("apiVersion", key.api_version)
    group = version.rpartition("/")[0] if isinstance(version, str) else None
    found = (group, body.get("kind", key.kind), metadata.get("name"), metadata.get("namespace") or "")
    wanted = (key.group, key.kind, key.name, key.namespace if namespaced else "")
    return "" if found == wanted else f"{key}: {OTHER}"


def doubtful_404(response: Response, key: ObjectKey, plural: str) -> str:
    """What is wrong with a 404 that should mean that there is no such object: a sentence, "" when it does.

    An API server then names the object (apimachinery `errors.NewNotFound`). Whatever else stands at its address, and
    the API server itself where it does not serve the kind any more, does not.
    """
    status = status_of(response)
    details = status.get("details")
    named = (details.get("name"), details.get("kind")) if isinstance(details, Mapping) else None
    if status.get("kind") == "Status" and status.get("reason") == "NotFound" and named in _names(key, plural):
        return ""
    return refusal_of(response, KubeText.SERVER_ANSWERED_NOT_SAY_OBJECT(key=key)).message


def _names(key: ObjectKey, plural: str) -> tuple[tuple[str, str], ...]:
    """How a `Status` names an object: by the plural of its kind; a server of an extension may take the kind itself."""
    return (key.name, plural), (key.name, key.kind)
