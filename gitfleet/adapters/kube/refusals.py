"""What a response means: a refusal (one word, one sentence, whether trying again can help), and whether it is about the
object that was asked for, since a server may lie, or a proxy answer for another one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from gitfleet.adapters.kube.texts import KubeText
from gitfleet.adapters.kube.wire import PRUNE, TYPED_PATCH
from gitfleet.api.objects import JsonObject, ObjectKey
from gitfleet.formats.json_values import mappings, section
from gitfleet.formats.masking import masked
from gitfleet.formats.secret_texts import without_values
from gitfleet.model.operations import OutcomeCode
from gitfleet.ports.transport import Response

_VALUE: Final = re.compile(r"\AInvalid value: [\w.&*]*[\[{].*[\]}]: ", re.DOTALL)
"""A list or an object, which a server repeats before the reason."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """`code` is a reason in one word, `retry` whether the same call may succeed later without a change."""

    code: OutcomeCode
    message: str
    retry: bool


def refusal_of(response: Response, secrets: Iterable[str] = ()) -> Refusal:
    """Read a response that is not a success; no value of `secrets` is repeated, however the server quotes it."""
    status = status_of(response)
    message_text = str(status.get("message") or response.text() or f"HTTP {response.status}")
    message = masked(without_values(_reasons(message_text, status), secrets))
    code, retry = _classify(response.status, str(status.get("reason") or ""), message_text, status)
    return Refusal(code, message, retry)


def _classify(http_status: int, reason: str, message_text: str, status: JsonObject) -> tuple[OutcomeCode, bool]:
    match http_status:
        case 401:
            return OutcomeCode.UNAUTHORIZED, True
        case 403:
            # Both pass by themselves; missing rights do not.
            return OutcomeCode.FORBIDDEN, "being terminated" in message_text or "exceeded quota" in message_text
        case 404:
            about_namespace = "namespaces" in message_text and section(status, "details").get("kind") == "namespaces"
            return (OutcomeCode.NEEDS_NAMESPACE if about_namespace else OutcomeCode.NOT_FOUND), True
        case 409:
            return OutcomeCode.CONFLICT, "FieldManagerConflict" not in [
                cause.get("reason") for cause in _causes(status)
            ]
        case 422 if "metadata.uid" in message_text:
            # The object was deleted and created again between the observation and the write: the next observation sees
            # the new one.
            return OutcomeCode.CONFLICT, True
        case 429:
            return OutcomeCode.TOO_MANY_REQUESTS, True
        case 500 if TYPED_PATCH in message_text or PRUNE in message_text or reason == "Invalid":
            return OutcomeCode.INVALID, False
        case code if code >= 500:
            return OutcomeCode.SERVER_ERROR, True
        case _:
            return OutcomeCode.INVALID, False


def _reasons(message: str, status: JsonObject) -> str:
    """The message of an invalid object with each field's reason alone: of an immutable field a server repeats the whole
    value, or all that differs."""
    head, separator, _ = message.partition(" is invalid: ")
    reasons = [(str(cause.get("field") or ""), str(cause.get("message") or "")) for cause in _causes(status)]
    cut = [(field, _VALUE.sub("", text).partition("\n")[0]) for field, text in reasons]
    if not separator or cut == reasons:
        return message
    return f"{head} is invalid: {', '.join(f'{field}: {text}' if field else text for field, text in cut)}"


def _causes(status: JsonObject) -> list[JsonObject]:
    return mappings(section(status, "details").get("causes"))


def status_of(response: Response) -> JsonObject:
    """The `Status` that is the body of a refusal, or whatever object is; empty where the body is none."""
    try:
        body = response.json()
    except ValueError:
        # A proxy's page, or "404 page not found": the text itself is then the message.
        return {}
    return body if isinstance(body, Mapping) else {}


def other_object(body: JsonObject, key: ObjectKey, *, namespaced: bool) -> str:
    """What is wrong with a response that should be the object of a key: a sentence, "" when it is that object.

    Its kind, group, name and namespace must be those that were asked for, and its metadata an object. The version may
    differ. No value of it is repeated.
    """
    metadata = section(body, "metadata")
    types = (("uid", str), ("resourceVersion", str), ("generation", int))
    sound = all(isinstance(metadata.get(name), type_ | None) for name, type_ in types)
    version = body.get("apiVersion", key.api_version)
    group = version.rpartition("/")[0] if isinstance(version, str) else None
    actual = (group, body.get("kind", key.kind), metadata.get("name"), metadata.get("namespace") or "")
    expected = (key.group, key.kind, key.name, key.namespace if namespaced else "")
    return "" if sound and actual == expected else KubeText.SERVER_ANSWERED_ANOTHER_OBJECT()


def doubtful_404(response: Response, key: ObjectKey, plural: str) -> str:
    """What is wrong with a 404 that should mean that there is no such object: a sentence, "" when it does.

    An API server then names the object (apimachinery `errors.NewNotFound`). Whatever else stands at its address, and
    the API server itself where it does not serve the kind any more, does not.
    """
    status = status_of(response)
    details = section(status, "details")
    named = details.get("name"), details.get("kind")
    if status.get("kind") == "Status" and status.get("reason") == "NotFound" and named in _names(key, plural):
        return ""
    return KubeText.SERVER_ANSWERED_NOT_SAY_OBJECT(message=refusal_of(response).message)


def _names(key: ObjectKey, plural: str) -> tuple[tuple[str, str], ...]:
    """How a `Status` names an object: by the plural of its kind; a server of an extension may take the kind itself."""
    return (key.name, plural), (key.name, key.kind)
