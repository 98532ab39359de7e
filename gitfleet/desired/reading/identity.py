"""What makes an object an object: its kind, its scope and its metadata. No sentence repeats a value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gitfleet.api import Break
from gitfleet.api.folders import FOLDER_FILE
from gitfleet.api.kinds import KINDS
from gitfleet.api.objects import GroupKind, JsonObject, ObjectKey
from gitfleet.api.steps import hook_of
from gitfleet.api.texts import ApiText
from gitfleet.api.values import is_namespace_name, is_object_name, name_rule
from gitfleet.desired.known_kinds import API_FIELDS, BUILT_IN, is_kubernetes_group
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.canonical_json import digest_of
from gitfleet.formats.json_values import section
from gitfleet.formats.kind_fields import RELEASE, served_kinds
from gitfleet.formats.kinds import BUILT_IN_KINDS, BuiltInKind

_DIGITS: Final = 8
NO_KIND: Final = DesiredText.CANNOT_NAME_KIND()


def kind_breaks(key: ObjectKey) -> list[Break]:
    """What a server would say of an object's kind and version, as far as Kubernetes itself defines its group (D29)."""
    misnamed = BUILT_IN.misnamed(key.group, key.version, key.kind) if is_kubernetes_group(key.group) else None
    return [(API_FIELDS[misnamed.field], misnamed.sentence)] if misnamed is not None else []


def version_warnings(key: ObjectKey) -> list[Break]:
    """That Kubernetes serves an object's version no more, or not yet, and which one to write."""
    row = BUILT_IN_KINDS.get((key.group, key.kind))
    if row is None or not is_kubernetes_group(key.group) or key.version not in row.all_versions:
        return []
    rows = (row, *(kind for kind in BUILT_IN_KINDS.values() if kind.kind == key.kind))
    served = [_of(kind, version) for kind in rows for version in kind.all_versions if _is_served(kind, version)]
    if not served:
        return [(("apiVersion",), DesiredText.KIND_NO_LONGER_SERVED(kind=key.kind, release=RELEASE))]
    if _of(row, key.version) in served:
        return []
    return [(("apiVersion",), DesiredText.VERSION_NO_LONGER_SERVED(release=RELEASE, api_version=served[0]))]


def _is_served(row: BuiltInKind, version: str) -> bool:
    return f"{_of(row, version)}/{row.kind}" in served_kinds()


def _of(row: BuiltInKind, version: str) -> str:
    return f"{row.group}/{version}" if row.group else version


def without_needless_namespace(body: JsonObject) -> tuple[JsonObject, list[Break]]:
    """An object of a cluster-scoped kind without the namespace that it names, as an API server drops it (D45), and the
    warning about that."""
    group, kind, metadata = str(body["apiVersion"]).rpartition("/")[0], str(body["kind"]), section(body, "metadata")
    if not metadata.get("namespace") or known_scope(GroupKind(group, kind), {}) is not False:
        return body, []
    remaining = {name: value for name, value in metadata.items() if name != "namespace"}
    sentence = DesiredText.NAMESPACE_DROPPED(kind=kind)
    return {**body, "metadata": remaining}, [(("metadata", "namespace"), sentence)]


def with_generated_name(body: JsonObject) -> JsonObject:
    """A hook with the name that its `generateName` and content give it. Other objects with one have an error."""
    metadata = section(body, "metadata")
    prefix = metadata.get("generateName")
    if metadata.get("name") or not isinstance(prefix, str) or hook_of(body) is None:
        return body
    remaining = {name: value for name, value in metadata.items() if name != "generateName"}
    return {**body, "metadata": {**remaining, "name": f"{prefix}{digest_of(body)[:_DIGITS]}"}}


def scope_breaks(namespaced: bool | None, kind: str, namespace: str, *, enveloped: bool = False) -> list[Break]:
    """What is wrong with an object's namespace, given its kind's scope (None: not known). A Folder gives none to what
    an envelope carries."""
    if namespaced in (None, bool(namespace)):
        return []
    sentence = DesiredText.PAYLOAD_NEEDS_NAMESPACE(kind=kind, folder_file=FOLDER_FILE)
    if namespace:
        sentence = DesiredText.NOT_GO_CLUSTER_SCOPED_KIND(kind=kind)
    elif enveloped:
        sentence = DesiredText.REQUIRED_SINCE_NAMESPACED_KIND(kind=kind)
    return [(("metadata", "namespace"), sentence)]


def known_scope(kind: GroupKind, declared: Mapping[GroupKind, bool]) -> bool | None:
    """Whether a kind is namespaced: by what is declared or built in, else by the repo's CRDs, else not known."""
    row = KINDS.get((kind.group, kind.kind)) or BUILT_IN_KINDS.get((kind.group, kind.kind))
    return declared.get(kind) if row is None else row.namespaced


def metadata_breaks(metadata: Any, kind: GroupKind) -> list[Break]:
    """What is wrong with the metadata of an object of a kind."""
    if not isinstance(metadata, dict):
        return [(("metadata",), DesiredText.MUST_MAPPING_NAME())]
    breaks: list[Break] = []
    name, rule = metadata.get("name"), name_rule(kind.group, kind.kind)
    if metadata.get("generateName") and not name:
        breaks.append((("metadata", "generateName"), DesiredText.MAKES_NEW_OBJECT_EACH_TIME()))
    elif not isinstance(name, str):
        breaks.append((("metadata", "name"), DesiredText.MUST_STRING_ADD()))
    elif not is_object_name(name):
        breaks.append((("metadata", "name"), DesiredText.CANNOT_OBJECT_NAME()))
    elif rule is not None and not rule.allows(name):
        dots = ", dots" if rule.dots else ""
        sentence = DesiredText.NAME_NO_SERVER_TAKES(kind=kind.kind, dots=dots, longest=rule.longest)
        breaks.append((("metadata", "name"), sentence))
    namespace = metadata.get("namespace")
    if namespace is not None and not isinstance(namespace, str):
        breaks.append((("metadata", "namespace"), ApiText.MUST_STRING_PUT_QUOTES()))
    elif namespace and not is_namespace_name(namespace):
        breaks.append((("metadata", "namespace"), DesiredText.MUST_LOWER_CASE_LETTERS()))
    for field in ("labels", "annotations"):
        breaks += _text_breaks(field, metadata.get(field))
    return breaks


def _text_breaks(field: str, values: Any) -> list[Break]:
    if values is None:
        return []
    if not isinstance(values, dict):
        return [(("metadata", field), DesiredText.MUST_MAPPING_STRINGS())]
    return [
        (("metadata", field, name), ApiText.MUST_STRING_PUT_QUOTES())
        for name, value in values.items()
        if not isinstance(value, str)
    ]
