"""Helm charts of the repo: which files a release reads, and what is placed of what helm makes of them."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from gitfleet import desired
from gitfleet.api import dotted
from gitfleet.api import read as read_kind
from gitfleet.api.fleet import GITFLEET_GROUP
from gitfleet.api.helm_releases import HELM_RELEASE_FILE, HelmRelease
from gitfleet.errors import BadInput
from gitfleet.formats.canonical_json import canonical_json
from gitfleet.formats.git_lfs import is_lfs_pointer
from gitfleet.formats.sops import is_sops_encrypted
from gitfleet.formats.yaml_reader import Document, LineFault, ParsedFile, lines_of
from gitfleet.payload.builds import (
    REGULAR,
    Listing,
    Outputs,
    ReadBlobs,
    key_of,
    output_of,
    parsed_output,
    refuse_pointers,
    target_of,
)
from gitfleet.payload.charts import (
    MOST_BYTES,
    at_another_time,
    chart_files,
    differences,
    without_hooks,
    without_secrets,
)
from gitfleet.payload.kustomizations import path_fault
from gitfleet.payload.texts import PayloadText
from gitfleet.ports.helm import Chart, HelmRenderer

_API_VERSION: Final = f"{GITFLEET_GROUP}/v1alpha1"
_MOST_NAMED: Final = 3
_NOTHING: Final[Mapping[str, str]] = {}
_CRDS: Final = re.compile(r"(?:charts/[^/]+/)*crds/.+\.(?:ya?ml|json)")
_UNUSED: Final = PayloadText.HELM_CHART_NOTHING_RENDERS(
    helm_release_file=HELM_RELEASE_FILE, ignore_file=desired.IGNORE_FILE
)


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

    A chart yields nothing by itself. A release is rendered twice, the second time as if at another moment: one that is
    not the same is refused, since every restart of gitfleet would roll it out again.
    """

    renderer: HelmRenderer
    _outputs: Outputs = field(default_factory=Outputs)

    @property
    def unfinished(self) -> bool:
        """FolderBuilder.unfinished."""
        return self._outputs.unfinished

    def built(
        self, folders: Collection[str], listing: Listing, read: ReadBlobs, payload: Mapping[str, str] = _NOTHING
    ) -> dict[str, desired.SourceFile]:
        """FolderBuilder.built: an output for each release, nothing for a chart that one renders."""
        self._outputs.start()
        releases = _releases(folders, listing, read)
        for folder, release in releases.items():
            release.settle_namespace(payload.get(folder, ""))
        charts = {release.chart for release in releases.values()}
        is_any = any(release.value is None for release in releases.values())
        made: dict[str, desired.SourceFile] = {}
        for folder in folders:
            if folder in releases:
                made[folder] = self._build(folder, releases[folder], listing, read)
            elif is_any or folder in charts:
                made[folder] = output_of("helm", b"")
            else:
                made[folder] = desired.SourceFile(blob="", why=_UNUSED)
        return made

    def _build(self, folder: str, release: _Release, listing: Listing, read: ReadBlobs) -> desired.SourceFile:
        if release.value is None or release.faults:
            return desired.SourceFile(blob="", parsed=ParsedFile(faults=tuple(sorted(set(release.faults)))))
        key = key_of(f"{folder}\n{release.namespace}", release.paths, listing)
        value, words = release.value, _Words()

        def build() -> desired.SourceFile:
            chart = _chart(folder, value, release, listing, read, words)
            first = parsed_output("helm", self.renderer.render(chart))
            documents = without_hooks(first.documents, value.hooks)
            if unequal := differences(documents, without_hooks(self._again(chart), value.hooks)):
                more = f" and {len(unequal) - _MOST_NAMED} more" if len(unequal) > _MOST_NAMED else ""
                named = ", ".join(unequal[:_MOST_NAMED]) + more
                sentence = PayloadText.RENDERS_SOMETHING_ELSE_EACH_TIME(chart=release.chart, named=named)
                raise BadInput(PayloadText.EVERY_RESTART_SET_VALUES_MAKE(sentence=sentence))
            sources = tuple(sorted((*release.paths, release.chart)))
            parsed = replace(first, documents=documents)
            crds = tuple(_definitions(chart)) if value.skip_crds else ()
            return desired.SourceFile(
                blob="", parsed=parsed, sources=sources, namespace=release.namespace, definitions=crds
            )

        return self._outputs.output(key, build, words.shown)

    def _again(self, chart: Chart) -> Sequence[Document]:
        """The documents of a second rendering, at another time where the chart can be told it."""
        later = replace(
            chart,
            files={path: at_another_time(content) for path, content in chart.files.items()},
            values=tuple(map(at_another_time, chart.values)),
        )
        try:
            output = self.renderer.render(later)
        except BadInput:
            output = self.renderer.render(chart)
        return parsed_output("helm", output).documents


@dataclass(slots=True)
class _Words:
    """What may be shown of helm's words, once it is known what was rendered."""

    chart: Chart | None = None
    names: tuple[str, ...] = ()

    def shown(self, message: str) -> str:
        """A message with the names that values have in the repo, if it contains no secret."""
        if self.chart is None:
            return message
        values = [*zip(self.names, self.chart.values, strict=True)]
        own = [(path, text) for path, text in self.chart.files.items() if posixpath.basename(path) == "values.yaml"]
        for number, name in enumerate(self.names):
            message = message.replace(f"values/{number}.yaml", name)
        return without_secrets(message, self.chart.files, [*values, *own])


def _releases(folders: Collection[str], listing: Listing, read: ReadBlobs) -> dict[str, _Release]:
    files = {folder: posixpath.join(folder, HELM_RELEASE_FILE) for folder in sorted(folders)}
    blobs = {folder: listing[path].oid for folder, path in files.items() if path in listing}
    if not blobs:
        return {}
    contents, ordered = read([*blobs.values()]), sorted(listing)
    return {
        folder: _release(folder, files[folder], contents.get(oid), listing, ordered) for folder, oid in blobs.items()
    }


def _release(folder: str, own: str, content: bytes | None, listing: Listing, ordered: Sequence[str]) -> _Release:
    release = _Release(paths={own})
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
    chart_fault = path_fault(value.chart) or _chart_fault(release.chart, listing)
    below = [] if chart_fault else [path for path in _below(release.chart, ordered) if path != own]
    linked = next((path for path in below if listing[path].mode not in REGULAR), None)
    if chart_fault or linked:
        fault = chart_fault or PayloadText.NAMES_WHERE_NO_FILE(chart=release.chart, linked=linked)
        release.faults.append((lines[0], f"spec.chart: {fault}"))
    elif sum(listing[path].size or 0 for path in below) > MOST_BYTES:
        too_large = PayloadText.SPEC_CHART_MORE_MIB(chart=release.chart, most_bytes=MOST_BYTES >> 20)
        release.faults.append((lines[0], too_large))
    for name in value.values_files:
        target = target_of(folder, name)
        fault = path_fault(name)
        if not fault and (target not in listing or listing[target].mode not in REGULAR):
            fault = PayloadText.NAMES_NO_FILE_REPO(name=name, target=target)
        release.faults += [(lines[1], f"spec.valuesFiles: {fault}")] if fault else []
        release.paths |= set() if fault else {target}
    release.paths |= set(below)
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


def _chart_fault(chart: str, listing: Listing) -> str:
    if chart.split("/")[0] == "..":
        return PayloadText.LEADS_OUT_REPO()
    own = posixpath.join(chart, desired.CHART_FILE)
    if own not in listing or listing[own].mode not in REGULAR:
        return PayloadText.NAMES_NO_NAME_FOLDER_CHART(chart=chart, chart_file=desired.CHART_FILE)
    return ""


def _below(folder: str, ordered: Sequence[str]) -> Iterator[str]:
    """The paths below a folder, of all paths in order."""
    prefix = f"{folder}/"
    for position in range(bisect_left(ordered, prefix), len(ordered)):
        if not ordered[position].startswith(prefix):
            return
        yield ordered[position]


def _definitions(chart: Chart) -> Iterator[Document]:
    """What the crds/ folders of a chart and its subcharts contain: clusters are to have it from elsewhere."""
    for path, content in sorted(chart.files.items()):
        if _CRDS.fullmatch(path):
            yield from desired.parse_file(path, content).documents


def _is_encrypted(values: bytes) -> bool:
    documents = desired.parse_file("values.yaml", values).documents if b"sops" in values else ()
    return any(is_sops_encrypted(document.value) for document in documents)


def _chart(
    folder: str, value: HelmRelease, release: _Release, listing: Listing, read: ReadBlobs, words: _Words
) -> Chart:
    """What helm is given; noted in `words` as far as it is read."""
    names = [target_of(folder, name) for name in value.values_files]
    paths = sorted(release.paths)
    contents = read([listing[path].oid for path in paths])
    if missing := [path for path in paths if listing[path].oid not in contents]:
        raise BadInput(PayloadText.TOO_LARGE_READ_2(missing=missing[0]))
    refuse_pointers({path: contents[listing[path].oid] for path in paths})
    prefix, own = f"{release.chart}/", posixpath.join(folder, HELM_RELEASE_FILE)
    inside = [path for path in paths if path.startswith(prefix) and path != own]
    files = chart_files({path.removeprefix(prefix): contents[listing[path].oid] for path in inside})
    values = [contents[listing[name].oid] for name in names]
    if encrypted := [name for name, text in zip(names, values, strict=True) if _is_encrypted(text)]:
        raise BadInput(PayloadText.ENCRYPTED_SOPS_NOTHING_DECRYPTED_HELM(encrypted=encrypted[0]))
    words.names = (*names, own)
    words.chart = Chart(
        release=value.name,
        namespace=release.namespace,
        files=files,
        values=(*values, canonical_json(dict(value.values))),
        kube_version=value.kube_version,
        api_versions=value.api_versions,
        skip_crds=value.skip_crds,
    )
    return words.chart
