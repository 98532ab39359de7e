"""Which files a kustomization reads, so that only those are given to kustomize and a change elsewhere costs nothing."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from gitfleet import desired
from gitfleet.errors import BadInput
from gitfleet.payload.builds import (
    REGULAR,
    Listing,
    Outputs,
    ReadBlobs,
    key_of,
    of_file,
    output_of,
    refuse_pointers,
    target_of,
)
from gitfleet.payload.kustomizations import (
    Kustomization,
    PluginFile,
    path_fault,
    read_kustomization,
    read_plugin_file,
    without_secrets,
)
from gitfleet.payload.texts import PayloadText
from gitfleet.ports.kustomize import KustomizeBuilder

_MOST_PLUGINS: Final = 10_000
_NOTHING: Final[Mapping[str, str]] = {}


@dataclass(slots=True)
class Kustomizer:
    """The FolderBuilder of kustomize folders; an output is kept by the blobs that it was made of."""

    builder: KustomizeBuilder
    _outputs: Outputs = field(default_factory=Outputs)
    _read: dict[str, Kustomization] = field(default_factory=dict)
    _plugins: dict[str, PluginFile] = field(default_factory=dict)

    @property
    def unfinished(self) -> bool:
        """FolderBuilder.unfinished."""
        return self._outputs.unfinished

    def built(
        self, folders: Collection[str], listing: Listing, read: ReadBlobs, payload: Mapping[str, str] = _NOTHING
    ) -> dict[str, desired.SourceFile]:
        """What `DesiredRequest.built` wants: an output for each of the folders of a tree.

        A folder that another kustomization builds on (a base) yields nothing of its own, unless it is `payload`. A
        folder that cannot be built has its reason in `why`; so has one that a kustomization which cannot be read may
        build on.
        """
        self._outputs.start()
        if not folders:
            self._read = {}
            return {}
        self._read_all(listing, read)
        closures = {folder: self._closure(folder, listing, read) for folder in sorted(folders)}
        bases = {base for folder, closure in closures.items() for base in closure.folders if base != folder}
        bases.difference_update(payload)
        made: dict[str, desired.SourceFile] = {}
        for folder, closure in closures.items():
            user = _possible_user(folder, closures)
            if folder in bases:
                made[folder] = output_of("kustomize", b"")
            elif closure.fault or user:
                why = closure.fault or PayloadText.NOT_BUILT_BECAUSE_CANNOT_READ(user=user)
                made[folder] = desired.SourceFile(blob="", why=why)
            else:
                made[folder] = self._build(folder, closure, listing, read)
        return made

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
            current = waiting.pop()
            if current not in closure.folders:
                closure.folders.add(current)
                try:
                    waiting += self._visit(current, closure, listing, read)
                except BadInput as error:
                    closure.fault = closure.fault or error.args[0]
        return closure

    def _visit(self, folder: str, closure: _Closure, listing: Listing, read: ReadBlobs) -> list[str]:
        """Add what one kustomization names; the folders it builds on. A fault is noted, the rest is read still."""
        own = next((path for name in desired.KUSTOMIZATIONS if (path := posixpath.join(folder, name)) in listing), None)
        if own is None:
            raise BadInput(PayloadText.HOLDS_NO_KUSTOMIZATION_YAML(folder=folder))
        closure.paths.add(own)
        kustomization = self._read[listing[own].oid]
        closure.rewritten[own] = kustomization.canonical
        if kustomization.fault or listing[own].mode not in REGULAR:
            closure.unread[own] = kustomization
            raise BadInput(of_file(own, kustomization.fault or PayloadText.NO_ORDINARY_FILE_2()))
        further: list[str] = []
        references = [*kustomization.references, *kustomization.plugins]
        for plugin in kustomization.plugins:
            target = target_of(folder, plugin)
            if target in listing:
                plugin_file = self._plugin_file(listing[target].oid, read)
                references += plugin_file.references
                closure.rewritten[target] = plugin_file.canonical
                closure.fault = closure.fault or (plugin_file.fault and of_file(target, plugin_file.fault))
        for reference in references:
            target = target_of(folder, reference)
            fault = path_fault(reference) or _place_fault(
                reference, target, listing, reference in kustomization.plugins
            )
            if fault:
                closure.fault = closure.fault or of_file(own, fault)
            elif target in listing:
                closure.paths.add(target)
            else:
                further.append(target)
        return further

    def _plugin_file(self, oid: str, read: ReadBlobs) -> PluginFile:
        if oid not in self._plugins:
            self._plugins = {} if len(self._plugins) > _MOST_PLUGINS else self._plugins
            content = read([oid]).get(oid)
            too_large = PluginFile(fault=PayloadText.TOO_LARGE_READ())
            self._plugins[oid] = too_large if content is None else read_plugin_file(content)
        return self._plugins[oid]

    def _build(self, folder: str, closure: _Closure, listing: Listing, read: ReadBlobs) -> desired.SourceFile:
        key = key_of(folder, closure.paths, listing)
        files: dict[str, bytes] = {}

        def build() -> desired.SourceFile:
            contents = read([listing[path].oid for path in sorted(closure.paths)])
            files.update({path: contents[listing[path].oid] for path in closure.paths if listing[path].oid in contents})
            left_out = sorted(closure.paths - files.keys())
            if left_out:
                raise BadInput(PayloadText.TOO_LARGE_READ_2(missing=left_out[0]))
            refuse_pointers(files)
            built = self.builder.build(folder, files | closure.rewritten)
            return output_of("kustomize", built, closure.paths | closure.folders)

        return self._outputs.output(key, build, lambda message: without_secrets(message, folder, files))


@dataclass(slots=True)
class _Closure:
    """The files that a build may read, those of them that are given to kustomize in other words, the folders it goes
    through, and the kustomizations on the way that do not say what they read."""

    paths: set[str] = field(default_factory=set)
    rewritten: dict[str, bytes] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    unread: dict[str, Kustomization] = field(default_factory=dict)
    fault: str = ""


def _place_fault(reference: str, target: str, listing: Listing, is_plugin: bool) -> str:
    """Why the file or folder that a path leads to is not used; "" when it is one of the repo."""
    if target.split("/")[0] == "..":
        return PayloadText.NAMES_ONLY_FILES_REPO_BUILT(reference=reference)
    if target in listing:
        return "" if listing[target].mode in REGULAR else PayloadText.NAMES_NO_ORDINARY_FILE(target=target)
    if is_plugin:
        return PayloadText.NAMES_PLUG_CONFIGURATION(target=target)
    if any(posixpath.join(target, name) in listing for name in desired.KUSTOMIZATIONS):
        return ""
    return PayloadText.NAMES_NOT_REPO(target=target)


def _possible_user(folder: str, closures: Mapping[str, _Closure]) -> str | None:
    """A kustomization elsewhere that cannot be read and may build on a folder, as far as its text shows."""
    name = posixpath.basename(folder).encode()
    for root, closure in closures.items():
        for path, kustomization in closure.unread.items():
            if root != folder and path.rpartition("/")[0] != folder and kustomization.may_name(name):
                return path
    return None
