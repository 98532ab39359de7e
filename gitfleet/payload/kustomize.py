"""Which files a kustomization reads, so that only those are given to kustomize and a change elsewhere costs nothing."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from gitfleet import desired
from gitfleet.errors import BadInput
from gitfleet.formats.yaml_reader import Document
from gitfleet.payload.builds import (
    REGULAR,
    Listing,
    Outputs,
    ReadBlobs,
    contents_at,
    key_of,
    namespace_of,
    of_file,
    output_of,
    target_of,
)
from gitfleet.payload.inflation import RESOURCE, Inflation, resource_of, without_marks
from gitfleet.payload.kustomizations import (
    Kustomization,
    PluginFile,
    path_fault,
    read_kustomization,
    read_plugin_file,
    with_resource,
    without_secrets,
)
from gitfleet.payload.releases import ChartFolders, definitions, rendered
from gitfleet.payload.texts import PayloadText
from gitfleet.ports.helm import HelmRenderer
from gitfleet.ports.kustomize import KustomizeBuilder

_MOST_PLUGINS: Final = 10_000
_MOST_NAMESPACES: Final = 2
"""So many are looked for: a base with charts is built for one."""


@dataclass(frozen=True)
class _Tree:
    """The files of a commit, and its charts."""

    listing: Listing
    read: ReadBlobs
    layout: desired.FolderLayout

    @cached_property
    def charts(self) -> ChartFolders:
        """The charts by their folders."""
        return ChartFolders(self.listing)

    def contents(self, paths: Iterable[str]) -> dict[str, bytes]:
        """The files at these paths, as `contents_at`."""
        return contents_at(paths, self.listing, self.read)


@dataclass(slots=True)
class Kustomizer:
    """The FolderBuilder of kustomize folders; an output is kept by the blobs that it was made of."""

    builder: KustomizeBuilder
    renderer: HelmRenderer
    _outputs: Outputs = field(default_factory=Outputs)
    _read: dict[str, Kustomization] = field(default_factory=dict)
    _plugins: dict[str, PluginFile] = field(default_factory=dict)
    _closures: dict[str, _Closure] = field(default_factory=dict)

    @property
    def unfinished(self) -> bool:
        """FolderBuilder.unfinished."""
        return self._outputs.unfinished

    def built(
        self, folders: Collection[str], layout: desired.FolderLayout, listing: Listing, read: ReadBlobs
    ) -> dict[str, desired.SourceFile]:
        """What `DesiredRequest.built` wants: an output for each of the folders of a tree.

        A folder that another kustomization builds on (a base) yields nothing of its own, unless a Folder places
        it. A folder that cannot be built has its reason in `why`; so has one that a kustomization which cannot be read
        may build on.
        """
        self._outputs.start()
        self._closures = {}
        if not folders:
            self._read = {}
            return {}
        tree = _Tree(listing, read, layout)
        self._read_all(listing, read)
        self._closures = closures = {folder: self._closure(folder, tree) for folder in sorted(folders)}
        bases = {base for folder, closure in closures.items() for base in closure.folders if base != folder}
        bases.difference_update(layout.placed)
        made: dict[str, desired.SourceFile] = {}
        for folder, closure in closures.items():
            user = _possible_user(folder, closures)
            if folder in bases:
                made[folder] = output_of("kustomize", b"")
            elif closure.fault or user:
                own = posixpath.join(folder, desired.KUSTOMIZATIONS[0])
                why = closure.reason(own) or PayloadText.NOT_BUILT_BECAUSE_CANNOT_READ(user=user)
                made[folder] = desired.SourceFile(blob="", why=why)
            else:
                made[folder] = self._build(folder, closure, tree)
        return made

    def may_render(self, chart: str) -> bool:
        """Whether a kustomization of the last reading renders the chart of a folder, as far as it can be read."""
        charts = (inflation.path for closure in self._closures.values() for inflation in closure.charts)
        return chart in charts or _possible_user(chart, self._closures) is not None

    def _read_all(self, listing: Listing, read: ReadBlobs) -> None:
        """Know every kustomization of the tree, and no other."""
        files = {path: listing[path].oid for path in listing if desired.is_kustomization(path)}
        missing = sorted({oid for oid in files.values() if oid not in self._read})
        contents = read(missing) if missing else {}
        fresh = {oid: read_kustomization(contents.get(oid)) for oid in missing}
        self._read = {oid: self._read[oid] if oid in self._read else fresh[oid] for oid in files.values()}

    def _closure(self, folder: str, tree: _Tree) -> _Closure:
        closure = _Closure()
        waiting = [folder]
        while waiting:
            current = waiting.pop()
            if current not in closure.folders:
                closure.folders.add(current)
                try:
                    waiting += self._visit(current, closure, tree)
                except BadInput as error:
                    closure.note("", error.args[0])
        return closure

    def _visit(self, folder: str, closure: _Closure, tree: _Tree) -> list[str]:
        """Add what one kustomization names; the folders it builds on. A fault is noted, the rest is read still."""
        listing = tree.listing
        own = next((path for name in desired.KUSTOMIZATIONS if (path := posixpath.join(folder, name)) in listing), None)
        if own is None:
            raise BadInput(PayloadText.HOLDS_NO_KUSTOMIZATION_YAML(folder=folder))
        closure.paths.add(own)
        kustomization = self._read[listing[own].oid]
        closure.rewritten[own] = kustomization.canonical
        if kustomization.fault or listing[own].mode not in REGULAR:
            closure.unread[own] = kustomization
            closure.note(own, kustomization.fault or PayloadText.NO_ORDINARY_FILE_2())
            return []
        further: list[str] = []
        references = [*kustomization.references, *kustomization.plugins]
        charts = [Inflation(folder=folder, written=own, chart=c, inherits=True) for c in kustomization.charts]
        for plugin in kustomization.plugins:
            if (target := target_of(folder, plugin)) in listing:
                plugin_file = self._plugin_file(listing[target].oid, tree.read)
                references += plugin_file.references
                closure.rewritten[target] = plugin_file.canonical
                closure.note(target, plugin_file.fault_in(plugin in kustomization.generators))
                charts += (Inflation(folder=folder, written=target, chart=c) for c in plugin_file.charts)
        for reference in references:
            target = target_of(folder, reference)
            is_plugin = reference in kustomization.plugins
            fault = path_fault(reference) or _place_fault(reference, target, listing, is_plugin)
            closure.note(own, fault)
            if not fault and target in listing:
                closure.paths.add(target)
            elif not fault:
                further.append(target)
        for inflation in charts:
            closure.note(inflation.written, inflation.fault(tree.charts))
        closure.charts += charts
        closure.rewritten[own] = with_resource(kustomization.canonical, RESOURCE) if charts else kustomization.canonical
        closure.builds_on[folder] = (kustomization.namespace, tuple(further))
        return further

    def _plugin_file(self, oid: str, read: ReadBlobs) -> PluginFile:
        if oid not in self._plugins:
            self._plugins = {} if len(self._plugins) > _MOST_PLUGINS else self._plugins
            content = read([oid]).get(oid)
            too_large = PluginFile(fault=PayloadText.TOO_LARGE_READ())
            self._plugins[oid] = too_large if content is None else read_plugin_file(content)
        return self._plugins[oid]

    def _build(self, folder: str, closure: _Closure, tree: _Tree) -> desired.SourceFile:
        of_charts = {path for inflation in closure.charts for path in inflation.paths(tree.charts)}
        namespace = namespace_of(tree.layout, folder) if closure.charts else ""
        key = key_of(f"{folder}\n{namespace}" if closure.charts else folder, closure.paths | of_charts, tree.listing)
        files: dict[str, bytes] = {}

        def build() -> desired.SourceFile:
            contents = tree.contents(closure.paths)
            objects, crds = self._rendered(folder, closure, tree.contents(of_charts), namespace)
            # From here on kustomize's words are shown, unless they contain a secret of these files.
            files.update(contents | objects)
            built = self.builder.build(folder, files | closure.rewritten)
            charts = {inflation.path for inflation in closure.charts}
            output = output_of("kustomize", built, closure.paths | of_charts | closure.folders | charts)
            if output.parsed is not None and charts:
                own, _ = closure.builds_on[
                    folder
                ]  # older kustomizes give it to the objects of charts, newer ones do not
                output = replace(output, parsed=without_marks(output.parsed), namespace=own, definitions=crds)
            return output

        return self._outputs.output(key, build, lambda message: without_secrets(message, folder, files))

    def _rendered(
        self, root: str, closure: _Closure, contents: Mapping[str, bytes], fallback: str
    ) -> tuple[dict[str, bytes], tuple[Document, ...]]:
        """What kustomize gets of the charts, by path, and the CRDs that these leave out."""
        documents: dict[str, list[Document]] = {}
        crds: list[Document] = []
        namespaces = closure.namespaces(root)
        for inflation in closure.charts:
            namespace = inflation.namespace(namespaces[inflation.folder]) or fallback or "default"
            chart, names = inflation.rendering(namespace, contents)
            placed = rendered(self.renderer, chart, inflation.path, inflation.chart.release, names).documents
            documents.setdefault(posixpath.join(inflation.folder, RESOURCE), []).extend(placed)
            crds += definitions(chart) if chart.skip_crds else ()
        return {path: resource_of(placed) for path, placed in documents.items()}, tuple(crds)


@dataclass(slots=True)
class _Closure:
    """The files that a build may read, those of them that are given to kustomize in other words, the folders it goes
    through, the kustomizations on the way that do not say what they read, and the charts. `builds_on` has the namespace
    of each kustomization, and the folders that it names."""

    paths: set[str] = field(default_factory=set)
    rewritten: dict[str, bytes] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    unread: dict[str, Kustomization] = field(default_factory=dict)
    charts: list[Inflation] = field(default_factory=list)
    builds_on: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    fault: str = ""
    faulty_file: str = ""

    def note(self, path: str, fault: str) -> None:
        """Take the first fault, and the file that it is of; "" where the fault names it itself."""
        if not self.fault:
            self.fault, self.faulty_file = fault, path

    def reason(self, reported_at: str) -> str:
        """The fault for a message about one file, with the path of the faulty one where that is another."""
        return self.fault if self.faulty_file in ("", reported_at) else of_file(self.faulty_file, self.fault)

    def namespaces(self, root: str) -> dict[str, set[str]]:
        """The namespaces with which each kustomization is built: its own, or else those of what builds on it. Of
        several, two."""
        namespaces: dict[str, set[str]] = {folder: set() for folder in self.builds_on}
        waiting = [(root, "")]
        while waiting:
            folder, outer = waiting.pop()
            own, further = self.builds_on[folder]
            namespace, seen = own or outer, namespaces[folder]
            if namespace not in seen and len(seen) < _MOST_NAMESPACES:
                seen.add(namespace)
                waiting += [(base, namespace) for base in further]
        return namespaces


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
