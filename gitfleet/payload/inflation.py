"""Charts that kustomizations name: gitfleet renders them as releases, and gives kustomize the objects as a resource.

They are marked as kustomize marks its own (api/konfig/general.go), which leaves their namespaces as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from gitfleet import desired
from gitfleet.api.inflated_charts import InflatedChart, ValuesMerge
from gitfleet.api.texts import ApiText
from gitfleet.api.values import is_namespace_name
from gitfleet.errors import BadInput
from gitfleet.formats.canonical_json import canonical_json
from gitfleet.formats.json_values import section
from gitfleet.formats.sentences import named_briefly
from gitfleet.formats.yaml_reader import Document, ParsedFile
from gitfleet.payload.builds import REGULAR, Listing, of_file, target_of
from gitfleet.payload.charts import without_annotation
from gitfleet.payload.kustomizations import path_fault, stream_of
from gitfleet.payload.releases import ChartFolders, chart_of, refuse_encrypted
from gitfleet.payload.texts import PayloadText
from gitfleet.ports.helm import Chart

RESOURCE: Final = ".gitfleet-charts.yaml"
"""The file beside a kustomization in which it gets the objects of its charts."""
_MOST_NAMED: Final = 3
_MARK: Final = "internal.config.kubernetes.io/helm-generated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inflation:
    """A chart of the kustomization in a folder, as the file `written` has it; `inherits`: its namespace may be that of
    the kustomization."""

    folder: str
    written: str
    chart: InflatedChart
    inherits: bool = False

    @property
    def path(self) -> str:
        """The folder of the chart."""
        return target_of(self.folder, self.chart.path)

    @property
    def values_files(self) -> list[str]:
        """The files of values beside the chart's own."""
        return [target_of(self.folder, name) for name in self.chart.values_files]

    def fault(self, charts: ChartFolders) -> str:
        """Why the chart cannot be rendered, as far as the files' names and modes show; "" when it can."""
        chart = self.chart
        if fault := next(filter(None, map(path_fault, (chart.path, *chart.values_files))), ""):
            return fault
        if self.path.split("/")[0] != ".." and not charts.has(self.path):
            return PayloadText.CHART_NOT_IN_REPO(name=chart.name, folder=self.path)
        missing = (
            PayloadText.NAMES_NO_FILE_REPO(name=name, target=target)
            for name, target in zip(chart.values_files, self.values_files, strict=True)
            if not _is_file(target, charts.listing)
        )
        return charts.fault(self.path) or next(missing, "")

    def paths(self, charts: ChartFolders) -> set[str]:
        """The files that are read for it."""
        return {*charts.files(self.path), *self.values_files}

    def namespace(self, inherited: Collection[str]) -> str:
        """The namespace that the chart names, or the one with which the kustomization is built; "" where none does."""
        if self.chart.namespace or not self.inherits:
            return self.chart.namespace or ""
        if len(inherited) > 1:
            named = named_briefly(sorted(inherited), _MOST_NAMED)
            raise BadInput(of_file(self.written, PayloadText.CHART_IN_SEVERAL_NAMESPACES(namespaces=named)))
        (namespace,) = inherited
        if namespace and not is_namespace_name(namespace):
            problem = ApiText.MUST_LOWER_CASE_LETTERS_DIGITS_DASHES_MOST()
            raise BadInput(of_file(self.written, PayloadText.CHART_FIELD(field="namespace", problem=problem)))
        return namespace

    def rendering(self, namespace: str, contents: Mapping[str, bytes]) -> tuple[Chart, list[str]]:
        """What helm is given, and the names of its values."""
        names = self.values_files
        refuse_encrypted({name: contents[name] for name in names})
        values = [contents[name] for name in names]
        if self.chart.values_inline:
            replaced = slice(1 if self.chart.values_file else 0)
            names[replaced], values[replaced] = [f"{self.written} valuesInline"], [self._merged_values(contents)]
        prefix = f"{self.path}/"
        files = {path.removeprefix(prefix): text for path, text in contents.items() if path.startswith(prefix)}
        return chart_of(self.chart.release, namespace, files, values), names

    def _merged_values(self, contents: Mapping[str, bytes]) -> bytes:
        """The inline values with those of `valuesFile`, or of the chart."""
        inline, merge = self.chart.values_inline, self.chart.values_merge
        if merge is ValuesMerge.REPLACE:
            return canonical_json(inline)
        path = target_of(self.folder, self.chart.values_file or f"{self.chart.path}/values.yaml")
        parsed = desired.parse_file(path, contents.get(path, b""))
        if parsed.faults:
            line, message = parsed.faults[0]
            raise BadInput(of_file(path, PayloadText.CANNOT_READ_LINE(line=line, message=message)))
        body = parsed.documents[0].value if parsed.documents else None
        values = section(body)
        return canonical_json(_over(inline, values) if merge is ValuesMerge.OVERRIDE else _over(values, inline))


def _is_file(path: str, listing: Listing) -> bool:
    return path in listing and listing[path].mode in REGULAR


def _over(winner: Mapping[str, Any], loser: Mapping[str, Any]) -> dict[str, Any]:
    """The values of both, as kustomize merges them (kyaml/yaml/merge2): a list is one value, null removes one."""
    values = {key: value for key, value in loser.items() if key not in winner}
    for key, value in winner.items():
        if isinstance(value, Mapping):
            values[key] = _over(value, section(loser, key))
        elif value is not None:
            values[key] = value
    return values


def resource_of(documents: Iterable[Document]) -> bytes:
    """The objects of charts as kustomize gets them."""
    return stream_of(_marked(document.value) for document in documents)


def _marked(body: Any) -> Any:
    metadata = section(body, "metadata")
    annotations = metadata.get("annotations") or {}
    if not metadata or not isinstance(annotations, dict):
        return body
    return {**body, "metadata": {**metadata, "annotations": {**annotations, _MARK: "true"}}}


def without_marks(parsed: ParsedFile) -> ParsedFile:
    """What kustomize printed; older ones leave the marks."""
    return replace(parsed, documents=tuple(replace(d, value=_unmarked(d.value)) for d in parsed.documents))


def _unmarked(body: Any) -> Any:
    return without_annotation(body, _MARK) if _MARK in section(body, "metadata", "annotations") else body
