"""Secrets that SOPS encrypted: what gitfleet takes of them, and what of their plaintext an API server would refuse.

They stay encrypted here: nothing but the sentence of why they cannot be used depends on a key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from gitfleet.api import Break, dotted
from gitfleet.api.objects import GroupKind, JsonObject, Manifest, Origin
from gitfleet.desired.contents import shape_breaks
from gitfleet.errors import GiveUp, RetryLater
from gitfleet.formats.sops import METADATA, encrypted_outside, is_encrypted_text, with_values
from gitfleet.model.failures import Failure, Subject, attempt

Decrypted: TypeAlias = Callable[[Manifest], JsonObject]
"""An encrypted object as it is to be applied; GiveUp why it cannot be."""
_SECRET: Final = GroupKind("", "Secret")
_ENCRYPT: Final = "encrypt the file again with --encrypted-regex '^(data|stringData)$'"


def encrypted_breaks(kind: GroupKind, body: JsonObject, origin: Origin) -> list[Break]:
    """Why an object that SOPS encrypted is not taken, as far as that shows without a key."""
    metadata: Any = body[METADATA]
    why = ""
    if kind != _SECRET:
        why = "says that the object is encrypted with SOPS, and gitfleet decrypts Secrets alone; write a Secret for it"
    elif not origin.blob:
        why = (
            "says that the object is encrypted with SOPS, and gitfleet decrypts nothing that kustomize or Helm made; "
            "move the Secret to a file that is placed as it is"
        )
    elif metadata.get("key_groups") or not _is_for_age(metadata.get("age")):
        why = "names no age recipient, and gitfleet decrypts with age keys alone; add one with `sops updatekeys`"
    elif metadata.get("mac_only_encrypted"):
        why = (
            "has mac_only_encrypted, so its MAC notices no change of name or namespace; encrypt the file without "
            "--mac-only-encrypted"
        )
    elif place := encrypted_outside(body):
        why = f"encrypts more than data and stringData ({dotted(place)}), which nothing can be selected by; {_ENCRYPT}"
    if why:
        return [((METADATA,), why)]
    return shape_breaks(kind, with_values(body, lambda _, text: "" if is_encrypted_text(text) else text))


def decrypted_breaks(manifest: Manifest, decrypted: Decrypted) -> list[Break]:
    """Why an object that SOPS encrypted cannot be applied."""
    body = attempt(lambda: Subject.of_object(manifest.key), decrypted, manifest)
    if not isinstance(body, Failure):
        return shape_breaks(_SECRET, body)
    if isinstance(body.cause, RetryLater):
        raise body.cause
    why = f"the file {body.cause}" if isinstance(body.cause, GiveUp) else body.sentence
    return [((METADATA,), f"cannot be used, since {why}")]


def _is_for_age(recipients: Any) -> bool:
    return isinstance(recipients, list) and any(isinstance(one, Mapping) and one.get("enc") for one in recipients)
