"""A Kubernetes object as gitfleet sees it: its identity, its content, and where in git it was written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final, NamedTuple, TypeAlias

from gitfleet.api.annotations import Default, Only
from gitfleet.api.layout import document
from gitfleet.formats.json_values import JsonObject as JsonObject
from gitfleet.formats.json_values import JsonValue as JsonValue

Identity: TypeAlias = tuple[str, str, str, str]
"""(group, kind, namespace, name) of an object, whatever its version."""
NAME_LABEL: Final = "kubernetes.io/metadata.name"
"""The label of every Namespace that has its name as value (Kubernetes reference, well-known labels)."""


class GroupKind(NamedTuple):
    """An API group ("" = core) and a kind."""

    group: str
    kind: str

    def __str__(self) -> str:
        return f"{self.kind}.{self.group}" if self.group else self.kind


@document(shared=True)
@dataclass(frozen=True, slots=True, order=True)
class ObjectKey:
    """What names one object in one cluster: group ("" = core), version, kind, namespace ("" = cluster-scoped), name."""

    group: Annotated[str, Default("")]
    version: str
    kind: str
    namespace: Annotated[str, Default("")]
    name: str

    @property
    def api_version(self) -> str:
        """`group/version`, or the version alone for the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def group_kind(self) -> GroupKind:
        """Group and kind without the version: two versions of one kind name the same object."""
        return GroupKind(self.group, self.kind)

    @property
    def identity(self) -> Identity:
        """(group, kind, namespace, name): equal for every version under which the API server shows the object."""
        return (self.group, self.kind, self.namespace, self.name)

    @property
    def order(self) -> tuple[str, ...]:
        """What keys are ordered by, as a plain tuple: thousands are sorted much faster by it than by themselves."""
        return (self.group, self.version, self.kind, self.namespace, self.name)

    def __str__(self) -> str:
        place = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind}/{place}{self.name}"


@dataclass(frozen=True, slots=True, order=True)
class Origin:
    """Where a document was written: path in the repo, 1-based line of the document's first line, blob id, index in
    the file."""

    path: str
    line: int
    blob: str = ""
    document: int = 0

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Authored:
    """An object that people wrote on the watched branch: `body` is the whole document."""

    body: Annotated[JsonObject, Only.MEMORY] = field(default_factory=dict)
    origin: Annotated[Origin | None, Only.MEMORY] = None


@dataclass(frozen=True, slots=True)
class Manifest:
    """One object to be placed: `body` is the whole object as written, `digest` the SHA-256 hex of its canonical
    JSON. `folder` is the Folder that governs it, `variants` are those of its variants that have the object with this
    content; without any, every cluster gets it."""

    key: ObjectKey
    body: JsonObject
    digest: str
    origin: Origin
    folder: str = ""
    variants: tuple[str, ...] = ()

    @property
    def labels(self) -> Mapping[str, str]:
        """metadata.labels, and of a Namespace the label of its name, which every API server sets (D41)."""
        written = (self.body.get("metadata") or {}).get("labels") or {}
        if (self.key.group, self.key.kind) == ("", "Namespace"):
            return {**written, NAME_LABEL: self.key.name}
        return written


def key_of(body: JsonObject) -> ObjectKey:
    """The key of a whole object; missing parts come out as empty strings."""
    group, _, version = str(body.get("apiVersion") or "").rpartition("/")
    metadata = body.get("metadata") or {}
    return ObjectKey(
        group=group,
        version=version,
        kind=str(body.get("kind") or ""),
        namespace=str(metadata.get("namespace") or ""),
        name=str(metadata.get("name") or ""),
    )
