"""Secrets that SOPS encrypted: what gitfleet takes of them, and what of their plaintext an API server would refuse.

They stay encrypted here: nothing but the sentence of why they cannot be used depends on a key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from gitfleet.api import Break, dotted
from gitfleet.api.objects import GroupKind, JsonObject, Manifest, Origin
from gitfleet.desired.contents import shape_breaks
from gitfleet.desired.texts import DesiredText
from gitfleet.errors import GiveUp, RetryLater
from gitfleet.formats.sops import METADATA, encrypted_outside, is_encrypted_text, with_values
from gitfleet.model.failures import Failure, Subject, attempt

Decrypted: TypeAlias = Callable[[Manifest], JsonObject]
"""An encrypted object as it is to be applied; GiveUp why it cannot be."""
_SECRET: Final = GroupKind("", "Secret")
_ENCRYPT: Final = DesiredText.ENCRYPT_FILE_AGAIN_ENCRYPTED_REGEX()


def encrypted_breaks(kind: GroupKind, body: JsonObject, origin: Origin) -> list[Break]:
    """Why an object that SOPS encrypted is not taken, as far as that shows without a key."""
    metadata: Any = body[METADATA]
    why = ""
    if kind != _SECRET:
        why = DesiredText.SAYS_OBJECT_ENCRYPTED_SOPS_GITFLEET()
    elif not origin.blob:
        why = DesiredText.SAYS_OBJECT_ENCRYPTED_SOPS_GITFLEET_DECRYPTS()
    elif metadata.get("key_groups") or not _is_for_age(metadata.get("age")):
        why = DesiredText.NAMES_NO_AGE_RECIPIENT()
    elif metadata.get("mac_only_encrypted"):
        why = DesiredText.MAC_ONLY_ENCRYPTED()
    elif place := encrypted_outside(body):
        why = DesiredText.ENCRYPTS_MORE_DATA_STRINGDATA(place=dotted(place), encrypt=_ENCRYPT)
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
    return [((METADATA,), DesiredText.CANNOT_USED_SINCE(why=why))]


def _is_for_age(recipients: Any) -> bool:
    return isinstance(recipients, list) and any(isinstance(one, Mapping) and one.get("enc") for one in recipients)
