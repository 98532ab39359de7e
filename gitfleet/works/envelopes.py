"""Envelopes: objects that only carry other objects, so that those have no effect on a hub (decision D20).

Three are known: a ConfigMap with the annotation of the seeds, and KubeFleet's ClusterResourceEnvelope and
ResourceEnvelope. A snapshot keeps them whole; on the way to a cluster they are unwrapped and not placed themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from gitfleet.api.objects import Manifest, key_of
from gitfleet.formats.canonical_json import digest_of
from gitfleet.formats.kinds import is_envelope_kind
from gitfleet.formats.yaml_reader import Profile, UnreadableText, read_documents

MAX_ENTRY_BYTES: Final = 1024 * 1024
"""Largest text of a ConfigMap that is read as an envelope."""
_ANNOTATION: Final = "kubernetes-fleet.io/envelope-configmap"


EnvelopeTexts = dict[str, tuple[Any, ...]]
"""The documents of texts that were parsed in this pass, for the many clusters that get the same envelope."""


class EnvelopeError(ValueError):
    """An envelope cannot be unwrapped; the sentence says which, which entry and why, and repeats no content."""


def is_envelope(manifest: Manifest) -> bool:
    """Whether an object carries others."""
    key = manifest.key
    if key.kind == "ConfigMap" and not key.group:
        annotations = (manifest.body.get("metadata") or {}).get("annotations") or {}
        return str(annotations.get(_ANNOTATION) or "").lower() not in ("", "false")
    return is_envelope_kind(key.group, key.kind)


def unwrap(envelope: Manifest, texts: EnvelopeTexts) -> tuple[Manifest, ...]:
    """The objects inside, in the order of their entries' names; EnvelopeError when one of them cannot be placed. What
    is parsed is added to `texts`."""
    inner: list[Manifest] = []
    for entry, body in _entries(envelope, texts):
        if not isinstance(body, Mapping):
            raise EnvelopeError(f"{envelope.key.kind} {_place(envelope)} cannot be unwrapped: {entry} is not an object")
        key = key_of(body)
        if not (key.version and key.kind and key.name):
            raise EnvelopeError(
                f"{envelope.key.kind} {_place(envelope)} cannot be unwrapped: {entry} lacks apiVersion, kind or name"
            )
        _check_scope(envelope, entry, key.namespace)
        inner.append(Manifest(key, body, digest_of(body), envelope.origin))
    return tuple(inner)


def _entries(envelope: Manifest, texts: EnvelopeTexts) -> Iterator[tuple[str, Any]]:
    data = envelope.body.get("data") or {}
    for entry in sorted(data):
        if envelope.key.kind != "ConfigMap":
            yield entry, data[entry]
            continue
        try:
            documents = _documents(str(data[entry]), texts)
        except UnreadableText as error:
            raise EnvelopeError(
                f"{envelope.key.kind} {_place(envelope)} cannot be unwrapped: {entry}: {error}"
            ) from None
        for document in documents:
            yield entry, document


def _documents(text: str, texts: EnvelopeTexts) -> tuple[Any, ...]:
    """A text's documents; nobody changes them. UnreadableText."""
    if text not in texts:
        texts[text] = tuple(read_documents(text.encode(), Profile.KUBERNETES, max_bytes=MAX_ENTRY_BYTES))
    return texts[text]


def _check_scope(envelope: Manifest, entry: str, namespace: str) -> None:
    kind, home = envelope.key.kind, envelope.key.namespace
    wrong = ""
    if kind == "ClusterResourceEnvelope" and namespace:
        wrong = f"lies in namespace {namespace}, and only cluster-scoped objects may be wrapped here"
    elif kind == "ResourceEnvelope" and not namespace:
        wrong = "has no namespace, and only objects of the envelope's own namespace may be wrapped here"
    elif namespace and namespace != home and kind != "ClusterResourceEnvelope":
        wrong = f"lies in namespace {namespace}, not in the envelope's own"
    if wrong:
        raise EnvelopeError(f"{kind} {_place(envelope)} cannot be unwrapped: {entry} {wrong}")


def _place(envelope: Manifest) -> str:
    key = envelope.key
    return f"{key.namespace}/{key.name}" if key.namespace else key.name
