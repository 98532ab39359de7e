"""desired: files at a commit become typed objects, or faults with path, line and field.

Nothing past this package sees raw YAML of ours (payload bodies excepted: they are the users' own objects).

    parse_file(path, content) -> ParsedFile        one blob; keyed by blob id, so the caller may cache its encoded form
    read_file(path, blob, parsed, contents)        one file typed; keyed by path and blob id, for a caller's memory
    read_desired(request) -> Desired               the whole tree; a cheap pass over parsed files
    accept(desired, before, now, failures)         meets what was accepted before: generations grow, what is gone leaves
    is_read(path, mode), wanted_paths(paths, ...)  which entries of a tree are parsed, and which are considered at all
    cache_key(path, blob)                          under which a parsed file is kept on disk
    manifests_of(path, blob, parsed)               the payload of one file
    faults_at(notes, contents)                     faults about fields of objects that were read, with their lines

`read_desired` is a pipeline (`tree`): read (`reading`), resolve duplicates, check (`checks`), use the last good version
of each object with an error (`history`), and check once more. It takes
`DesiredRequest(commit, files, before, last_good, changed, accepted, contents, built)`:
    files      {path: SourceFile(mode, blob id, size, parsed: ParsedFile | None)} of the commit (parsed None:
               unreadable, with why); `reading` of an earlier `read_file` may be given along and is then used
    before     {path: SourceFile} every file that changed since the observed commit, as it was there
    last_good  {path: [OlderVersion]} the older versions that the state branch names for faulty files (invariant 2)
    changed    the paths that differ from the observed commit, None when that commit is gone
    accepted   FleetState: the last accepted version of each placement and cluster, for the checks on updates (D21), and
               the newest snapshots, for what has no file to go back to
    contents   callable (blob id) -> bytes, for the ignore file and the lines of faults; pure from the package's view

Forbidden here: I/O, clocks, other packages. Sources: contracts.md §1, kubefleet.md §1 and §5, decisions D1 and D21.
"""

from collections.abc import Iterator
from hashlib import sha256

from gitfleet.api.objects import Manifest, Origin, key_of
from gitfleet.desired.accept import accept
from gitfleet.desired.reading.files import FileReading, ReadObject, faults_at, read_file
from gitfleet.desired.reading.folders import FolderLayout, layout_of
from gitfleet.desired.reading.ignore_rules import IgnoreRules, read_ignore
from gitfleet.desired.reading.paths import (
    CHART_FILE,
    IGNORE_FILE,
    KUSTOMIZATIONS,
    folders_of,
    is_build_file,
    is_folder_file,
    is_kustomization,
    is_read,
    read_paths,
    wanted_paths,
)
from gitfleet.desired.reading.request import DesiredRequest, OlderVersion, SourceFile
from gitfleet.desired.tree import read_desired
from gitfleet.formats.canonical_json import digest_of
from gitfleet.formats.limits import MAX_FILE_BYTES
from gitfleet.formats.yaml_reader import PARSER_VERSION, ParsedFile, parse_documents

__all__ = [
    "CHART_FILE",
    "IGNORE_FILE",
    "KUSTOMIZATIONS",
    "DesiredRequest",
    "FileReading",
    "FolderLayout",
    "IgnoreRules",
    "OlderVersion",
    "ReadObject",
    "SourceFile",
    "accept",
    "cache_key",
    "faults_at",
    "folders_of",
    "is_build_file",
    "is_folder_file",
    "is_kustomization",
    "is_read",
    "layout_of",
    "manifests_of",
    "parse_file",
    "read_desired",
    "read_file",
    "read_ignore",
    "read_paths",
    "wanted_paths",
]


def parse_file(path: str, content: bytes, *, max_bytes: int = MAX_FILE_BYTES) -> ParsedFile:
    """Read one blob's bytes; `path` must be one that `is_read` takes. Never raises, whatever the bytes."""
    del path  # JSON and YAML are distinguished by their content alone
    return parse_documents(content, max_bytes=max_bytes)


def cache_key(path: str, blob: str) -> str:
    """The key of an encoded parsed file: it names the parser's version, so an entry never goes stale.

    The path is in it as well, so that every path of a commit has its own entry, equal blobs or not.
    """
    return f"parsed-{PARSER_VERSION}-{blob}-{sha256(path.encode()).hexdigest()[:16]}"


def manifests_of(path: str, blob: str, parsed: ParsedFile) -> Iterator[Manifest]:
    """The objects of one file that a snapshot may hold, in document order: a snapshot was judged when it was taken, and
    is restored whatever is a fault by now."""
    for document in parsed.documents:
        body = document.value
        if isinstance(body, dict) and isinstance(body.get("metadata"), dict) and body.get("kind"):
            origin = Origin(path, document.line, blob, document.index)
            yield Manifest(key=key_of(body), body=body, digest=digest_of(body), origin=origin)
