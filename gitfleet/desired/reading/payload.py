"""Payload: the users' own objects, kept as written, and what is in envelopes. Checked here: what makes an object an
object, fields of a type that an API server refuses, and what gitfleet takes of Secrets that SOPS encrypted.

Secrets stay encrypted: nothing but the sentence of why one cannot be used depends on a key. Nothing here reads a
Secret's data otherwise, and no sentence repeats a value of any object.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from gitfleet.api import Break, dotted
from gitfleet.api.annotations import below
from gitfleet.api.envelopes import documents_in, is_envelope, misplacement
from gitfleet.api.objects import GroupKind, JsonObject, Manifest, ObjectKey, Origin, key_of
from gitfleet.api.placements import PLACEMENT_GROUP
from gitfleet.api.texts import ApiText
from gitfleet.api.values import is_kind_name, is_reserved_namespace
from gitfleet.desired.reading.identity import NO_KIND, kind_breaks, known_scope, metadata_breaks, scope_breaks
from gitfleet.desired.texts import DesiredText
from gitfleet.errors import GiveUp, RetryLater
from gitfleet.formats.canonical_json import digest_of
from gitfleet.formats.json_values import section
from gitfleet.formats.kind_fields import RELEASE, Misfit, field_types, misfits
from gitfleet.formats.kinds import BUILT_IN_KINDS, is_envelope_kind
from gitfleet.formats.near_names import did_you_mean
from gitfleet.formats.quantities import InvalidQuantity, parse_quantity
from gitfleet.formats.sentences import named_briefly
from gitfleet.formats.sops import METADATA, encrypted_outside, is_encrypted_text, is_sops_encrypted, with_values
from gitfleet.formats.yaml_reader import UnreadableText, is_list_kind
from gitfleet.model.failures import Failure, Subject, attempt

NO_MAPPING: Final = DesiredText.MUST_MAPPING_CORRECT()
_OWNERS: Final = ("metadata", "ownerReferences")
"""Taken off before the object is placed."""
_FINALIZERS: Final = {"finalizers": "[string"}
"""Of an object's metadata, what is neither judged by `identity` nor taken off before the object is placed."""


def type_breaks(body: JsonObject) -> list[Break] | None:
    """Every field of an object that has a wrong type, is not one of its kind, or has the key of another list item; None
    for a kind or version whose types are not known."""
    fields = field_types().get(f"{body.get('apiVersion')}/{body.get('kind')}")
    if fields is None:
        return None
    metadata = body.get("metadata")
    breaks = _of_fields(_FINALIZERS, metadata) if isinstance(metadata, dict) else []
    breaks = [(("metadata", *place), sentence) for place, sentence in breaks] + _of_fields(fields, body)
    return breaks + [(m.place, _sentence(m)) for m in misfits(body) if m.place[:2] != _OWNERS]


def _sentence(misfit: Misfit) -> str:
    if misfit.first is not None:
        keys = named_briefly(misfit.keys or ("value",), len(misfit.keys) or 1)
        return DesiredText.SAME_KEYS_AS_ANOTHER_ITEM(keys=keys, first=misfit.first)
    if misfit.is_null:
        return NO_MAPPING
    hint = did_you_mean(str(misfit.place[-1]), misfit.declared, "remove it")
    return DesiredText.NOT_FIELD_OF_RELEASE(release=RELEASE, hint=hint)


def _of_fields(fields: Mapping[str, str], value: Mapping[str, Any]) -> list[Break]:
    return _of_each((fields[name], name, inner) for name, inner in value.items() if name in fields)


def _of_each(entries: Iterable[tuple[str, int | str, Any]]) -> list[Break]:
    """What is wrong with values, each of the type of its code and at its step."""
    return [((step, *place), sentence) for code, step, inner in entries for place, sentence in _breaks(code, inner)]


def _breaks(code: str, value: Any) -> list[Break]:
    """What is wrong with a value that should be of a type; null stands for nothing in every type."""
    if value is None or code == "any":
        return []
    if code in _SCALARS:
        is_sound, sentence = _SCALARS[code]
        return [] if is_sound(value) else [((), sentence)]
    if code[0] == "[":
        if not isinstance(value, list):
            return [((), DesiredText.MUST_LIST_CORRECT())]
        return _of_each((code[1:], index, inner) for index, inner in enumerate(value))
    if not isinstance(value, dict):
        return [] if code[0] == "?" else [((), NO_MAPPING)]
    if code[0] == "{":
        return _of_each((code[1:], name, inner) for name, inner in value.items())
    return _of_fields(field_types()[code.removeprefix("?")], value) if code != "mapping" else []


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_integer(bits: int) -> Callable[[Any], bool]:
    most = 2 ** (bits - 1)
    return lambda value: _is_number(value) and value == value // 1 and -most <= value < most


def _is_quantity(value: Any) -> bool:
    if not isinstance(value, str):
        return _is_number(value)
    try:
        parse_quantity(value)
    except InvalidQuantity:
        return False
    return True


def _is_base64(value: Any) -> bool:
    try:
        return isinstance(value, str) and b64decode("".join(value.split()), validate=True) is not None
    except ValueError:
        return False


_SCALARS: Final[Mapping[str, tuple[Callable[[Any], bool], str]]] = {
    "string": (lambda value: isinstance(value, str), ApiText.MUST_STRING_PUT_QUOTES()),
    "boolean": (lambda value: isinstance(value, bool), DesiredText.MUST_TRUE_FALSE()),
    "int32": (_is_integer(32), DesiredText.MUST_INTEGER_BITS(bits=32)),
    "int64": (_is_integer(64), DesiredText.MUST_INTEGER_BITS(bits=64)),
    "number": (_is_number, DesiredText.MUST_NUMBER_WITHOUT_QUOTES()),
    "int-or-string": (
        lambda value: isinstance(value, str) or _is_integer(32)(value),
        DesiredText.MUST_INTEGER_STRING(),
    ),
    "quantity": (_is_quantity, DesiredText.MUST_QUANTITY_M_GI()),
    "base64": (_is_base64, DesiredText.MUST_BASE64_ENCODE()),
}
"""Whether a value is such a scalar, and what is said of one that is not."""


Decrypted: TypeAlias = Callable[[Manifest], JsonObject]
"""An encrypted object as it is to be applied; GiveUp why it cannot be."""
_SECRET: Final = GroupKind("", "Secret")
_READ_HERE: Final[Mapping[GroupKind, tuple[tuple[str, ...], ...]]] = {
    GroupKind(PLACEMENT_GROUP, "ResourceEnvelope"): (("data",),),
    GroupKind(PLACEMENT_GROUP, "ClusterResourceEnvelope"): (("data",),),
    GroupKind("apiextensions.k8s.io", "CustomResourceDefinition"): (("spec",), ("spec", "names")),
}
"""The fields that gitfleet itself reads of kinds, or of versions of them, whose types are not known; each must be a
mapping where it is given."""
_DATA: Final[Mapping[GroupKind, tuple[str, ...]]] = {
    GroupKind("", "ConfigMap"): ("data", "binaryData"),
    GroupKind("", "Secret"): ("data", "stringData"),
}
_DATA_KEY: Final = re.compile(r"(?!\.\.?$|\.\.)[-._a-zA-Z0-9]{1,253}")
"""What an API server takes as a key of a ConfigMap or Secret (Kubernetes IsConfigMapKey)."""


def read_manifest(
    body: JsonObject, origin: Origin, decrypted: Decrypted | None = None
) -> tuple[Manifest | None, list[Break]]:
    """The manifest, or every break; `body` has a string apiVersion and kind. With `decrypted` what SOPS encrypted is
    one only if it can be decrypted."""
    kind, breaks = _kind_and_metadata(body)
    encrypted = is_sops_encrypted(body)
    breaks += encrypted_breaks(kind, body, origin) if encrypted else shape_breaks(kind, body)
    if breaks:
        return None, breaks
    key = key_of(body)
    if breaks := scope_breaks(known_scope(kind, {}), key.kind, key.namespace):
        return None, breaks
    manifest = Manifest(key=key, body=body, digest=digest_of(body), origin=origin)
    if encrypted and decrypted is not None:
        breaks = decrypted_breaks(manifest, decrypted)
    else:
        breaks = enveloped_breaks(manifest, {})
    return (None, breaks) if breaks else (manifest, [])


def _kind_and_metadata(body: JsonObject) -> tuple[GroupKind, list[Break]]:
    """The kind of an object, and what is wrong with its kind, version and metadata."""
    group, _, version = str(body["apiVersion"]).rpartition("/")
    kind = GroupKind(group, str(body["kind"]))
    breaks = metadata_breaks(body.get("metadata"), kind)
    if not is_kind_name(kind.kind):
        breaks.append((("kind",), NO_KIND))
    elif is_list_kind(body["apiVersion"], kind.kind):
        breaks.append((("kind",), DesiredText.READ_V1_LIST_LIST_ITEMS()))
    else:
        breaks += kind_breaks(ObjectKey(group, version, kind.kind, "", ""))
    return kind, breaks


def shape_breaks(kind: GroupKind, body: JsonObject) -> list[Break]:
    """Fields of a wrong type: all of a built-in kind where the types of its version are known, otherwise its `spec` and
    `status` (Kubernetes API conventions, "Spec and Status") and what gitfleet reads."""
    breaks = type_breaks(body)
    mappings: tuple[tuple[str, ...], ...] = (("status",),)
    if breaks is None:
        breaks = []
        mappings = (("spec",), ("status",)) if (kind.group, kind.kind) in BUILT_IN_KINDS else ()
        mappings = (*mappings, *_READ_HERE.get(kind, ()))
    for location in dict.fromkeys(mappings):
        value = section(body, *location[:-1]).get(location[-1])
        if value is not None and not isinstance(value, Mapping):
            breaks.append((location, NO_MAPPING))
    return [*breaks, *_data_key_breaks(kind, body), *_undecryptable_breaks(kind, body)]


def _data_key_breaks(kind: GroupKind, body: JsonObject) -> Iterator[Break]:
    for field in _DATA.get(kind, ()):
        for key in section(body, field):
            if not _DATA_KEY.fullmatch(str(key)):
                yield (field, key), DesiredText.NO_KEY_API_SERVER_TAKES()


def _undecryptable_breaks(kind: GroupKind, body: JsonObject) -> Iterator[Break]:
    """What SOPS encrypted, in a file that has lost what decrypting needs: it would be placed as it stands. Under `data`
    it is no base64 anyway."""
    is_lost = kind == _SECRET and not is_sops_encrypted(body)
    for key, text in section(body, "stringData").items():
        if is_lost and is_encrypted_text(text):
            yield ("stringData", key), DesiredText.ENCRYPTED_SOPS_SOPS_METADATA_MISSING()


def enveloped_breaks(envelope: Manifest, scopes: Mapping[GroupKind, bool]) -> list[Break]:
    """What is wrong with the objects in an envelope, be it annotated or of KubeFleet's own kinds; none for others.

    `scopes` are those of custom kinds, as far as they are known.
    """
    kind = envelope.key.group_kind
    judge = _inner_breaks if is_envelope_kind(*kind) else _text_breaks
    entries = section(envelope.body, "data").items() if is_envelope(envelope) else ()
    return [note for entry, inner in entries for note in below(("data", entry), judge(inner, envelope, scopes))]


def _text_breaks(text: Any, envelope: Manifest, scopes: Mapping[GroupKind, bool]) -> list[Break]:
    """What is wrong with one text of an annotated ConfigMap, where no line of the file can be named."""
    try:
        documents = documents_in(text if isinstance(text, str) else "")
    except UnreadableText as unreadable:
        return [((), DesiredText.CANNOT_READ_OBJECTS(unreadable=unreadable))]
    breaks: list[Break] = []
    for number, inner in enumerate(documents, 1):
        for place, sentence in _inner_breaks(inner, envelope, scopes):
            field = f": {dotted(place)}" if place else ""
            breaks.append(((), f"object {number}{field} {sentence}"))
    return breaks


def _inner_breaks(inner: Any, envelope: Manifest, scopes: Mapping[GroupKind, bool]) -> list[Break]:
    """What keeps an entry of an envelope from being an object that may be in it."""
    if not isinstance(inner, Mapping):
        return [((), DesiredText.MUST_OBJECT_WRITE_APIVERSION())]
    fields = [field for field in ("apiVersion", "kind") if not isinstance(inner.get(field), str)]
    if fields:
        return [((field,), ApiText.MUST_STRING_PUT_QUOTES()) for field in fields]
    kind, breaks = _kind_and_metadata(inner)
    if breaks:
        return breaks
    if is_sops_encrypted(inner):
        return [((METADATA,), DesiredText.DECRYPTS_SECRETS_IN_FILES())]
    key = key_of(inner)
    if wrong := scope_breaks(known_scope(kind, scopes), key.kind, key.namespace, enveloped=True):
        breaks = wrong
    elif key.group_kind == GroupKind("", "Namespace") and is_reserved_namespace(key.name):
        breaks.append((("metadata", "name"), DesiredText.RESERVED_NAMESPACE_CANNOT_PLACED()))
    elif sentence := misplacement(envelope.key, key):
        breaks.append((("metadata", "namespace"), f"{sentence}; correct it"))
    return breaks + shape_breaks(key.group_kind, inner)


def encrypted_breaks(kind: GroupKind, body: JsonObject, origin: Origin) -> list[Break]:
    """Why an object that SOPS encrypted is not taken, as far as that shows without a key."""
    metadata: Any = body[METADATA]
    why = ""
    if kind != _SECRET or not origin.blob:
        why = DesiredText.DECRYPTS_SECRETS_IN_FILES()
    elif metadata.get("key_groups") or not _is_for_age(metadata.get("age")):
        why = DesiredText.NAMES_NO_AGE_RECIPIENT()
    elif metadata.get("mac_only_encrypted"):
        why = DesiredText.MAC_ONLY_ENCRYPTED()
    elif place := encrypted_outside(body):
        why = DesiredText.ENCRYPTS_MORE_DATA_STRINGDATA(place=dotted(place))
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
    return isinstance(recipients, list) and any(
        isinstance(recipient, Mapping) and recipient.get("enc") for recipient in recipients
    )
