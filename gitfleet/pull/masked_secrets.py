"""Objects as an agent may commit them: no value of a Secret leaves the cluster.

A value is replaced by a keyed digest, so that the hub sees whether it changed and nothing else. The key never leaves
the cluster: without it nobody can try values against the digests.
"""

from __future__ import annotations

import hmac
from base64 import b64encode
from collections.abc import Mapping
from typing import Final

from gitfleet.formats.json_values import JsonObject, JsonValue
from gitfleet.formats.secret_objects import is_secret, masked_object

_PARTS: Final = ("data", "stringData")
_SHOWN: Final = ("gitfleet.dev/", "helm.sh/", "kustomize.toolkit.fluxcd.io/", "argocd.argoproj.io/", "meta.helm.sh/")
"""How annotations begin that say who owns an object, and whether it may be deleted."""


def reportable(body: JsonObject, key: bytes) -> JsonObject:
    """The object without any value of a Secret; the very same object where it has none."""
    if not is_secret(body):
        return masked_object(body)
    place = str((body.get("metadata") or {}).get("uid") or "")
    out: dict[str, JsonValue] = {}
    for part, value in body.items():
        if part in _PARTS and isinstance(value, Mapping):
            out[part] = {name: _digest(key, place, name, text) for name, text in value.items()}
        elif part == "metadata" and isinstance(value, Mapping):
            out[part] = {name: _annotations(key, place, one) if name == "annotations" else one
                         for name, one in value.items()}  # fmt: skip
        else:
            out[part] = value
    return out


def _annotations(key: bytes, place: str, found: JsonValue) -> JsonValue:
    if not isinstance(found, Mapping):
        return None
    return {name: text if name.startswith(_SHOWN) else _digest(key, place, name, text) for name, text in found.items()}


def _digest(key: bytes, place: str, name: str, value: JsonValue) -> str:
    """Base64, as what stands under `data` is."""
    found = hmac.new(key, f"{place}\0{name}\0{value}".encode(errors="surrogatepass"), "sha256").hexdigest()
    return b64encode(f"gitfleet-masked {found}".encode()).decode()
