"""Objects as an agent may commit them: no value of a Secret leaves the cluster.

A value is replaced by a keyed digest, so that the hub sees whether it changed and nothing else. The key never leaves
the cluster: without it nobody can try values against the digests.
"""

from __future__ import annotations

import hmac
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from gitfleet.formats.json_values import JsonObject, JsonValue
from gitfleet.formats.secret_objects import contains_secret, is_secret

_SHOWN: Final = frozenset(("apiVersion", "kind", "type", "immutable"))
_ANNOTATIONS: Final = frozenset(
    (
        "gitfleet.dev/prune",
        "helm.sh/resource-policy",
        "kustomize.toolkit.fluxcd.io/prune",
        "argocd.argoproj.io/sync-options",
        "meta.helm.sh/release-name",
        "meta.helm.sh/release-namespace",
    )
)
"""Annotations of a Secret that say who owns it, and whether it may be deleted."""


def reportable(body: JsonObject, key: bytes) -> JsonObject:
    """The object without any value of a Secret, of whatever group, and without a text that holds the manifest of one:
    digests stand in their places."""
    masked = _Masked(key, str((body.get("metadata") or {}).get("uid") or "")).value(body, ())
    return masked if isinstance(masked, Mapping) else body


@dataclass(frozen=True, slots=True)
class _Masked:
    """Masks one object. The same value has another digest in another object, and in another place."""

    key: bytes
    uid: str

    def value(self, value: JsonValue, place: tuple[str, ...]) -> JsonValue:
        match value:
            case Mapping() if is_secret(value):
                return self._secret(value, place)
            case Mapping():
                return {name: self.value(part, (*place, name)) for name, part in value.items()}
            case list():
                return [self.value(item, (*place, str(index))) for index, item in enumerate(value)]
            case str() if contains_secret(value):
                return self._digest(value, place)
            case _:
                return value

    def _secret(self, body: JsonObject, place: tuple[str, ...]) -> JsonObject:
        out: dict[str, JsonValue] = {}
        for part, value in body.items():
            if part == "metadata" and isinstance(value, Mapping):
                out[part] = {
                    name: self._annotations(part_value, (*place, part, name)) if name == "annotations" else part_value
                    for name, part_value in value.items()
                }
            else:
                out[part] = value if part in _SHOWN else self._leaves(value, (*place, part))
        return out

    def _annotations(self, annotations: JsonValue, place: tuple[str, ...]) -> JsonValue:
        if not isinstance(annotations, Mapping):
            return self._leaves(annotations, place)
        return {
            name: text if name in _ANNOTATIONS else self._leaves(text, (*place, name))
            for name, text in annotations.items()
        }

    def _leaves(self, value: JsonValue, place: tuple[str, ...]) -> JsonValue:
        match value:
            case Mapping():
                return {name: self._leaves(part, (*place, name)) for name, part in value.items()}
            case list():
                return [self._leaves(item, (*place, str(index))) for index, item in enumerate(value)]
            case None:
                return None
            case _:
                return self._digest(value, place)

    def _digest(self, value: JsonValue, place: tuple[str, ...]) -> str:
        """Base64, as what stands under `data` is."""
        text = "\0".join((self.uid, *place, str(value)))
        digest = hmac.new(self.key, text.encode(errors="surrogatepass"), "sha256").hexdigest()
        return b64encode(f"gitfleet-masked {digest}".encode()).decode()
