"""Releases of the repo's charts: which files a chart has, and what a release places."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from gitfleet import desired
from gitfleet.api.helm_releases import HelmRelease
from gitfleet.errors import BadInput
from gitfleet.formats.sentences import named_briefly
from gitfleet.formats.sops import is_sops_encrypted
from gitfleet.formats.yaml_reader import Document, ParsedFile
from gitfleet.payload.builds import REGULAR, Listing, parsed_output
from gitfleet.payload.charts import (
    MOST_BYTES,
    at_another_time,
    chart_files,
    differences,
    without_hooks,
    without_secrets,
)
from gitfleet.payload.texts import PayloadText
from gitfleet.ports.helm import Chart, HelmRenderer

_MOST_NAMED: Final = 3
_CRDS: Final = re.compile(r"(?:charts/[^/]+/)*crds/.+\.(?:ya?ml|json)")


@dataclass(frozen=True)
class ChartFolders:
    """The charts of a tree by their folders."""

    listing: Listing

    @cached_property
    def _ordered(self) -> list[str]:
        return sorted(self.listing)

    def files(self, chart: str) -> Iterator[str]:
        """The paths below a chart's folder."""
        prefix = f"{chart}/"
        for position in range(bisect_left(self._ordered, prefix), len(self._ordered)):
            if not self._ordered[position].startswith(prefix):
                return
            yield self._ordered[position]

    def has(self, chart: str) -> bool:
        """Whether a folder is that of a chart."""
        own = posixpath.join(chart, desired.CHART_FILE)
        return own in self.listing and self.listing[own].mode in REGULAR

    def fault(self, chart: str) -> str:
        """Why the chart of a folder cannot be rendered; "" when it can, as far as its files' sizes and modes show."""
        if chart.split("/")[0] == "..":
            return PayloadText.LEADS_OUT_REPO()
        if not self.has(chart):
            return PayloadText.NAMES_NO_NAME_FOLDER_CHART(chart=chart, chart_file=desired.CHART_FILE)
        entries = {path: self.listing[path] for path in self.files(chart)}
        if linked := next((path for path, entry in entries.items() if entry.mode not in REGULAR), None):
            return PayloadText.NAMES_WHERE_NO_FILE(chart=chart, linked=linked)
        if sum(entry.size or 0 for entry in entries.values()) > MOST_BYTES:
            return PayloadText.CHART_MORE_MIB(chart=chart, most_bytes=MOST_BYTES >> 20)
        return ""


def chart_of(release: HelmRelease, namespace: str, files: Mapping[str, bytes], values: Sequence[bytes]) -> Chart:
    """What helm is given for a release: the files of its chart, from the chart's folder on, and its values."""
    return Chart(
        release=release.name,
        namespace=namespace,
        files=chart_files(files),
        values=tuple(values),
        kube_version=release.kube_version,
        api_versions=release.api_versions,
        skip_crds=release.skip_crds,
    )


def refuse_encrypted(values: Mapping[str, bytes]) -> None:
    """BadInput names the first file of values that SOPS encrypted."""
    if encrypted := next((name for name, content in values.items() if _is_encrypted(content)), None):
        raise BadInput(PayloadText.ENCRYPTED_SOPS_NOTHING_DECRYPTED_HELM(encrypted=encrypted))


def _is_encrypted(values: bytes) -> bool:
    documents = desired.parse_file("values.yaml", values).documents if b"sops" in values else ()
    return any(is_sops_encrypted(document.value) for document in documents)


def rendered(
    renderer: HelmRenderer, chart: Chart, folder: str, release: HelmRelease, names: Sequence[str]
) -> ParsedFile:
    """What a release of the chart in a folder places. `names` are those that its values have in the repo.

    It is rendered twice, the second time as if at another moment: one that is not the same is refused, since every
    restart of gitfleet would roll it out again. BadInput is in helm's words, without secrets.
    """
    try:
        first = parsed_output("helm", renderer.render(chart))
        documents = without_hooks(first.documents, release.hooks)
        if unequal := differences(documents, without_hooks(_rendered_again(renderer, chart), release.hooks)):
            named = named_briefly(unequal, _MOST_NAMED)
            raise BadInput(PayloadText.RENDERS_SOMETHING_ELSE_EACH_TIME(chart=folder, named=named))
    except BadInput as error:
        raise BadInput(_shown(error.args[0], chart, names)) from None
    return replace(first, documents=documents)


def definitions(chart: Chart) -> Iterator[Document]:
    """What the crds/ folders of a chart and its subcharts contain: clusters are to have it from elsewhere."""
    for path, content in sorted(chart.files.items()):
        if _CRDS.fullmatch(path):
            yield from desired.parse_file(path, content).documents


def _rendered_again(renderer: HelmRenderer, chart: Chart) -> Sequence[Document]:
    """The documents of a second rendering, at another time where the chart can be told it."""
    later = replace(
        chart,
        files={path: at_another_time(content) for path, content in chart.files.items()},
        values=tuple(map(at_another_time, chart.values)),
    )
    try:
        output = renderer.render(later)
    except BadInput:
        output = renderer.render(chart)
    return parsed_output("helm", output).documents


def _shown(message: str, chart: Chart, names: Sequence[str]) -> str:
    """A message with the names that values have in the repo, if it contains no secret."""
    values = [*zip(names, chart.values, strict=True)]
    own = [(path, text) for path, text in chart.files.items() if posixpath.basename(path) == "values.yaml"]
    for number, name in enumerate(names):
        message = message.replace(f"values/{number}.yaml", name)
    return without_secrets(message, chart.files, [*values, *own])
