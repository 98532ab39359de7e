"""Which files a kustomization reads, so that only those are given to kustomize and a change elsewhere costs nothing."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Final

from gitfleet import desired
from gitfleet.errors import BadInput, GitfleetError, RetryLater
from gitfleet.formats.limits import MAX_STATE_BYTES
from gitfleet.formats.yaml_reader import ParsedFile
from gitfleet.loop.kustomize_files import (
    Kustomization,
    PluginFile,
    read_kustomization,
    read_plugin_file,
    without_secrets,
)
from gitfleet.loop.kustomize_rules import path_fault
from gitfleet.ports.kustomize import KustomizeBuilder
from gitfleet.ports.repos import TreeEntry

_REGULAR: Final = ("100644", "100755")
_MOST_PLUGINS: Final = 10_000
ReadBlobs = Callable[[list[str]], Mapping[str, bytes]]
Listing = Mapping[str, TreeEntry]


@dataclass(slots=True)
class Kustomizer:
    """Builds the kustomize folders of a tree; an output is kept by the blobs that it was made of, for as long as
    one of the two newest trees has it. `unfinished` says that the last reading had a build that may succeed if it is
    tried again."""

    builder: KustomizeBuilder
    unfinished: bool = False
    _outputs: dict[str, desired.SourceFile] = field(default_factory=dict)
    _before: dict[str, desired.SourceFile] = field(default_factory=dict)
    _read: dict[str, Kustomization] = field(default_factory=dict)
    _plugins: dict[str, PluginFile] = field(default_factory=dict)

    def built(self, folders: Collection[str], listing: Listing, read: ReadBlobs) -> dict[str, desired.SourceFile]:
        """What `DesiredRequest.built` wants: an output for each of the folders of a tree.

        A folder that another kustomization builds on (a base) yields nothing of its own. A folder that cannot be built
        has its reason in `why`; so has one that a kustomization which cannot be read may build on.
        """
        self.unfinished = False
        if not folders:
            self._outputs, self._before, self._read = {}, {}, {}
            return {}
        closures, bases = self._closures(folders, listing, read)
        before, self._before, self._outputs = self._before, self._outputs, {}
        made: dict[str, desired.SourceFile] = {}
        for folder, closure in closures.items():
            user = _possible_user(folder, closures)
            if folder in bases:
                made[folder] = _output(b"")
            elif closure.fault or user:
                why = closure.fault or f"was not built, because {user} cannot be read and may build on this folder"
                made[folder] = desired.SourceFile(blob="", why=why)
            else:
                made[folder] = self._build(folder, closure, listing, read, before)
        return made

    def made_of(self, folders: Collection[str], listing: Listing, read: ReadBlobs) -> dict[str, dict[str, str]]:
        """The files, with their blobs, of which the folders of an older tree were built, those of bases left out."""
        closures, bases = self._closures(folders, listing, read)
        made = {folder: closure.paths for folder, closure in closures.items() if folder not in bases}
        return {folder: {path: listing[path].oid for path in sorted(paths)} for folder, paths in made.items()}

    def _closures(
        self, folders: Collection[str], listing: Listing, read: ReadBlobs
    ) -> tuple[dict[str, _Closure], set[str]]:
        """What each of the folders of a tree is built of, and which of them others build on."""
        self._read_all(listing, read)
        closures = {folder: self._closure(folder, listing, read) for folder in sorted(folders)}
        return closures, {base for folder, closure in closures.items() for base in closure.folders if base != folder}

    def _read_all(self, listing: Listing, read: ReadBlobs) -> None:
        """Know every kustomization of the tree, and no other."""
        files = {path: listing[path].oid for path in listing if desired.is_kustomization(path)}
        missing = sorted({oid for oid in files.values() if oid not in self._read})
        contents = read(missing) if missing else {}
        fresh = {oid: read_kustomization(contents.get(oid)) for oid in missing}
        self._read = {oid: self._read[oid] if oid in self._read else fresh[oid] for oid in files.values()}

    def _closure(self, folder: str, listing: Listing, read: ReadBlobs) -> _Closure:
        closure = _Closure()
        waiting = [folder]
        while waiting:
            here = waiting.pop()
            if here not in closure.folders:
                closure.folders.add(here)
                try:
                    waiting += self._visit(here, closure, listing, read)
                except BadInput as error:
                    closure.fault = closure.fault or str(error)
        return closure

    def _visit(self, folder: str, closure: _Closure, listing: Listing, read: ReadBlobs) -> list[str]:
        """Add what one kustomization names; the folders it builds on. A fault is noted, the rest is read still."""
        own = next((path for name in desired.KUSTOMIZATIONS if (path := posixpath.join(folder, name)) in listing), None)
        if own is None:
            raise BadInput(f"{folder} holds no kustomization.yaml")
        closure.paths.add(own)
        kustomization = self._read[listing[own].oid]
        closure.rewritten[own] = kustomization.canonical
        if kustomization.fault or listing[own].mode not in _REGULAR:
            closure.unread[own] = kustomization
            raise BadInput(f"{own} {kustomization.fault or 'is no ordinary file'}")
        further: list[str] = []
        references = [*kustomization.references, *kustomization.plugins]
        for plugin in kustomization.plugins:
            target = _target(folder, plugin)
            if target in listing:
                plugin_file = self._plugin_file(listing[target].oid, read)
                references += plugin_file.references
                closure.rewritten[target] = plugin_file.canonical
                closure.fault = closure.fault or (plugin_file.fault and f"{target} {plugin_file.fault}")
        for reference in references:
            target = _target(folder, reference)
            fault = path_fault(reference) or _place_fault(
                reference, target, listing, reference in kustomization.plugins
            )
            if fault:
                closure.fault = closure.fault or f"{own} {fault}"
            elif target in listing:
                closure.paths.add(target)
            else:
                further.append(target)
        return further

    def _plugin_file(self, oid: str, read: ReadBlobs) -> PluginFile:
        if oid not in self._plugins:
            self._plugins = {} if len(self._plugins) > _MOST_PLUGINS else self._plugins
            content = read([oid]).get(oid)
            too_large = PluginFile(fault="is too large to be read")
            self._plugins[oid] = too_large if content is None else read_plugin_file(content)
        return self._plugins[oid]

    def _build(
        self,
        folder: str,
        closure: _Closure,
        listing: Listing,
        read: ReadBlobs,
        before: Mapping[str, desired.SourceFile],
    ) -> desired.SourceFile:
        named = "\n".join(f"{path} {listing[path].oid}" for path in sorted(closure.paths))
        key = sha256(f"{folder}\n{named}".encode()).hexdigest()
        output = self._before.get(key) or before.get(key)
        if output is None:
            contents = read([listing[path].oid for path in sorted(closure.paths)])
            files = {path: contents[listing[path].oid] for path in closure.paths if listing[path].oid in contents}
            try:
                left_out = sorted(closure.paths - files.keys())
                if left_out:
                    raise BadInput(f"{left_out[0]} is too large to be read")
                output = _output(self.builder.build(folder, files | closure.rewritten), closure)
            except RetryLater as error:
                self.unfinished = True
                return desired.SourceFile(blob="", why=str(error))
            except GitfleetError as error:
                output = desired.SourceFile(blob="", why=without_secrets(str(error), folder, files))
        self._outputs[key] = output
        return output


@dataclass(slots=True)
class _Closure:
    """The files that a build may read, those of them that are given to kustomize in other words, the folders it goes
    through, and the kustomizations on the way that do not say what they read."""

    paths: set[str] = field(default_factory=set)
    rewritten: dict[str, bytes] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    unread: dict[str, Kustomization] = field(default_factory=dict)
    fault: str = ""


def _target(folder: str, reference: str) -> str:
    return posixpath.normpath(posixpath.join(folder, reference))


def _place_fault(reference: str, target: str, listing: Listing, is_plugin: bool) -> str:
    """Why the file or folder that a path leads to is not used; "" when it is one of the repo."""
    if target.split("/")[0] == "..":
        return f'names "{reference}": only files of this repo are built, nothing is fetched'
    if target in listing:
        return "" if listing[target].mode in _REGULAR else f"names {target}, which is no ordinary file"
    if is_plugin:
        return f"names {target} as a plug-in's configuration, which must be a file of this repo"
    if any(posixpath.join(target, name) in listing for name in desired.KUSTOMIZATIONS):
        return ""
    return f"names {target}, which is not in the repo"


def _possible_user(folder: str, closures: Mapping[str, _Closure]) -> str | None:
    """A kustomization elsewhere that cannot be read and may build on a folder, as far as its text shows."""
    name = posixpath.basename(folder).encode()
    for other, closure in closures.items():
        for path, kustomization in closure.unread.items():
            if other != folder and path.rpartition("/")[0] != folder and kustomization.may_name(name):
                return path
    return None


def _output(content: bytes, closure: _Closure | None = None) -> desired.SourceFile:
    """kustomize's output as one file. Its lines are nowhere in the repo, so every document stands on line 1."""
    parsed = desired.parse_file("kustomization.yaml", content, max_bytes=MAX_STATE_BYTES)
    documents = tuple(replace(document, line=1) for document in parsed.documents)
    faults = tuple((1, f"kustomize's output: {message}") for _, message in parsed.faults)
    parsed = ParsedFile(documents, tuple(sorted(set(faults))))
    sources = tuple(sorted(closure.paths | closure.folders)) if closure is not None else ()
    return desired.SourceFile(blob="", size=len(content), parsed=parsed, sources=sources)
