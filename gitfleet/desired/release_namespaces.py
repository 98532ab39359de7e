"""The namespace of a Helm release, for the objects of its chart that name none: as `helm install` puts them there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from gitfleet.api.definitions import definition_of
from gitfleet.api.objects import GroupKind, Manifest
from gitfleet.desired.identity import known_scope
from gitfleet.desired.readings import FileReading
from gitfleet.desired.request import SourceFile
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.yaml_reader import Document, LineFault, ParsedFile


def declared_scopes(readings: Iterable[FileReading], built: Iterable[SourceFile]) -> dict[GroupKind, bool]:
    """Whether the kinds of all CRDs of a commit are namespaced, those that releases skip included."""
    values = (item.value for reading in readings for item in reading.objects)
    bodies: list[Any] = [value.body for value in values if isinstance(value, Manifest)]
    for source in built:
        documents = (*source.definitions, *(source.parsed.documents if source.parsed else ()))
        bodies += [document.value for document in documents]
    definitions = (definition_of(body) for body in bodies if isinstance(body, dict) and body.get("metadata"))
    return {one.kind: one.namespaced for one in definitions if one is not None}


def in_namespace(source: SourceFile, declared: Mapping[GroupKind, bool]) -> SourceFile:
    """A release's output with the release's namespace where it belongs. An object is left out, with an error, when
    nothing says whether its kind is namespaced."""
    if source.parsed is None or not source.namespace:
        return source
    documents: list[Document] = []
    faults: list[LineFault] = []
    for document in source.parsed.documents:
        body = document.value
        is_object = isinstance(body, dict) and isinstance(body.get("metadata"), dict) and body.get("apiVersion")
        if not is_object or body["metadata"].get("namespace"):
            documents.append(document)
            continue
        kind = GroupKind(str(body["apiVersion"]).rpartition("/")[0], str(body.get("kind")))
        scope = known_scope(kind, declared)
        if scope is None:
            sentence = DesiredText.NOTHING_REPO_SAYS_WHETHER_NAMESPACED(kind=kind)
            faults.append((document.line, DesiredText.METADATA_NAMESPACE_TEMPLATE(sentence=sentence)))
        else:
            metadata = {**body["metadata"], "namespace": source.namespace} if scope else body["metadata"]
            documents.append(replace(document, value={**body, "metadata": metadata}))
    found = {*source.parsed.faults, *faults}
    return replace(source, parsed=ParsedFile(tuple(documents), tuple(sorted(found))))
