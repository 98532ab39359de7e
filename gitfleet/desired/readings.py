"""One file, typed: its objects and its faults.

This work depends on the file alone, so a caller may keep the result by (path, blob id) for as long as it likes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from gitfleet.api import Break, Location, dotted, read, without_nulls
from gitfleet.api.faults import Fault, Severity
from gitfleet.api.kinds import KINDS, ONLY_A_BUILD_FILE, Kind, Place, watched_kinds
from gitfleet.api.objects import Identity, JsonObject, JsonValue, Manifest, Origin
from gitfleet.api.placements import PLACEMENT_GROUP
from gitfleet.api.staged import Approval, StagedRun
from gitfleet.api.texts import ApiText
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_rollouts import AppRollout, RolloutTrait
from gitfleet.desired.approvals import approval_warnings
from gitfleet.desired.encrypted import Decrypted
from gitfleet.desired.exported import with_beginning
from gitfleet.desired.identity import version_warnings, without_needless_namespace
from gitfleet.desired.kinds import WRITTEN_BY_GITFLEET, is_our_group
from gitfleet.desired.paths import IGNORE_FILE, is_ours, is_payload_path
from gitfleet.desired.payload import read_manifest
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.kinds import is_envelope_kind
from gitfleet.formats.near_names import did_you_mean, is_near
from gitfleet.formats.yaml_reader import Document, ParsedFile, lines_of
from gitfleet.formats.yaml_scalars import shown

Contents: TypeAlias = Callable[[str], bytes]
"""The bytes of a blob by its id; asked only for files with faults."""
_BUILDS: Final = tuple(kind for kind in KINDS.values() if kind.place is Place.BUILD_FILE)


@dataclass(frozen=True, slots=True)
class ReadObject:
    """One sound object of a file; `label` is `Kind/name` or `Kind/namespace/name`, for messages.

    `value` is of the class that its kind declares (`api.kinds`) or a Manifest for payload. The
    identity of payload of our own kinds has "payload " before its group.
    """

    identity: Identity
    label: str
    origin: Origin
    value: object


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReading:
    """A file's sound objects, its faults, and what is missing because of them.

    `faulty` are the objects that were recognised and refused, as they are written; `unreadable` says that something
    could not be recognised at all, so that any object may be missing; `unnamed` are the documents of that kind.
    """

    objects: tuple[ReadObject, ...] = ()
    faults: tuple[Fault, ...] = ()
    faulty: tuple[ReadObject, ...] = ()
    unreadable: bool = False
    unnamed: tuple[ReadObject, ...] = ()


@dataclass(slots=True)
class _Found:
    """What one document turned out to be."""

    label: str = ""
    identity: Identity | None = None
    value: object = None
    breaks: list[Break] = field(default_factory=list)
    warnings: list[Break] = field(default_factory=list)
    line: int = 0


def read_file(
    path: str, blob: str, parsed: ParsedFile, contents: Contents, decrypted: Decrypted | None = None
) -> FileReading:
    """Type a parsed file. Never raises on any content; `contents` serves only to find lines of faults, `decrypted` to
    find what SOPS encrypted and cannot be decrypted."""
    hint = "" if is_ours(path) else DesiredText.IF_NONE_GITFLEET_FILES(ignore_file=IGNORE_FILE)
    faults = [Fault(path, line, "", "", f"{message}{hint}") for line, message in parsed.faults]
    objects: list[ReadObject] = []
    faulty: list[ReadObject] = []
    unnamed: list[ReadObject] = []
    unreadable = bool(parsed.faults)
    notes: list[tuple[_Found, Document, Break, Severity]] = []
    for document in parsed.documents:
        origin = Origin(path, document.line, blob, document.index)
        found = _read_document(path, document.value, origin, decrypted)
        notes += [(found, document, note, Severity.ERROR) for note in found.breaks]
        notes += [(found, document, note, Severity.WARNING) for note in found.warnings]
        if found.value is not None and found.identity is not None:
            objects.append(ReadObject(found.identity, found.label, origin, found.value))
        elif found.identity is not None:
            faulty.append(ReadObject(found.identity, found.label, origin, document.value))
        elif found.breaks:
            unreadable = True
            if isinstance(document.value, dict):
                identity = _identity_of(document.value) or ("", str(document.value.get("kind") or ""), "", "")
                unnamed.append(ReadObject(identity, found.label, origin, document.value))
    faults += _placed(path, blob, notes, contents)
    return FileReading(
        objects=tuple(objects),
        faults=tuple(sorted(faults)),
        faulty=tuple(faulty),
        unreadable=unreadable,
        unnamed=tuple(unnamed),
    )


def by_kind(items: Iterable[ReadObject]) -> tuple[dict[str, dict[Any, Any]], list[Manifest]]:
    """The values of our kinds by what `get` lists them under and by their key, and the payload."""
    objects: dict[str, dict[Any, Any]] = {}
    manifests: list[Manifest] = []
    for item in items:
        if isinstance(item.value, Manifest):
            manifests.append(item.value)
        else:
            kind = KINDS[item.identity[:2]]
            objects.setdefault(kind.listed_as, {})[kind.key(item.value)] = item.value
    return objects, manifests


def faults_at(
    notes: Sequence[tuple[ReadObject, Break]], contents: Contents, severity: Severity = Severity.ERROR
) -> list[Fault]:
    """Faults about fields of objects that were read, with their lines; each file is read once."""
    by_blob: dict[str, list[tuple[ReadObject, Break]]] = {}
    for note in notes:
        by_blob.setdefault(note[0].origin.blob, []).append(note)
    faults: list[Fault] = []
    for blob, found in by_blob.items():
        places = [(item.origin.document, item.origin.line, note[0]) for item, note in found]
        for (item, (location, sentence)), line in zip(found, _lines(contents, blob, places), strict=True):
            faults.append(Fault(item.origin.path, line, item.label, dotted(location), sentence, severity))
    return faults


def _placed(
    path: str, blob: str, notes: list[tuple[_Found, Document, Break, Severity]], contents: Contents
) -> list[Fault]:
    if not notes:
        return []
    lines = _lines(contents, blob, [(document.index, document.line, note[0]) for _, document, note, _ in notes])
    return [
        Fault(path, line, found.label, dotted(note[0]), note[1], severity)
        for line, (found, _, note, severity) in zip(lines, notes, strict=True)
    ]


def _lines(contents: Contents, blob: str, places: list[tuple[int, int, Location]]) -> list[int]:
    """Lines of (document, its first line, location); the document's first line where the bytes are not to be had."""
    content = contents(blob) if blob else b""
    if not content:
        return [first for _, first, _ in places]
    return lines_of(content, [(index, location) for index, _, location in places])


def _read_document(path: str, value: JsonValue, origin: Origin, decrypted: Decrypted | None) -> _Found:
    if not isinstance(value, dict):
        if not is_ours(path):
            return _Found()
        return _Found(breaks=[((), DesiredText.NOT_MAPPING_NO_OBJECT())])
    approval = _bare_approval(path, value, origin)
    if approval is not None:
        return approval
    api_version, name = value.get("apiVersion"), value.get("kind")
    if api_version is None and name is None and not is_ours(path):
        return _Found()
    label = _label(value)
    missing: list[Break] = [
        ((field_name,), ApiText.REQUIRED_ADD()) if text is None else ((field_name,), ApiText.MUST_STRING_PUT_QUOTES())
        for field_name, text in (("apiVersion", api_version), ("kind", name))
        if not isinstance(text, str) or not text
    ]
    if missing:
        return _Found(label=label, breaks=missing)
    group, _, version = str(api_version).rpartition("/")
    if is_payload_path(path) or is_envelope_kind(group, str(name)):
        return _read_payload(value, origin, label, decrypted)
    if is_our_group(group):
        return _read_ours(value, origin, label, version)
    misplaced = next((kind for kind in watched_kinds() if kind.name == name and is_near(group, kind.group)), None)
    if misplaced is not None:
        sentence = DesiredText.NOT_GROUP_YOU_MEAN(name=name, group=misplaced.group, versions=misplaced.versions[0])
        return _Found(label=label, breaks=[(("apiVersion",), sentence)])
    return _read_payload(value, origin, label, decrypted)


def _read_ours(value: dict[str, Any], origin: Origin, label: str, version: str) -> _Found:
    group, name = str(value["apiVersion"]).rpartition("/")[0], str(value["kind"])
    kind = KINDS.get((group, name))
    if kind is None or kind.place is not Place.WATCHED_BRANCH:
        return _not_read(group, name, label, kind.place if kind is not None else None)
    made, breaks = read(kind.declaration, value)
    value = without_nulls(value)
    breaks += _top_breaks(kind, value, version)
    identity = _identity_of(value)
    if made is None or breaks:
        return _Found(label=label, identity=identity, breaks=breaks)
    if isinstance(made, StagedRun):
        made = with_beginning(made, value)
    warnings = list(made.warnings()) if hasattr(made, "warnings") else []
    if isinstance(made, Approval):
        warnings += approval_warnings(made)
    return _Found(label=label, identity=identity, value=_written(made, value, origin), warnings=warnings)


def _written(made: Any, value: JsonObject, origin: Origin) -> Any:
    """A value with where it was written; kinds that are only shown keep the object as it was, without status."""
    if not hasattr(made, "body"):
        return replace(made, origin=origin)
    body = {field_name: part for field_name, part in value.items() if field_name != "status"}
    if isinstance(made, RolloutTrait | AppRollout):
        made = replace(made, kind=str(value["kind"]))
    return replace(made, body=body, origin=origin)


def _not_read(group: str, name: str, label: str, place: Place | None) -> _Found:
    if place is Place.OWN_FILE:
        return _Found(label=label)
    if place is Place.BUILD_FILE:
        return _Found(label=label, breaks=[(("kind",), ONLY_A_BUILD_FILE)])
    if place is Place.STATE_BRANCH or name in WRITTEN_BY_GITFLEET:
        sentence = DesiredText.GITFLEET_WRITES_OBJECTS_KIND_ITSELF()
        return _Found(label=label, warnings=[(("kind",), sentence)])
    known = [kind.name for kind in watched_kinds() if kind.group == group]
    hint = did_you_mean(name, known, DesiredText.REMOVE_DOCUMENT_MOVE_RESOURCES_PLACED())
    return _Found(label=label, breaks=[(("kind",), DesiredText.NOT_KIND_GITFLEET_READS(group=group, hint=hint))])


def _top_breaks(kind: Kind, value: Mapping[str, Any], version: str) -> list[Break]:
    """What the declaration cannot see: the version, and whether a namespace must be or must not be there."""
    breaks: list[Break] = []
    if version not in kind.versions:
        sentence = DesiredText.NOT_VERSION_GITFLEET_READS(kind=kind.name, group=kind.group, versions=kind.versions[0])
        breaks.append((("apiVersion",), sentence))
    metadata = value.get("metadata")
    namespace = metadata.get("namespace") if isinstance(metadata, Mapping) else None
    if kind.namespaced and not namespace and isinstance(metadata, Mapping):
        breaks.append((("metadata", "namespace"), DesiredText.REQUIRED_SINCE_NAMESPACED_KIND(kind=kind.name)))
    if not kind.namespaced and namespace:
        sentence = DesiredText.NOT_GO_CLUSTER_SCOPED_KIND(kind=kind.name)
        breaks.append((("metadata", "namespace"), sentence))
    return breaks


def _read_payload(value: JsonObject, origin: Origin, label: str, decrypted: Decrypted | None) -> _Found:
    value, warnings = without_needless_namespace(value)
    identity = _identity_of(value)
    group, name = str(value["apiVersion"]).rpartition("/")[0], str(value["kind"])
    if any(is_near(group, one.group) and is_near(name, one.name) for one in _BUILDS):  # in a file of another name
        return _Found(label=label, breaks=[(("kind",), ONLY_A_BUILD_FILE)])
    manifest, breaks = read_manifest(value, origin, decrypted)
    warnings += [] if identity is None else _misplaced(*identity)
    warnings += version_warnings(manifest.key) if manifest is not None else []
    return _Found(label=label, identity=payload_identity(identity), value=manifest, breaks=breaks, warnings=warnings)


def _misplaced(group: str, name: str, *names: str) -> Iterator[Break]:
    """That an object among the payload is only placed, where it is of a kind that gitfleet reads in other folders."""
    kind = KINDS.get((group, name))
    if kind is not None and kind.place is Place.WATCHED_BRANCH:
        home = f"{'/'.join(filter(None, (kind.folder, *names)))}.yaml" if kind.folder else "gitfleet.yaml"
        sentence = DesiredText.READ_RESOURCE_PLACED(home=home)
        yield ("kind",), DesiredText.UNLESS_PLACED_CLUSTERS(sentence=sentence)


def payload_identity(identity: Identity | None) -> Identity | None:
    """Payload of our own kinds is set apart from objects that gitfleet itself acts on."""
    if identity is None or not is_our_group(identity[0]):
        return identity
    return (f"payload {identity[0]}", *identity[1:])


def _bare_approval(path: str, value: dict[str, Any], origin: Origin) -> _Found | None:
    """The seeds' approval payload: a status without apiVersion and kind, in a file named after the request."""
    folder, _, file_name = path.rpartition("/")
    if "apiVersion" in value or "kind" in value or "status" not in value or not f"{folder}/".startswith("approvals/"):
        return None
    key = NamespacedName(folder.removeprefix("approvals").strip("/"), file_name.rpartition(".")[0])
    kind = "ApprovalRequest" if key.namespace else "ClusterApprovalRequest"
    identity = (PLACEMENT_GROUP, kind, key.namespace, key.name)
    given = {"apiVersion": PLACEMENT_GROUP, "kind": kind, "metadata": {"namespace": key.namespace, "name": key.name}}
    made, breaks = read(
        Approval, {**value, **given} if key.namespace else {**value, **given, "metadata": {"name": key.name}}
    )
    written = _written(made, value, origin) if made is not None else None
    warnings = list(approval_warnings(made)) if made is not None else []
    return _Found(label=f"{kind}/{key}", identity=identity, value=written, breaks=breaks, warnings=warnings)


def _label(value: Mapping[str, Any]) -> str:
    """`Kind/name` or `Kind/namespace/name`, as far as it is known."""
    metadata = value.get("metadata")
    names = [metadata.get("namespace"), metadata.get("name")] if isinstance(metadata, Mapping) else []
    return "/".join(shown(part) for part in (value.get("kind"), *names) if isinstance(part, str) and part)


def _identity_of(value: Mapping[str, Any]) -> Identity | None:
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    if not isinstance(metadata, Mapping) or not isinstance(name, str) or not name:
        return None
    namespace = metadata.get("namespace")
    group = str(value.get("apiVersion") or "").rpartition("/")[0]
    return group, str(value.get("kind") or ""), namespace if isinstance(namespace, str) else "", name
