"""The question to `read_desired`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from gitfleet.desired.reading.files import Contents, FileReading, read_file
from gitfleet.formats.yaml_reader import Document, ParsedFile
from gitfleet.model.state import FleetState

SYMLINK: Final = "120000"
SUBMODULE: Final = "160000"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """One entry of a tree: `mode` as git prints it, blob id, size in bytes when it is known.

    `parsed` is None when the bytes were not read; `why` may say so in words. `reading` is what `read_file` said of the
    same path and blob before, if the caller kept it: the file is then not read again. `sources` are the files and
    folders of which it was built, `namespace` is that of a Helm release, or of a
    kustomization with charts, `definitions` are the CRDs that it skips.
    """

    blob: str
    mode: str = "100644"
    size: int | None = None
    parsed: ParsedFile | None = None
    why: str = ""
    reading: FileReading | None = None
    sources: tuple[str, ...] = ()
    namespace: str = ""
    definitions: tuple[Document, ...] = ()

    def read(self, path: str, contents: Contents) -> FileReading | None:
        """The file typed, from memory where it can be; None when there is nothing to read."""
        if self.reading is not None:
            return self.reading
        return read_file(path, self.blob, self.parsed, contents) if self.parsed is not None else None


ABSENT: Final = SourceFile(blob="")


@dataclass(frozen=True, slots=True, kw_only=True)
class OlderVersion:
    """An older version of the file at `path`, and the indexes of the documents in it that still count."""

    path: str
    source: SourceFile
    documents: Collection[int]


def _no_contents(_blob: str) -> bytes:
    return b""


@dataclass(frozen=True, slots=True, kw_only=True)
class DesiredRequest:
    """A commit's files, and what was in force before.

    `files` may be the whole tree: what is hidden, ignored or no YAML or JSON is passed over. `before` has the files
    that changed since the observed commit as it had them, those that are gone included; only what was read then.
    `last_good` is what the state branch has as last good versions, by the path of the faulty file.
    `changed` are the paths that differ from the observed commit, None when that is not known. `accepted` is what was
    accepted last (decision D21), its newest snapshots with their manifests. `contents` gives a blob's bytes, for the
    ignore file and where a fault is located; pure from the package's view. `built` are the outputs of kustomize by
    folder, as if each were one file. `simulated` says that clusters without a connection are simulated ones. `governed`
    are the readings of files that Folders change; what this reading needs takes the place of what is in it.
    """

    commit: str
    files: Mapping[str, SourceFile]
    before: Mapping[str, SourceFile] = field(default_factory=dict)
    last_good: Mapping[str, Sequence[OlderVersion]] = field(default_factory=dict)
    changed: Collection[str] | None = None
    accepted: FleetState = FleetState()
    contents: Contents = _no_contents
    built: Mapping[str, SourceFile] = field(default_factory=dict)
    simulated: bool = True
    governed: dict[object, FileReading] = field(default_factory=dict)
