"""Payload: the users' own objects, kept as written. Only what makes an object an object is checked here.

Nothing here reads a Secret's data, and no sentence repeats a value of any object.
"""

from __future__ import annotations

from typing import Final

from gitfleet.api import Break
from gitfleet.api.objects import GroupKind, JsonObject, Manifest, ObjectKey, Origin, key_of
from gitfleet.api.values import is_kind_name
from gitfleet.desired.contents import enveloped_breaks, shape_breaks
from gitfleet.desired.identity import NO_KIND, kind_breaks, known_scope, metadata_breaks, scope_break
from gitfleet.formats.canonical_json import digest_of
from gitfleet.formats.secret_objects import is_sops_encrypted

_ENCRYPTED: Final = (
    "says that the object is encrypted with SOPS, which gitfleet does not decrypt; nothing is placed of it: let a "
    "controller on the member fetch secrets (docs/security.md)"
)


def read_manifest(body: JsonObject, origin: Origin) -> tuple[Manifest | None, list[Break]]:
    """The manifest, or every break; `body` has a string apiVersion and kind."""
    breaks = metadata_breaks(body.get("metadata"))
    group, _, version = str(body["apiVersion"]).rpartition("/")
    kind = GroupKind(group, str(body["kind"]))
    if not is_kind_name(kind.kind):
        breaks.append((("kind",), NO_KIND))
    elif kind == GroupKind("", "List"):
        breaks.append((("kind",), "is read as a v1 List with a list of `items`, and not within another; correct it"))
    else:
        breaks += kind_breaks(ObjectKey(group, version, kind.kind, "", ""))
    breaks += [(("sops",), _ENCRYPTED)] if is_sops_encrypted(body) else shape_breaks(kind, body)
    if breaks:
        return None, breaks
    key = key_of(body)
    if sentence := scope_break(known_scope(key.group_kind, {}), key.kind, key.namespace):
        return None, [(("metadata", "namespace"), sentence)]
    manifest = Manifest(key=key, body=body, digest=digest_of(body), origin=origin)
    breaks = enveloped_breaks(manifest, {})
    return (None, breaks) if breaks else (manifest, [])
