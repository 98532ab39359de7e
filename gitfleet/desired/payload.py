"""Payload: the users' own objects, kept as written. Only what makes an object an object is checked here.

Nothing here reads a Secret's data, and no sentence repeats a value of any object.
"""

from __future__ import annotations

from gitfleet.api import Break
from gitfleet.api.objects import GroupKind, JsonObject, Manifest, ObjectKey, Origin, key_of
from gitfleet.api.values import is_kind_name
from gitfleet.desired.contents import enveloped_breaks, shape_breaks
from gitfleet.desired.encrypted import Decrypted, decrypted_breaks, encrypted_breaks
from gitfleet.desired.identity import NO_KIND, kind_breaks, known_scope, metadata_breaks, scope_break
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.canonical_json import digest_of
from gitfleet.formats.lists import is_list_kind
from gitfleet.formats.sops import is_sops_encrypted


def read_manifest(
    body: JsonObject, origin: Origin, decrypted: Decrypted | None = None
) -> tuple[Manifest | None, list[Break]]:
    """The manifest, or every break; `body` has a string apiVersion and kind. With `decrypted` what SOPS encrypted is
    one only if it can be decrypted."""
    breaks = metadata_breaks(body.get("metadata"))
    group, _, version = str(body["apiVersion"]).rpartition("/")
    kind = GroupKind(group, str(body["kind"]))
    if not is_kind_name(kind.kind):
        breaks.append((("kind",), NO_KIND))
    elif is_list_kind(body["apiVersion"], kind.kind):
        breaks.append((("kind",), DesiredText.READ_V1_LIST_LIST_ITEMS()))
    else:
        breaks += kind_breaks(ObjectKey(group, version, kind.kind, "", ""))
    encrypted = is_sops_encrypted(body)
    breaks += encrypted_breaks(kind, body, origin) if encrypted else shape_breaks(kind, body)
    if breaks:
        return None, breaks
    key = key_of(body)
    if sentence := scope_break(known_scope(key.group_kind, {}), key.kind, key.namespace):
        return None, [(("metadata", "namespace"), sentence)]
    manifest = Manifest(key=key, body=body, digest=digest_of(body), origin=origin)
    if encrypted and decrypted is not None:
        breaks = decrypted_breaks(manifest, decrypted)
    else:
        breaks = enveloped_breaks(manifest, {})
    return (None, breaks) if breaks else (manifest, [])
