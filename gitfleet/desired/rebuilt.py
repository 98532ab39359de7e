"""What a commit did to kustomizations and to the files that they were built of: why an object is built no more.

Source: decision D31 (what hides files of placed objects is held). kustomize says of no object which file it came from;
a file that holds one of the same kind, whose name is a part of the object's, is taken for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from posixpath import normpath
from typing import Final

from gitfleet.api.faults import Severity
from gitfleet.api.objects import Identity, ObjectKey, key_of
from gitfleet.desired.ignore_rules import IgnoreRules
from gitfleet.desired.paths import (
    BUILD_FILES,
    HELM_IGNORE_FILE,
    area_of,
    folders_of,
    is_build_file,
    is_kustomization,
    read_paths,
)
from gitfleet.desired.request import SYMLINK, DesiredRequest
from gitfleet.formats.limits import MAX_FILE_BYTES
from gitfleet.formats.yaml_reader import parse_documents

_HASH: Final = re.compile("-[2456789bcdfghkmt]{10}$")
"""kustomize api/hasher/hasher.go: a hash in hexadecimal, with letters in the place of 0, 1, 3, a and e."""
_PATCHES: Final = frozenset({"patches", "patchesJson6902", "patchesStrategicMerge"})
_GENERATED: Final = frozenset({("", "ConfigMap"), ("", "Secret")})


def rebuilt_folders(request: DesiredRequest) -> frozenset[str]:
    """The kustomize folders that may yield other objects than at the observed commit: what they are built of changed,
    or they are not built by themselves any more, or were refused in part then."""
    faulty = (fault.path for fault in request.accepted.faults if fault.severity is Severity.ERROR)
    found = {area_of(path) for path in faulty if is_build_file(path)}
    for folder, files in request.built_of.items():
        built = request.built.get(folder)
        is_same = all(path in request.files and request.files[path].blob == blob for path, blob in files.items())
        is_same = is_same and built is not None and not set(built.sources).intersection(request.changed or ())
        if built is None or not built.sources or not is_same:
            found.add(folder)
    return frozenset(found)


def without_hash(identity: Identity, path: str) -> Identity:
    """An object of a file, without what kustomize's generators append to its name."""
    group, kind, namespace, name = identity
    is_generated = (group, kind) in _GENERATED and is_kustomization(path)
    return (group, kind, namespace, _HASH.sub("", name)) if is_generated else identity


class Rebuilt:
    """The files of a commit that were read or built at the observed one, and what the commit reads and builds."""

    def __init__(self, request: DesiredRequest, rules: IgnoreRules) -> None:
        self._request = request
        self._read = read_paths(request.files, rules)
        self._used = self._read.union(*(built.sources for built in request.built.values()))
        before = ((files, request.built.get(folder)) for folder, files in request.built_of.items())
        self._still_used = self._read.union(*(files.keys() & built.sources for files, built in before if built))
        new = {path: request.files[path] for path in request.changed or () if path in request.files}
        self._unread = {
            source.blob: path
            for path, source in sorted(new.items(), reverse=True)
            if path not in self._used and source.mode < SYMLINK
        }
        self._names: dict[str, dict[tuple[str, str], dict[str, str]]] = {}

    def own_file(self, path: str) -> str:
        """The kustomization in the folder of one, whichever of the three names it has or had; another file itself."""
        if not is_build_file(path):
            return path
        folder = area_of(path)
        names = [f"{folder}/{name}" for name in BUILD_FILES]
        known = self._request.built_of.get(folder, {})
        return next((name for name in names if name in self._request.files or name in known), path)

    def moved(self, path: str, blob: str) -> str:
        """Where the bytes of a file, or of a kustomization, stand now that the path has none ("": nowhere, or where
        they are read)."""
        own = self.own_file(path)
        blob = blob or self._request.built_of.get(area_of(path), {}).get(own, "")
        return "" if own in self._request.files else self._unread.get(blob, "")

    def why(self, path: str, identity: Identity) -> str:
        """Why an object that was built or read at a path is not any more, where what it came from is still there; in
        half a sentence, "" where nothing is known."""
        outer = next((folder for folder in folders_of(path) if self._is_built(folder)), None)
        if not is_build_file(path):
            is_unread = path in self._request.files and path not in self._used
            return f"{path} lies below {outer}, which is built without it" if is_unread and outer is not None else ""
        folder, own = area_of(path), self.own_file(path)
        if own not in self._request.files:
            left = next((known for known in self._built_of(folder) if known.startswith(f"{folder}/")), "")
            return f"{own} was removed, and {left}, of which it was built, is still there" if left else ""
        if other := self._part_of(folder):
            return f"{own} is a part of {other} now, and yields nothing by itself"
        if hiding := self._hiding(folder):
            return f"{hiding} hides more of the chart, and {own} yields it no more"
        left = self._source_of(identity, folder)
        return f"{left} is still there, and {own} does not use it any more" if left else ""

    def _hiding(self, folder: str) -> str:
        """The ignore file of a chart that a folder is built of, with a rule that this commit brings; "" for none."""
        built, before = self._request.built.get(folder), self._request.built_of.get(folder, {})
        for path in built.sources if built is not None else ():
            if path.endswith(f"/{HELM_IGNORE_FILE}") and path in (self._request.changed or ()):
                now, was = (
                    self._request.contents(blob) if blob else b""
                    for blob in (self._request.files[path].blob, before.get(path, ""))
                )
                if not set(now.splitlines()) <= set(was.splitlines()):
                    return path
        return ""

    def _is_built(self, folder: str) -> bool:
        built = self._request.built.get(folder)
        return built is not None and bool(built.sources)

    def _part_of(self, folder: str) -> str:
        """The folder that builds on another one, or that it lies in."""
        inside = next((outer for outer in folders_of(folder) if self._is_built(outer)), "")
        built = self._request.built.get(folder)
        is_base = built is not None and not built.sources and not built.why
        users = (other for other, one in sorted(self._request.built.items()) if folder in one.sources)
        return inside or (next(users, "") if is_base else "")

    def _built_of(self, folder: str) -> Iterator[str]:
        """The files, kustomizations left out, of which a folder was built and that are still there."""
        files = self._request.built_of.get(folder, {})
        return (path for path in files if path in self._request.files and not is_build_file(path))

    def _unused(self, folder: str) -> Iterator[str]:
        """Where the files of which a folder was built are now that it does not use them; those that another one still
        uses are left out, and patches: no object comes from one."""
        patches = self._patches(folder)
        yield from (path for path in self._built_of(folder) if path not in self._still_used and path not in patches)
        blobs = self._request.built_of.get(folder, {}).values()
        yield from (self._unread[blob] for blob in blobs if blob in self._unread)

    def _patches(self, folder: str) -> set[str]:
        """The files of which a folder was built that its kustomizations named as patches, and as nothing else."""
        named: dict[bool, set[str]] = {True: set(), False: set()}
        for path, blob in self._request.built_of.get(folder, {}).items():
            content = self._request.contents(blob) if is_kustomization(path) else b""
            for document in parse_documents(content, max_bytes=MAX_FILE_BYTES).documents:
                body = document.value if isinstance(document.value, dict) else {}
                for key, found in body.items():
                    entries = found if isinstance(found, list) else []
                    texts = (one.get("path") if isinstance(one, dict) else one for one in entries)
                    files = {normpath(f"{area_of(path)}/{text}") for text in texts if isinstance(text, str)}
                    named[key in _PATCHES] |= files
        return named[True] - named[False]

    def _source_of(self, identity: Identity, folder: str) -> str:
        """The unused file that an object may have come from, "" for none."""
        if folder not in self._names:
            self._names[folder] = {}
            for path in self._unused(folder):
                for key in self._keys_of(path):
                    self._names[folder].setdefault((key.group, key.kind), {}).setdefault(key.name, path)
        known, name = self._names[folder].get(identity[:2], {}), identity[3]
        for length in sorted({len(one) for one in known}, reverse=True):
            for start in range(len(name) - length + 1):
                if (part := name[start : start + length]) in known:
                    return known[part]
        return ""

    def _keys_of(self, path: str) -> Iterator[ObjectKey]:
        source = self._request.files[path]
        content = b"" if source.parsed else self._request.contents(source.blob)
        parsed = source.parsed or parse_documents(content, max_bytes=MAX_FILE_BYTES)
        for document in parsed.documents:
            body = document.value
            if isinstance(body, dict) and isinstance(body.get("metadata"), dict) and body["metadata"].get("name"):
                yield key_of(body)
