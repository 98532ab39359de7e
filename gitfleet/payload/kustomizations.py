"""What a kustomization may say, which paths it names, and which of its values must not be shown. Pure.

Everything else is refused before kustomize runs, since it might fetch or read more than gitfleet sees: kustomize takes
a key in any letter case (Go's JSON), tries some texts as a patch and then as a path, and lets every path be a URL or a
git repo. So keys are compared exactly, and paths are plain. Source: kubernetes-sigs/kustomize
api/types/kustomization.go, api/internal/loader/fileloader.go, api/internal/git/repospec.go.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from gitfleet import desired
from gitfleet.api import dotted, read
from gitfleet.api.inflated_charts import InflatedChart
from gitfleet.formats.canonical_json import canonical_json
from gitfleet.formats.git_lfs import is_lfs_pointer
from gitfleet.formats.json_values import section
from gitfleet.formats.near_names import did_you_mean
from gitfleet.payload.texts import PayloadText

PATH_LISTS: Final = ("resources", "bases", "components", "crds", "configurations")
PLUGIN_LISTS: Final = ("transformers", "generators", "validators")
_PLAIN: Final = frozenset((
    "apiVersion", "kind", "metadata", "namePrefix", "nameSuffix", "namespace", "commonLabels", "labels",
    "commonAnnotations", "images", "imageTags", "replicas", "vars", "sortOptions", "generatorOptions",
    "buildMetadata",
))  # fmt: skip
_GENERATOR: Final = frozenset((
    "namespace", "name", "behavior", "literals", "files", "envs", "env", "options", "type",
))  # fmt: skip
_OBJECT: Final = ("apiVersion", "kind", "metadata")
_PATCH: Final = frozenset(("path", "patch", "target", "options"))
_ENTRIES: Final[Mapping[str, frozenset[str]]] = {
    "patches": _PATCH,
    "patchesJson6902": _PATCH,
    "replacements": frozenset(("path", "source", "targets", "sourceValue")),
    "configMapGenerator": _GENERATOR,
    "secretGenerator": _GENERATOR,
}
_CHARTS: Final = "helmCharts"
_GLOBALS: Final = "helmGlobals"
_KEYS: Final = frozenset((
    *PATH_LISTS, *PLUGIN_LISTS, *_PLAIN, *_ENTRIES, "patchesStrategicMerge", "openapi", _CHARTS, _GLOBALS,
))  # fmt: skip
_INFLATOR: Final = "HelmChartInflationGenerator"
_PLUGIN_KINDS: Final = frozenset((
    "AnnotationsTransformer", "ConfigMapGenerator", "HashTransformer", "IAMPolicyGenerator", "ImageTagTransformer",
    "LabelTransformer", "NamespaceTransformer", "PatchJson6902Transformer", "PatchStrategicMergeTransformer",
    "PatchTransformer", "PrefixTransformer", "PrefixSuffixTransformer", "ReplacementTransformer",
    "ReplicaCountTransformer", "SecretGenerator", "SortOrderTransformer", "SuffixTransformer", "ValueAddTransformer",
))  # fmt: skip
_PLUGIN_PATHS: Final = frozenset(("path", "paths", "files", "envs", "env", "replacements", "metadata", "annotations"))
_REMOTE_FIRST: Final = re.compile(r"[:@]|\A(?:www\.)?github\.com\Z", re.IGNORECASE)
_NEVER_IN_PATHS: Final = re.compile(r"[?\\\x00-\x1f\x7f]|//")
_BRACES: Final = re.compile(r"[{}]")


def fault_of(kustomization: Mapping[str, Any]) -> str:
    """What is wrong with the first thing that a kustomization may not say; "" when it may be built."""
    return next(_faults(kustomization), "")


def plugin_fault(document: Any) -> str:
    """As `fault_of`, for one document of the configuration of a generator, transformer or validator."""
    if not isinstance(document, Mapping) or document.get("apiVersion") != "builtin":
        return PayloadText.NO_CONFIGURATION_KUSTOMIZE_OWN_PLUG()
    if document.get("kind") not in (*_PLUGIN_KINDS, _INFLATOR):
        return PayloadText.KIND_NOT_USED_HERE()
    metadata = document.get("metadata") or {}
    if not isinstance(metadata, Mapping) or "function" in str(metadata).casefold():
        return PayloadText.ASKS_FUNCTION_NO_FUNCTIONS_RUN()
    parts = [document, *(entry for entry in listed(document, "replacements") if isinstance(entry, Mapping))]
    return next((fault for part in parts for fault in _miscased(part, _PLUGIN_PATHS)), "")


def path_fault(reference: str) -> str:
    """Why a path of a kustomization is not used; "" when it may be a file or folder of the repo."""
    first = reference.partition("/")[0]
    if _BRACES.search(reference):
        return PayloadText.NAMES_PATH_NO_BRACES(reference=reference)
    if reference.startswith("/") or _REMOTE_FIRST.search(first) or _NEVER_IN_PATHS.search(reference):
        return PayloadText.NAMES_ONLY_FILES_REPO_BUILT(reference=reference)
    return ""


def is_inline(entry: str) -> bool:
    """Whether an entry of patchesStrategicMerge is a patch itself; otherwise it is a path."""
    if "\n" not in entry and not entry.startswith("{"):
        return False
    parsed = desired.parse_file("kustomization.yaml", entry.encode())
    return not parsed.faults and bool(parsed.documents) and all(isinstance(d.value, dict) for d in parsed.documents)


def listed(mapping: Any, key: str) -> list[Any]:
    """The list below a key, an empty one for anything else."""
    value = section(mapping).get(key)
    return value if isinstance(value, list) else []


def _faults(kustomization: Mapping[str, Any]) -> Iterator[str]:
    yield from _unknown(kustomization, _KEYS)
    texts = (*PATH_LISTS, *PLUGIN_LISTS, "patchesStrategicMerge")
    for keys, kind, kinds in ((texts, str, "strings"), ((*_ENTRIES, _CHARTS), Mapping, "mappings")):
        for key in keys:
            value = kustomization.get(key)
            if value is not None and not (isinstance(value, list) and all(isinstance(entry, kind) for entry in value)):
                yield PayloadText.CANNOT_BUILT_MUST_LIST(key=key, what=kinds)
    for key in PLUGIN_LISTS:
        if any("\n" in entry or _BRACES.search(entry) for entry in listed(kustomization, key)):
            yield PayloadText.INLINE_NOT_USED(key=key)
    for key, fields in _ENTRIES.items():
        for entry in listed(kustomization, key):
            yield from _unknown(entry, fields)
    for key, only in ((_GLOBALS, {"chartHome", "configHome"}), ("openapi", {"path"})):
        value = kustomization.get(key)
        if value is not None and not (isinstance(value, Mapping) and set(value) <= only):
            yield PayloadText.CANNOT_BUILT_NOTHING_ELSE(key=key, fields=" and ".join(sorted(only)))


def _unknown(part: Mapping[str, Any], names: Collection[str]) -> Iterator[str]:
    """The keys that kustomize does not know, among them those that it takes for a known one in other letters."""
    for key in sorted(set(part) - set(names)):
        yield PayloadText.FIELD_KUSTOMIZE_NOT_KNOW(unknown=key, hint=did_you_mean(key, names, "remove it"))


def _miscased(part: Mapping[str, Any], names: Iterable[str]) -> Iterator[str]:
    """Keys that kustomize takes for a known one although they are not: Go folds letters as `casefold` does."""
    folded = {name.casefold(): name for name in names}
    for key in part:
        meant = folded.get(str(key).casefold())
        if meant is not None and meant != key:
            yield PayloadText.FIELD_WRITE(key=key, meant=meant)


_SHORTEST_SECRET: Final = 3
_SHOWN_OF_A_VALUE: Final = 7
"""kustomize's YAML reader shows so many characters of a value at most."""
_WORDS: Final = re.compile(rb"[^\s\"'`,:=\[\]{}]+")


@dataclass(frozen=True, slots=True)
class Kustomization:
    """The paths that it names, those of plug-in configurations apart, since these may name further ones, and the charts
    that it inflates; or why it does not say: then `text` is all there is to guess from (None: not read).

    `canonical` is what kustomize is given: the values that were checked, so that no text can mean something else to it.
    """

    references: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    generators: tuple[str, ...] = ()
    namespace: str = ""
    charts: tuple[InflatedChart, ...] = ()
    fault: str = ""
    text: bytes | None = None
    canonical: bytes = b""

    def may_name(self, name: bytes) -> bool:
        """Whether a kustomization that cannot be read may name a folder whose last part is `name`."""
        return self.text is None or name in self.text or b"\\" in self.text


@dataclass(frozen=True, slots=True)
class PluginFile:
    """The configuration of generators, transformers or validators: the paths that it names and the charts that it
    inflates, or why it is not used."""

    references: tuple[str, ...] = ()
    charts: tuple[InflatedChart, ...] = ()
    fault: str = ""
    canonical: bytes = b""

    def fault_in(self, generators: bool) -> str:
        """Why it is not used in the list of generators, or in another one: charts are for generators alone."""
        return self.fault or (PayloadText.KIND_NOT_USED_HERE() if self.charts and not generators else "")


def read_kustomization(content: bytes | None) -> Kustomization:
    """Read the bytes of a kustomization.yaml (kustomize.config.k8s.io); None when they are not to be had."""
    if content is None:
        return Kustomization(fault=PayloadText.TOO_LARGE_READ())
    if is_lfs_pointer(content):
        return Kustomization(fault=PayloadText.GIT_LFS_POINTER())
    parsed = desired.parse_file("kustomization.yaml", content)
    if parsed.faults:
        line, message = parsed.faults[0]
        return Kustomization(fault=PayloadText.CANNOT_READ_LINE(line=line, message=message), text=content)
    if len(parsed.documents) != 1 or not isinstance(parsed.documents[0].value, dict):
        return Kustomization(fault=PayloadText.NOT_ONE_YAML_OBJECT(), text=content)
    value = parsed.documents[0].value
    entries = value.get(_CHARTS) or []
    fault = fault_of(value)
    charts, chart_fault = _charts(_CHARTS, entries, value.get(_GLOBALS) or {}) if not fault else ((), "")
    if fault or chart_fault:
        return Kustomization(fault=fault or chart_fault, text=content)
    return Kustomization(
        references=tuple(_references(value)),
        plugins=tuple(str(entry) for key in PLUGIN_LISTS for entry in listed(value, key)),
        generators=tuple(map(str, listed(value, "generators"))),
        namespace=str(value.get("namespace") or ""),
        charts=charts,
        canonical=canonical_json(value),
    )


def read_plugin_file(content: bytes) -> PluginFile:
    """Read the configuration of generators, transformers or validators (kustomize's own ones)."""
    if is_lfs_pointer(content):
        return PluginFile(fault=PayloadText.GIT_LFS_POINTER())
    parsed = desired.parse_file("kustomization.yaml", content)
    if parsed.faults:
        line, message = parsed.faults[0]
        return PluginFile(fault=PayloadText.CANNOT_READ_LINE(line=line, message=message))
    references: list[str] = []
    entries: list[Mapping[str, Any]] = []
    bodies: list[Any] = []
    for document in parsed.documents:
        body = document.value
        if fault := plugin_fault(body):
            return PluginFile(fault=fault)
        if isinstance(body, Mapping) and body.get("kind") == _INFLATOR:
            entries.append({key: part for key, part in body.items() if key not in _OBJECT})
            continue
        bodies.append(body)
        references += _files_of(body)
        references += _not_inline(body, "paths")
        references += _paths([body, *listed(body, "replacements")])
    charts, fault = _charts(_INFLATOR, entries, {})
    return PluginFile(references=tuple(references), charts=charts, fault=fault, canonical=stream_of(bodies))


def stream_of(bodies: Iterable[Any]) -> bytes:
    """Documents as kustomize is given them."""
    return b"\n---\n".join(map(canonical_json, bodies))


def with_resource(canonical: bytes, name: str) -> bytes:
    """A kustomization, as kustomize is given it, with a further resource in place of its charts."""
    value = json.loads(canonical)
    resources = [*(value.get("resources") or ()), name]
    fields = {key: part for key, part in value.items() if key not in (_CHARTS, _GLOBALS)}
    return canonical_json({**fields, "resources": resources})


def _charts(key: str, entries: Iterable[Any], shared: Mapping[str, Any]) -> tuple[tuple[InflatedChart, ...], str]:
    """The charts of a list, or what is wrong with the first that cannot be read."""
    charts: list[InflatedChart] = []
    for index, entry in enumerate(entries):
        chart, breaks = read(InflatedChart, {**shared, **entry})
        if chart is None:
            (location, sentence), *_ = breaks
            return (), PayloadText.CHART_FIELD(field=dotted((key, index, *location)), problem=sentence)
        charts.append(replace(chart, values_inline=entry.get("valuesInline") or {}))  # with fields that are null
    return tuple(charts), ""


def without_secrets(message: str, folder: str, files: Mapping[str, bytes]) -> str:
    """kustomize's words, unless they contain a value of a Secret; `files` are those that it read."""
    shown = message.encode()
    if any(value[:_SHOWN_OF_A_VALUE] in shown for value in _secrets(files) if len(value) >= _SHORTEST_SECRET):
        return PayloadText.CANNOT_BUILT_KUSTOMIZE_SAYS_NOT(folder=folder)
    return message


def _references(kustomization: Mapping[str, Any]) -> Iterator[str]:
    """Every path that a kustomization names; inline YAML is no path."""
    for key in PATH_LISTS:
        yield from (str(entry) for entry in listed(kustomization, key))
    yield from _not_inline(kustomization, "patchesStrategicMerge")
    for key in ("patches", "patchesJson6902", "replacements"):
        yield from _paths(listed(kustomization, key))
    for key in ("configMapGenerator", "secretGenerator"):
        for entry in listed(kustomization, key):
            yield from _files_of(entry)
    yield from _paths([kustomization.get("openapi")])


def _paths(entries: Iterable[Any], key: str = "path") -> Iterator[str]:
    return (str(entry[key]) for entry in entries if isinstance(entry, dict) and entry.get(key))


def _not_inline(mapping: Any, key: str) -> Iterator[str]:
    return (path for path in map(str, listed(mapping, key)) if not is_inline(path))


def _files_of(generator: Any) -> Iterator[str]:
    for name in ("files", "envs"):
        yield from (str(file).rpartition("=")[2] for file in listed(generator, name))
    yield from _paths([generator], "env")


def _secrets(files: Mapping[str, bytes]) -> Iterator[bytes]:
    """Every word that may be a value of a Secret: more rather than fewer."""
    for path, content in files.items():
        parsed = desired.parse_file(path, content)
        if parsed.faults and b"ecret" in content:
            yield from _WORDS.findall(content)
        for document in parsed.documents:
            if not isinstance(document.value, dict):
                continue
            if "Secret" in str(document.value.get("kind")):
                shown = ("apiVersion", "kind", "metadata")
                yield from _texts({key: value for key, value in document.value.items() if key not in shown})
            yield from _texts(
                [entry.get("valuesInline") for entry in listed(document.value, "helmCharts") if isinstance(entry, dict)]
            )
            folder = path.rpartition("/")[0]
            for generator in listed(document.value, "secretGenerator"):
                named = {f"{folder}/{name}".lstrip("/") for name in _files_of(generator)}
                lines = [line for name in named for line in files.get(name, b"").splitlines()]
                lines += [str(literal).encode() for literal in listed(generator, "literals")]
                yield from (word for line in lines for word in _WORDS.findall(line.partition(b"=")[2] or line))


def _texts(value: Any) -> Iterator[bytes]:
    """Every text below a value, whole and in words."""
    if isinstance(value, dict | list):
        for element in value.values() if isinstance(value, dict) else value:
            yield from _texts(element)
    elif value is not None:
        whole = str(value).encode()
        yield whole
        yield from _WORDS.findall(whole)
