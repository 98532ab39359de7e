"""The question to `read_desired`."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from gitfleet.desired.paths import is_build_file
from gitfleet.desired.readings import Contents, FileReading, read_file
from gitfleet.formats.yaml_reader import Document, ParsedFile
from gitfleet.model.state import FleetState

SYMLINK: Final = "120000"
SUBMODULE: Final = "160000"
_SPELT: Final = re.compile(rb"\\[xuU\r\n]|\0")
"""Escapes of YAML and JSON that may stand for letters, or within a name, and what is no UTF-8."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """One entry of a tree: `mode` as git prints it, blob id, size in bytes when it is known.

    `parsed` is None when the bytes were not read; `why` may say so in words. `reading` is what `read_file` said of the
    same path and blob before, if the caller kept it: the file is then not read again. `sources` are the files and
    folders of which it was built, `namespace` is that of a Helm release, `definitions` are the CRDs that it skips.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldVersion:
    """An older version of the file at `path`, and the indexes of the documents in it that still count.

    A source without a blob says that it is not known what was there. `removed` says that the file was gone before the
    one that has the error came.
    """

    path: str
    source: SourceFile
    documents: Collection[int]
    removed: bool = False


def _no_contents(_blob: str) -> bytes:
    return b""


@dataclass(frozen=True, slots=True, kw_only=True)
class DesiredRequest:
    """A commit's files, and what was in force before.

    `files` may be the whole tree: what is hidden, ignored or no YAML or JSON is passed over. `before` has the files
    that changed since the observed commit as it had them, those that are gone included; only what was read then.
    `held` is what the state branch holds as last good, by the path of the faulty file it is held for.
    `changed` are the paths that differ from the observed commit, None when that is not known. `accepted` is what was
    accepted last (decision D21), its newest snapshots with their manifests. `contents` gives a blob's bytes, for the
    ignore file and where a fault is located; pure from the package's view. `built` are the outputs of kustomize by
    folder, as if each were one file; `built_of` are the blobs of the files of which they were made at the observed
    commit, by folder and path. `simulated` says that clusters without a connection are simulated ones.
    """

    commit: str
    files: Mapping[str, SourceFile]
    before: Mapping[str, SourceFile] = field(default_factory=dict)
    held: Mapping[str, Sequence[HeldVersion]] = field(default_factory=dict)
    changed: Collection[str] | None = None
    accepted: FleetState = FleetState()
    contents: Contents = _no_contents
    built: Mapping[str, SourceFile] = field(default_factory=dict)
    built_of: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    simulated: bool = True

    def text_of(self, path: str) -> bytes:
        """The text of a file, in which the name of every object that it may hold is found; empty when any name may be
        in it, because the bytes are not there or an escape may spell it."""
        source = self.files.get(path) if not is_build_file(path) else None
        content = self.contents(source.blob) if source is not None and source.mode.startswith("100") else b""
        return b"" if _SPELT.search(content) else content
