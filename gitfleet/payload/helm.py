"""Helm charts of the repo: which files a release reads, and what is placed of what helm makes of them."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

from gitfleet import desired
from gitfleet.api import dotted
from gitfleet.api import read as read_kind
from gitfleet.api.fleet import GITFLEET_GROUP
from gitfleet.api.helm_releases import HELM_RELEASE_FILE, HelmRelease
from gitfleet.formats.canonical_json import canonical_json
from gitfleet.formats.git_lfs import is_lfs_pointer
from gitfleet.formats.yaml_reader import LineFault, ParsedFile, lines_of
from gitfleet.payload.builds import (
    REGULAR,
    Listing,
    Outputs,
    ReadBlobs,
    contents_at,
    key_of,
    namespace_of,
    target_of,
)
from gitfleet.payload.kustomizations import path_fault
from gitfleet.payload.releases import ChartFolders, chart_of, definitions, refuse_encrypted, rendered
from gitfleet.payload.texts import PayloadText
from gitfleet.ports.helm import Chart, HelmRenderer

_API_VERSION: Final = f"{GITFLEET_GROUP}/v1alpha1"


@dataclass(slots=True)
class _Release:
    """What one file asks for: the files that are read for it, or why it cannot be rendered."""

    value: HelmRelease | None = None
    chart: str = ""
    paths: set[str] = field(default_factory=set)
    faults: list[LineFault] = field(default_factory=list)
    namespace: str = ""
    metadata_line: int = 1

    def settle_namespace(self, of_folder: str) -> None:
        """Take the namespace that the file names, or that of the Folder."""
        self.namespace = (self.value.namespace if self.value is not None else None) or of_folder
        if self.value is not None and not self.namespace:
            self.faults.append((self.metadata_line, PayloadText.RELEASE_NEEDS_NAMESPACE()))


@dataclass(slots=True)
class Charts:
    """The FolderBuilder of Helm releases; an output is kept by the blobs that it was made of.

    A chart yields nothing by itself.
    """

    renderer: HelmRenderer
    _outputs: Outputs = field(default_factory=Outputs)
    _releases: dict[str, _Release] = field(default_factory=dict)

    @property
    def unfinished(self) -> bool:
        """FolderBuilder.unfinished."""
        return self._outputs.unfinished

    def built(
        self, folders: Collection[str], layout: desired.FolderLayout, listing: Listing, read: ReadBlobs
    ) -> dict[str, desired.SourceFile]:
        """FolderBuilder.built: an output for each release."""
        self._outputs.start()
        self._releases = releases = _releases(folders, listing, read)
        for folder, release in releases.items():
            release.settle_namespace(namespace_of(layout, folder))
        return {folder: self._build(folder, release, listing, read) for folder, release in releases.items()}

    def may_render(self, chart: str) -> bool:
        """FolderBuilder.may_render."""
        return any(release.value is None or release.chart == chart for release in self._releases.values())

    def _build(self, folder: str, release: _Release, listing: Listing, read: ReadBlobs) -> desired.SourceFile:
        if release.value is None or release.faults:
            return desired.SourceFile(blob="", parsed=ParsedFile(faults=tuple(sorted(set(release.faults)))))
        key = key_of(f"{folder}\n{release.namespace}", release.paths, listing)
        value = release.value

        def build() -> desired.SourceFile:
            chart, names = _chart(folder, value, release, listing, read)
            parsed = rendered(self.renderer, chart, release.chart, value, names)
            sources = tuple(sorted((*release.paths, release.chart)))
            crds = tuple(definitions(chart)) if value.skip_crds else ()
            return desired.SourceFile(
                blob="", parsed=parsed, sources=sources, namespace=release.namespace, definitions=crds
            )

        return self._outputs.output(key, build)


def _releases(folders: Collection[str], listing: Listing, read: ReadBlobs) -> dict[str, _Release]:
    files = {folder: posixpath.join(folder, HELM_RELEASE_FILE) for folder in sorted(folders)}
    blobs = {folder: listing[path].oid for folder, path in files.items() if path in listing}
    if not blobs:
        return {}
    contents, charts = read([*blobs.values()]), ChartFolders(listing)
    return {folder: _release(folder, files[folder], contents.get(oid), charts) for folder, oid in blobs.items()}


def _release(folder: str, own: str, content: bytes | None, charts: ChartFolders) -> _Release:
    release, listing = _Release(paths={own}), charts.listing
    if listing[own].mode not in REGULAR:
        release.faults.append((1, PayloadText.NO_ORDINARY_FILE()))
        return release
    value = _read_release(content, release.faults)
    if value is None:
        return release
    release.value = value
    places = (("spec", "chart"), ("spec", "valuesFiles"), ("metadata",))
    *lines, release.metadata_line = lines_of(content or b"", [(0, place) for place in places])
    release.chart = target_of(folder, value.chart)
    if chart_fault := path_fault(value.chart) or charts.fault(release.chart):
        release.faults.append((lines[0], f"spec.chart: {chart_fault}"))
    else:
        release.paths |= set(charts.files(release.chart))
    for name in value.values_files:
        target = target_of(folder, name)
        fault = path_fault(name)
        if not fault and (target not in listing or listing[target].mode not in REGULAR):
            fault = PayloadText.NAMES_NO_FILE_REPO(name=name, target=target)
        release.faults += [(lines[1], f"spec.valuesFiles: {fault}")] if fault else []
        release.paths |= set() if fault else {target}
    return release


def _read_release(content: bytes | None, faults: list[LineFault]) -> HelmRelease | None:
    """The typed file; None with all that is wrong with it."""
    if content is None:
        faults.append((1, PayloadText.TOO_LARGE_READ()))
        return None
    if is_lfs_pointer(content):
        faults.append((1, PayloadText.GIT_LFS_POINTER()))
        return None
    parsed = desired.parse_file(HELM_RELEASE_FILE, content)
    if parsed.faults:
        faults += parsed.faults
        return None
    body = parsed.documents[0].value if len(parsed.documents) == 1 else None
    if not isinstance(body, dict) or (body.get("apiVersion"), body.get("kind")) != (_API_VERSION, "HelmRelease"):
        faults.append((1, PayloadText.MUST_HOLD_ONE_OBJECT(api_version=_API_VERSION)))
        return None
    value, breaks = read_kind(HelmRelease, body)
    lines = lines_of(content, [(0, location) for location, _ in breaks])
    faults += [(line, f"{dotted(at)}: {sentence}") for line, (at, sentence) in zip(lines, breaks, strict=True)]
    return None if breaks else value


def _chart(
    folder: str, value: HelmRelease, release: _Release, listing: Listing, read: ReadBlobs
) -> tuple[Chart, Sequence[str]]:
    """What helm is given, and the names of its values."""
    names = [target_of(folder, name) for name in value.values_files]
    files = contents_at(release.paths, listing, read)
    refuse_encrypted({name: files[name] for name in names})
    prefix, own = f"{release.chart}/", posixpath.join(folder, HELM_RELEASE_FILE)
    inside = {
        path.removeprefix(prefix): text for path, text in files.items() if path.startswith(prefix) and path != own
    }
    values = [*(files[name] for name in names), canonical_json(dict(value.values))]
    return chart_of(value, release.namespace, inside, values), [*names, own]
