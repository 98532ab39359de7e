"""One file, typed: its objects and its faults.

This work depends on the file alone, so a caller may keep the result by (path, blob id) for as long as it likes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from gitfleet.api import Break, Location, read, without_nulls
from gitfleet.api.faults import Fault, Severity, fault_at
from gitfleet.api.folders import FOLDER
from gitfleet.api.kinds import KINDS, ONLY_A_BUILD_FILE, ONLY_A_FOLDER_FILE, Kind, Place, watched_kinds
from gitfleet.api.objects import GroupKind, Identity, JsonObject, JsonValue, Manifest, Origin
from gitfleet.api.placements import PLACEMENT_GROUP
from gitfleet.api.staged import Approval, StagedRun
from gitfleet.api.texts import ApiText
from gitfleet.api.workload_rollouts import AppRollout, RolloutTrait
from gitfleet.desired.reading.identity import (
    known_scope,
    scope_breaks,
    version_warnings,
    with_generated_name,
    without_needless_namespace,
)
from gitfleet.desired.reading.paths import IGNORE_FILE, is_folder_file, is_ours, is_payload_path
from gitfleet.desired.reading.payload import Decrypted, read_manifest
from gitfleet.desired.reading.statuses import approval_warnings, with_beginning
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.git_lfs import POINTER_START
from gitfleet.formats.json_values import section
from gitfleet.formats.kinds import is_envelope_kind
from gitfleet.formats.near_names import did_you_mean
from gitfleet.formats.yaml_reader import ParsedFile, lines_of
from gitfleet.formats.yaml_scalars import shown

Contents: TypeAlias = Callable[[str], bytes]
"""The bytes of a blob by its id; asked only for files with faults."""
_IDENTITY: Final = (("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace"))
"""With an error in one of these fields, it cannot be said which object a document is."""
_NOBODY: Final = ("", "", "", "")
"""The identity of a document that says none."""
_WRITTEN_BY_GITFLEET: Final = frozenset(
    {
        "ClusterResourceOverrideSnapshot",
        "ClusterResourcePlacementStatus",
        "InternalMemberCluster",
        "ResourceOverrideSnapshot",
        "Work",
    }
)
"""KubeFleet's kinds that a hub's own controllers write, beside those that stand on the state branch as they are."""


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

    `faulty` are the objects that were recognised and refused, as they are written; `unreadable` says that the file has
    something else: no YAML, or a document of which it cannot be said which object it is.
    """

    objects: tuple[ReadObject, ...] = ()
    faults: tuple[Fault, ...] = ()
    faulty: tuple[ReadObject, ...] = ()
    unreadable: bool = False


@dataclass(slots=True)
class _Typed:
    """What one document turned out to be."""

    label: str = ""
    identity: Identity | None = None
    value: object = None
    breaks: list[Break] = field(default_factory=list)
    warnings: list[Break] = field(default_factory=list)


def read_file(
    path: str,
    blob: str,
    parsed: ParsedFile,
    contents: Contents,
    decrypted: Decrypted | None = None,
    *,
    is_payload: bool = False,
) -> FileReading:
    """Type a parsed file. Never raises on any content; `contents` serves only to find lines of faults, `decrypted` to
    find what SOPS encrypted and cannot be decrypted. With `is_payload` all of it is, as below `resources/`."""
    is_payload = is_payload or is_payload_path(path)
    hint = "" if is_payload or is_ours(path) else DesiredText.IF_NONE_GITFLEET_FILES(ignore_file=IGNORE_FILE)
    faults = [
        Fault(path, line, "", "", DesiredText.CANNOT_READ_FILE(problem=str(message), hint=hint))
        for line, message in parsed.faults
    ]
    objects: list[ReadObject] = []
    faulty: list[ReadObject] = []
    unreadable = bool(parsed.faults)
    errors: list[tuple[ReadObject, Break]] = []
    warnings: list[tuple[ReadObject, Break]] = []
    for document in parsed.documents:
        origin = Origin(path, document.line, blob, document.index)
        typed = _read_document(document.value, origin, decrypted, is_payload=is_payload)
        value = document.value if typed.value is None else typed.value
        item = ReadObject(typed.identity or _NOBODY, typed.label, origin, value)
        errors += ((item, note) for note in typed.breaks)
        warnings += ((item, note) for note in typed.warnings)
        if typed.value is not None and typed.identity is not None:
            objects.append(item)
        elif typed.identity is not None and not any(place in _IDENTITY for place, _ in typed.breaks):
            faulty.append(item)
        elif typed.breaks:
            unreadable = True
    faults += faults_at(errors, contents) + faults_at(warnings, contents, Severity.WARNING)
    return FileReading(
        objects=tuple(objects),
        faults=tuple(sorted(faults)),
        faulty=tuple(faulty),
        unreadable=unreadable,
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
    for blob, blob_notes in by_blob.items():
        places = [(item.origin.document, item.origin.line, note[0]) for item, note in blob_notes]
        for (item, (location, sentence)), line in zip(blob_notes, _lines(contents, blob, places), strict=True):
            faults.append(fault_at((item.origin.path, line), item.label, location, sentence, severity))
    return faults


def _lines(contents: Contents, blob: str, places: list[tuple[int, int, Location]]) -> list[int]:
    """Lines of (document, its first line, location); the document's first line where the bytes are not to be had."""
    content = contents(blob) if blob else b""
    if not content:
        return [first for _, first, _ in places]
    return lines_of(content, [(index, location) for index, _, location in places])


def _read_document(value: JsonValue, origin: Origin, decrypted: Decrypted | None, *, is_payload: bool) -> _Typed:
    path, ours = origin.path, is_payload or is_ours(origin.path)
    if not isinstance(value, dict):
        return _read_no_mapping(value, ours=ours)
    value = _with_name_of_file(value, path)
    api_version, name = value.get("apiVersion"), value.get("kind")
    if api_version is None and name is None and not ours:
        return _Typed()
    label = _label(value)
    missing: list[Break] = [
        ((field_name,), ApiText.REQUIRED_ADD()) if text is None else ((field_name,), ApiText.MUST_STRING_PUT_QUOTES())
        for field_name, text in (("apiVersion", api_version), ("kind", name))
        if not isinstance(text, str) or not text
    ]
    if missing:
        return _Typed(label=label, breaks=missing)
    group, _, version = str(api_version).rpartition("/")
    if (group, name) == FOLDER or is_folder_file(path):
        return _read_folder(value, origin, label, version)
    if is_payload or is_envelope_kind(group, str(name)):
        return _read_payload(value, origin, label, decrypted)
    if is_our_group(group):
        return _read_ours(value, origin, label, version)
    misplaced = next((kind for kind in watched_kinds() if kind.name == name), None)
    if misplaced is not None and is_ours(path):
        sentence = DesiredText.NOT_GROUP_YOU_MEAN(name=name, group=misplaced.group, versions=misplaced.versions[0])
        return _Typed(label=label, breaks=[(("apiVersion",), sentence)])
    return _read_payload(value, origin, label, decrypted)


def _read_no_mapping(value: JsonValue, *, ours: bool) -> _Typed:
    if isinstance(value, str) and value.startswith(POINTER_START):
        return _Typed(breaks=[((), DesiredText.GIT_LFS_POINTER(ignore_file=IGNORE_FILE))])
    return _Typed(breaks=[((), DesiredText.NOT_MAPPING_NO_OBJECT())] if ours else [])


def _read_folder(value: dict[str, Any], origin: Origin, label: str, version: str) -> _Typed:
    """A Folder, which stands alone in a file of its name below `resources/`."""
    if not is_folder_file(origin.path):
        return _Typed(label=label, breaks=[(("kind",), ONLY_A_FOLDER_FILE)])
    group, _, _ = str(value["apiVersion"]).rpartition("/")
    if (group, value["kind"]) != FOLDER or origin.document > 0:
        return _Typed(label=label, breaks=[(("kind",), DesiredText.MUST_HOLD_ONE_FOLDER())])
    return _read_ours(value, origin, label, version)


def _read_ours(value: dict[str, Any], origin: Origin, label: str, version: str) -> _Typed:
    group, name = str(value["apiVersion"]).rpartition("/")[0], str(value["kind"])
    kind = KINDS.get((group, name))
    if kind is None or kind.place is not Place.WATCHED_BRANCH:
        return _not_read(group, name, label, kind.place if kind is not None else None)
    made, breaks = read(kind.declaration, value)
    value = without_nulls(value)
    breaks += _top_breaks(kind, value, version)
    identity = _identity_of(value)
    if made is None or breaks:
        return _Typed(label=label, identity=identity, breaks=breaks)
    if isinstance(made, StagedRun):
        made = with_beginning(made, value)
    warnings = list(made.warnings()) if hasattr(made, "warnings") else []
    if isinstance(made, Approval):
        warnings += approval_warnings(made)
    return _Typed(label=label, identity=identity, value=_written(made, value, origin), warnings=warnings)


def _written(made: Any, value: JsonObject, origin: Origin) -> Any:
    """A value with where it was written; kinds that are only shown keep the object as it was, without status."""
    if not hasattr(made, "body"):
        return replace(made, origin=origin)
    body = {field_name: part for field_name, part in value.items() if field_name != "status"}
    if isinstance(made, RolloutTrait | AppRollout):
        made = replace(made, kind=str(value["kind"]))
    return replace(made, body=body, origin=origin)


def _not_read(group: str, name: str, label: str, place: Place | None) -> _Typed:
    if place is Place.OWN_FILE:
        return _Typed(label=label)
    if place is Place.BUILD_FILE:
        return _Typed(label=label, breaks=[(("kind",), ONLY_A_BUILD_FILE)])
    if place is Place.STATE_BRANCH or name in _WRITTEN_BY_GITFLEET:
        sentence = DesiredText.GITFLEET_WRITES_OBJECTS_KIND_ITSELF()
        return _Typed(label=label, warnings=[(("kind",), sentence)])
    names = [kind.name for kind in watched_kinds() if kind.group == group]
    hint = did_you_mean(name, names, DesiredText.REMOVE_DOCUMENT_MOVE_RESOURCES_PLACED())
    return _Typed(label=label, breaks=[(("kind",), DesiredText.NOT_KIND_GITFLEET_READS(group=group, hint=hint))])


def _top_breaks(kind: Kind, value: Mapping[str, Any], version: str) -> list[Break]:
    """What the declaration cannot see: the version, and whether a namespace must be or must not be there."""
    breaks: list[Break] = []
    if version not in kind.versions:
        sentence = DesiredText.NOT_VERSION_GITFLEET_READS(kind=kind.name, group=kind.group, versions=kind.versions[0])
        breaks.append((("apiVersion",), sentence))
    metadata = section(value, "metadata")
    wrong = scope_breaks(kind.namespaced, kind.name, metadata.get("namespace") or "", enveloped=True)
    return breaks + (wrong if metadata else [])


def _read_payload(value: JsonObject, origin: Origin, label: str, decrypted: Decrypted | None) -> _Typed:
    value, warnings = without_needless_namespace(with_generated_name(value))
    identity = _identity_of(value)
    group, name = str(value["apiVersion"]).rpartition("/")[0], str(value["kind"])
    kind = KINDS.get((group, name))
    if kind is not None and kind.place is Place.BUILD_FILE:  # in a file of another name
        return _Typed(label=label, breaks=[(("kind",), ONLY_A_BUILD_FILE)])
    manifest, breaks = read_manifest(value, origin, decrypted)
    warnings += [] if identity is None else _misplaced(*identity)
    warnings += version_warnings(manifest.key) if manifest is not None else []
    identity = identity and payload_identity(identity)
    return _Typed(label=label, identity=identity, value=manifest, breaks=breaks, warnings=warnings)


def _misplaced(group: str, name: str, *names: str) -> Iterator[Break]:
    """That an object among the payload is only placed, where it is of a kind that gitfleet reads in other folders."""
    kind = KINDS.get((group, name))
    if kind is not None and kind.place is Place.WATCHED_BRANCH:
        home = f"{'/'.join(filter(None, (kind.folder, *names)))}.yaml" if kind.folder else "gitfleet.yaml"
        yield ("kind",), DesiredText.READ_RESOURCE_PLACED(home=home)


def is_gitfleets(path: str, reading: FileReading) -> bool:
    """Whether gitfleet itself acts on a file outside `resources/`: it lies in one of gitfleet's folders, or holds an
    object of gitfleet's kinds."""
    return is_ours(path) or any(is_our_group(item.identity[0]) for item in (*reading.objects, *reading.faulty))


def is_our_group(group: str) -> bool:
    """Whether gitfleet reads kinds of an API group itself: outside `resources/`, others of the group are errors."""
    return any(kind.group == group for kind in KINDS.values())


def variant_identity(identity: Identity, folder: str, variant: str) -> Identity:
    """The versions of an object in the variants of a Folder are set apart from each other while a commit is read."""
    group, kind, namespace, name = identity
    return (f"{folder}/{variant} {group}", kind, namespace, name) if variant else identity


def payload_identity(identity: Identity) -> Identity:
    """Payload of our own kinds is set apart from objects that gitfleet itself acts on."""
    return (f"payload {identity[0]}", *identity[1:]) if is_our_group(identity[0]) else identity


def _with_name_of_file(value: dict[str, Any], path: str) -> dict[str, Any]:
    """The seeds' approval payload, a status without apiVersion and kind in a file named after the request, as an
    approval; anything else as it is."""
    folder, _, file_name = path.rpartition("/")
    if "apiVersion" in value or "kind" in value or "status" not in value or not f"{folder}/".startswith("approvals/"):
        return value
    namespace = folder.removeprefix("approvals").strip("/")
    kind = "ApprovalRequest" if namespace else "ClusterApprovalRequest"
    metadata = {"name": file_name.rpartition(".")[0], **({"namespace": namespace} if namespace else {})}
    return {**value, "apiVersion": f"{PLACEMENT_GROUP}/v1beta1", "kind": kind, "metadata": metadata}


def _label(value: Mapping[str, Any]) -> str:
    """`Kind/name` or `Kind/namespace/name`, as far as it is known."""
    metadata = section(value, "metadata")
    name = metadata.get("name") or metadata.get("generateName")
    names = (metadata.get("namespace"), name) if name else ()
    return "/".join(shown(part) for part in (value.get("kind"), *names) if isinstance(part, str) and part)


def _identity_of(value: Mapping[str, Any]) -> Identity | None:
    """Which object a document is; None where its name, or the namespace that its kind needs, is missing."""
    metadata = section(value, "metadata")
    namespace, name = (metadata.get(field_name) for field_name in ("namespace", "name"))
    kind = GroupKind(str(value.get("apiVersion") or "").rpartition("/")[0], str(value.get("kind") or ""))
    namespace = namespace if isinstance(namespace, str) else ""
    if not isinstance(name, str) or not name or (not namespace and known_scope(kind, {})):
        return None
    return *kind, namespace, name
