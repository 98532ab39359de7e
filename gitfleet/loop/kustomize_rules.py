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
        return "is no configuration of kustomize's own plug-ins (apiVersion: builtin); no other one runs"
    if document.get("kind") not in _PLUGIN_KINDS:
        return "is of a kind that is not used here; only kustomize's own generators and transformers run, and no helm"
    metadata = document.get("metadata") or {}
    if not isinstance(metadata, Mapping) or "function" in str(metadata).casefold():
        return "asks for a function, and no functions run"
    parts = [document, *(entry for entry in listed(document, "replacements") if isinstance(entry, Mapping))]
    return next((fault for part in parts for fault in _miscased(part, _PLUGIN_PATHS)), "")


def path_fault(reference: str) -> str:
    """Why a path of a kustomization is not used; "" when it may be a file or folder of the repo."""
    first = reference.partition("/")[0]
    if _BRACES.search(reference):
        return f'names "{reference}": a path has no braces; rename the file, or write an inline patch on several lines'
    if reference.startswith("/") or _REMOTE_FIRST.search(first) or _NEVER_IN_PATHS.search(reference):
        return f'names "{reference}": only files of this repo are built, nothing is fetched'
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
            yield f"cannot be built: {key} must be a list"
    for key in (*PATH_LISTS, *PLUGIN_LISTS, "patchesStrategicMerge"):
        if not all(isinstance(entry, str) for entry in listed(kustomization, key)):
            yield f"cannot be built: {key} must be a list of strings"
    for key in PLUGIN_LISTS:
        if any("\n" in str(entry) or _BRACES.search(str(entry)) for entry in listed(kustomization, key)):
            yield f"has inline {key}, which are not used; put each into a file of the repo and name that"
    for key, known in _ENTRIES.items():
        yield from _entry_faults(key, listed(kustomization, key), known)
    openapi = kustomization.get("openapi")
    if openapi is not None and (not isinstance(openapi, Mapping) or set(openapi) - {"path"}):
        yield "cannot be built: openapi may have a path and nothing else"


def _key_faults(kustomization: Mapping[str, Any]) -> Iterator[str]:
    for key in kustomization:
        if key in _HELM:
            yield f"has {key}, which kustomize does not render here; write a gitfleet-helm.yaml (docs/config-repo.md)"
    yield from _miscased(kustomization, _KEYS)
    unknown = sorted(set(kustomization) - _KEYS)
    if unknown:
        yield f'has the field "{unknown[0]}", which kustomize does not know; remove it'


def _entry_faults(key: str, entries: list[Any], known: frozenset[str]) -> Iterator[str]:
    for entry in entries:
        if not isinstance(entry, Mapping):
            yield f"cannot be built: {key} must be a list of mappings"
            continue
        yield from _miscased(entry, known)
        unknown = sorted(set(entry) - known)
        if unknown:
            yield f'has the field "{unknown[0]}" in {key}, which kustomize does not know; remove it'


def _miscased(part: Mapping[str, Any], known: Iterable[str]) -> Iterator[str]:
    """Keys that kustomize takes for a known one although they are not: Go folds letters as `casefold` does."""
    folded = {name.casefold(): name for name in known}
    for key in part:
        meant = folded.get(str(key).casefold())
        if meant is not None and meant != key:
            yield f'has the field "{key}"; write {meant}'
