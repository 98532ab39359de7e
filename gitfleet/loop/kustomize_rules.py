"""What a kustomization may say. Pure.

Everything else is refused before kustomize runs, since it might fetch or read more than gitfleet sees: kustomize takes
a key in any letter case (Go's JSON), tries some texts as a patch and then as a path, and lets every path be a URL or a
git repo. So keys are compared exactly, and paths are plain. Source: kubernetes-sigs/kustomize
api/types/kustomization.go, api/internal/loader/fileloader.go, api/internal/git/repospec.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from gitfleet import desired
from gitfleet.loop.texts import LoopText

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
_PATCH: Final = frozenset(("path", "patch", "target", "options"))
_ENTRIES: Final[Mapping[str, frozenset[str]]] = {
    "patches": _PATCH,
    "patchesJson6902": _PATCH,
    "replacements": frozenset(("path", "source", "targets", "sourceValue")),
    "configMapGenerator": _GENERATOR,
    "secretGenerator": _GENERATOR,
}
_KEYS: Final = frozenset((*PATH_LISTS, *PLUGIN_LISTS, *_PLAIN, *_ENTRIES, "patchesStrategicMerge", "openapi"))
_HELM: Final = frozenset(("helmCharts", "helmGlobals", "helmChartInflationGenerator"))
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
        return LoopText.NO_CONFIGURATION_KUSTOMIZE_OWN_PLUG()
    if document.get("kind") not in _PLUGIN_KINDS:
        return LoopText.KIND_NOT_USED_HERE()
    metadata = document.get("metadata") or {}
    if not isinstance(metadata, Mapping) or "function" in str(metadata).casefold():
        return LoopText.ASKS_FUNCTION_NO_FUNCTIONS_RUN()
    parts = [document, *(entry for entry in listed(document, "replacements") if isinstance(entry, Mapping))]
    return next((fault for part in parts for fault in _miscased(part, _PLUGIN_PATHS)), "")


def path_fault(reference: str) -> str:
    """Why a path of a kustomization is not used; "" when it may be a file or folder of the repo."""
    first = reference.partition("/")[0]
    if _BRACES.search(reference):
        return LoopText.NAMES_PATH_NO_BRACES(reference=reference)
    if reference.startswith("/") or _REMOTE_FIRST.search(first) or _NEVER_IN_PATHS.search(reference):
        return LoopText.NAMES_ONLY_FILES_REPO_BUILT(reference=reference)
    return ""


def is_inline(entry: str) -> bool:
    """Whether an entry of patchesStrategicMerge is a patch itself; otherwise it is a path."""
    if "\n" not in entry and not entry.startswith("{"):
        return False
    parsed = desired.parse_file("kustomization.yaml", entry.encode())
    return not parsed.faults and bool(parsed.documents) and all(isinstance(d.value, dict) for d in parsed.documents)


def listed(mapping: Any, key: str) -> list[Any]:
    """The list below a key, an empty one for anything else."""
    value = mapping.get(key) if isinstance(mapping, Mapping) else None
    return value if isinstance(value, list) else []


def _faults(kustomization: Mapping[str, Any]) -> Iterator[str]:
    yield from _key_faults(kustomization)
    for key in (*PATH_LISTS, *PLUGIN_LISTS, "patchesStrategicMerge", *_ENTRIES):
        value = kustomization.get(key)
        if value is not None and not isinstance(value, list):
            yield LoopText.CANNOT_BUILT_MUST_LIST(key=key)
    for key in (*PATH_LISTS, *PLUGIN_LISTS, "patchesStrategicMerge"):
        if not all(isinstance(entry, str) for entry in listed(kustomization, key)):
            yield LoopText.CANNOT_BUILT_MUST_LIST_STRINGS(key=key)
    for key in PLUGIN_LISTS:
        if any("\n" in str(entry) or _BRACES.search(str(entry)) for entry in listed(kustomization, key)):
            yield LoopText.INLINE_NOT_USED(key=key)
    for key, known in _ENTRIES.items():
        yield from _entry_faults(key, listed(kustomization, key), known)
    openapi = kustomization.get("openapi")
    if openapi is not None and (not isinstance(openapi, Mapping) or set(openapi) - {"path"}):
        yield LoopText.CANNOT_BUILT_OPENAPI_PATH_NOTHING()


def _key_faults(kustomization: Mapping[str, Any]) -> Iterator[str]:
    for key in kustomization:
        if key in _HELM:
            yield LoopText.KUSTOMIZE_NOT_RENDER_HERE(key=key)
    yield from _miscased(kustomization, _KEYS)
    unknown = sorted(set(kustomization) - _KEYS)
    if unknown:
        yield LoopText.FIELD_KUSTOMIZE_NOT_KNOW(unknown=unknown[0])


def _entry_faults(key: str, entries: list[Any], known: frozenset[str]) -> Iterator[str]:
    for entry in entries:
        if not isinstance(entry, Mapping):
            yield LoopText.CANNOT_BUILT_MUST_LIST_MAPPINGS(key=key)
            continue
        yield from _miscased(entry, known)
        unknown = sorted(set(entry) - known)
        if unknown:
            yield LoopText.FIELD_KUSTOMIZE_NOT_KNOW_REMOVE(unknown=unknown[0], key=key)


def _miscased(part: Mapping[str, Any], known: Iterable[str]) -> Iterator[str]:
    """Keys that kustomize takes for a known one although they are not: Go folds letters as `casefold` does."""
    folded = {name.casefold(): name for name in known}
    for key in part:
        meant = folded.get(str(key).casefold())
        if meant is not None and meant != key:
            yield LoopText.FIELD_WRITE(key=key, meant=meant)
