"""What a Folder, or a Helm release, gives to the objects of a file: a namespace, labels and annotations."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

from gitfleet.api.faults import Fault
from gitfleet.api.fleet import FleetConfig
from gitfleet.api.folders import FOLDER_FILE, Folder, made_namespace
from gitfleet.api.objects import GroupKind, JsonObject, Manifest, Origin, key_of
from gitfleet.desired.reading.files import Contents, FileReading, ReadObject, read_file, variant_identity
from gitfleet.desired.reading.folders import FolderLayout, Owner
from gitfleet.desired.reading.identity import known_scope
from gitfleet.desired.reading.paths import is_payload_path
from gitfleet.desired.reading.request import SourceFile
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.canonical_json import digest_of
from gitfleet.formats.sops import is_sops_encrypted
from gitfleet.formats.yaml_reader import Document, ParsedFile

_NAMESPACE: Final = GroupKind("", "Namespace")


class _UnknownScope(Exception):
    """Carries the kind of which nobody knows whether it is namespaced."""


@dataclass(frozen=True)
class Governing:
    """Reads files as their Folders have them. `scopes` are those of custom kinds; `before` are the readings of another
    commit, `read_now` is filled with those of this one."""

    scopes: Mapping[GroupKind, bool]
    contents: Contents
    before: Mapping[object, FileReading] = field(default_factory=dict)
    read_now: dict[object, FileReading] = field(default_factory=dict)

    @cached_property
    def _scopes(self) -> frozenset[tuple[GroupKind, bool]]:
        return frozenset(self.scopes.items())

    def reading(self, path: str, source: SourceFile, owner: Owner) -> FileReading:
        """The file with what its Folder and its release give; `source` was parsed. A file of the repo is read once as
        long as nothing changes for it."""
        if not source.blob:
            return self._read(path, source, owner)
        folder = owner.folder
        labels, annotations = (tuple(sorted(part.items())) for part in (folder.labels, folder.annotations))
        additions = (folder.name, owner.variant, folder.namespace, labels, annotations)
        key = (path, source.blob, additions, self._scopes)
        reading = self.before.get(key)
        self.read_now[key] = reading = self._read(path, source, owner) if reading is None else reading
        return reading

    def _read(self, path: str, source: SourceFile, owner: Owner) -> FileReading:
        folder, parsed = owner.folder, source.parsed or ParsedFile()
        namespace = source.namespace or folder.namespace or ""
        documents: list[Document] = []
        faults: list[Fault] = []
        changed: set[int] = set()
        for document in parsed.documents:
            try:
                value = self._given(document.value, folder, namespace)
            except _UnknownScope as unknown:
                faults.append(Fault(path, document.line, "", "", DesiredText.SCOPE_UNKNOWN(kind=unknown.args[0])))
                continue
            if value is not document.value:
                changed.add(document.index)
                document = replace(document, value=value)
            documents.append(document)
        parsed = replace(parsed, documents=tuple(documents))
        if is_payload_path(path) and not (changed or faults) and source.reading is not None:
            reading = source.reading
        else:
            reading = read_file(path, source.blob, parsed, self.contents, is_payload=True)
        return replace(
            reading,
            faults=(*reading.faults, *faults),
            objects=tuple(_owned(item, owner, changed) for item in reading.objects),
            faulty=tuple(_owned(item, owner, changed) for item in reading.faulty),
            unreadable=reading.unreadable or bool(faults),
        )

    def _given(self, body: Any, folder: Folder, namespace: str) -> Any:
        """The object with what is given to it, the same where it has all of that; SOPS' own objects stay as they were
        signed."""
        is_object = isinstance(body, dict) and isinstance(body.get("metadata"), dict) and body.get("apiVersion")
        if not is_object or is_sops_encrypted(body):
            return body
        metadata: JsonObject = body["metadata"]
        additions: dict[str, Any] = {
            name: part for name in ("labels", "annotations") if (part := _merged(metadata, folder, name))
        }
        if namespace and not metadata.get("namespace"):
            kind = GroupKind(str(body["apiVersion"]).rpartition("/")[0], str(body.get("kind")))
            scope = known_scope(kind, self.scopes)
            if scope is None:
                raise _UnknownScope(kind)
            additions |= {"namespace": namespace} if scope else {}
        return {**body, "metadata": {**metadata, **additions}} if additions else body


def _merged(metadata: JsonObject, folder: Folder, name: str) -> JsonObject | None:
    """The labels or annotations with those of the Folder; None where these change nothing, or the object's own are no
    mapping, which is an error of the object."""
    additions: Mapping[str, str] = folder.labels if name == "labels" else folder.annotations
    own = metadata.get(name) or {}
    if not isinstance(own, dict) or all(own.get(key) == value for key, value in additions.items()):
        return None
    return {**own, **additions}


def _owned(item: ReadObject, owner: Owner, changed: set[int]) -> ReadObject:
    """An object as that of its Folder and variant. Where something was given to it, no blob has it."""
    origin = replace(item.origin, blob="") if item.origin.document in changed else item.origin
    value = item.value
    if isinstance(value, Manifest):
        variants = (owner.variant,) * bool(owner.variant)
        value = replace(value, origin=origin, folder=owner.folder.name, variants=variants)
    return ReadObject(variant_identity(item.identity, *owner.place), item.label, origin, value)


def made_namespaces(layout: FolderLayout, values: Collection[object]) -> Iterator[ReadObject]:
    """The Namespaces that Folders make: each once, and none that an object among the values is, or that clusters have
    already."""
    configs = [value for value in values if isinstance(value, FleetConfig)]
    defined = {value.key.name for value in values if isinstance(value, Manifest) and value.key.group_kind == _NAMESPACE}
    for directory, folder in sorted(layout.folders.items()):
        name = folder.namespace if folder is not None and folder.create_namespace else None
        if name is None or name in defined or any(config.has_namespace(name) for config in configs):
            continue
        body = made_namespace(name)
        manifest = Manifest(key_of(body), body, digest_of(body), Origin(f"{directory}/{FOLDER_FILE}", 1))
        defined.add(manifest.key.name)
        yield ReadObject(manifest.key.identity, str(manifest.key), manifest.origin, manifest)
