"""What an API server's refusal means: one word, one sentence, and whether trying again can help."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from gitfleet.adapters.kube.wire import PRUNE, TYPED_PATCH
from gitfleet.api.objects import JsonObject
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


def refusal_of(response: Response, what: str, secrets: Iterable[str] = ()) -> Refusal:
    """Read a response that is not a success. `what` names the object, as the sentence's subject; no value of `secrets`
    is repeated, however the server quotes it."""
    status = status_of(response)
    message_text = str(status.get("message") or response.text() or f"HTTP {response.status}")
    message = masked(f"{what}: {without_values(_reasons(message_text, status), secrets)}")
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
            about_namespace = "namespaces" in message_text and (status.get("details") or {}).get("kind") == "namespaces"
            return (OutcomeCode.NEEDS_NAMESPACE if about_namespace else OutcomeCode.NOT_FOUND), True
        case 409:
            causes = (status.get("details") or {}).get("causes") or ()
            ours_to_solve = any(isinstance(c, Mapping) and c.get("reason") == "FieldManagerConflict" for c in causes)
            return OutcomeCode.CONFLICT, not ours_to_solve
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
    details = status.get("details")
    listed = details.get("causes") if isinstance(details, Mapping) else None
    head, found, _ = message.partition(" is invalid: ")
    causes = [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
    said = [(str(one.get("field") or ""), str(one.get("message") or "")) for one in causes]
    cut = [(field, _VALUE.sub("", text).partition("\n")[0]) for field, text in said]
    if not found or cut == said:
        return message
    return f"{head} is invalid: {', '.join(f'{field}: {text}' if field else text for field, text in cut)}"


def status_of(response: Response) -> JsonObject:
    """The `Status` that is the body of a refusal, or whatever object is; empty where the body is none."""
    try:
        body = response.json()
    except ValueError:
        # A proxy's page, or "404 page not found": the text itself is then the message.
        return {}
    return body if isinstance(body, Mapping) else {}
