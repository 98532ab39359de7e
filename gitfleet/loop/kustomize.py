"""Which files a kustomization reads, so that only those are given to kustomize and a change elsewhere costs nothing."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from gitfleet import desired
from gitfleet.errors import BadInput, GitfleetError
from gitfleet.ports.kustomize import KustomizeBuilder
from gitfleet.ports.repos import TreeEntry

NAMES: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_PATH_LISTS: Final = (
    "resources", "bases", "components", "crds", "configurations", "transformers", "generators", "validators",
)  # fmt: skip
_REGULAR: Final = ("100644", "100755")
ReadBlobs = Callable[[list[str]], Mapping[str, bytes]]


@dataclass(slots=True)
class Kustomizer:
    """Builds the kustomize folders of a tree; an output is remembered by the blobs that it was made of."""

    builder: KustomizeBuilder
    _known: dict[str, desired.SourceFile] = field(default_factory=dict)

    def built(
        self, folders: Collection[str], listing: Mapping[str, TreeEntry], read: ReadBlobs
    ) -> dict[str, desired.SourceFile]:
        """What `DesiredRequest.built` wants: an output for each of the folders of a tree.

        A folder that another kustomization builds on (a base) yields nothing of its own. A folder that cannot be built
        has its reason in `why`.
        """
        closures = {folder: _closure(folder, listing, read) for folder in sorted(folders)}
        bases = {base for folder, closure in closures.items() for base in closure.folders if base != folder}
        made: dict[str, desired.SourceFile] = {}
        for folder, closure in closures.items():
            if folder in bases:
                made[folder] = _output(b"")
            elif closure.fault:
                made[folder] = desired.SourceFile(blob="", why=closure.fault)
            else:
                made[folder] = self._build(folder, closure, listing, read)
        return made

    def _build(
        self, folder: str, closure: _Closure, listing: Mapping[str, TreeEntry], read: ReadBlobs
    ) -> desired.SourceFile:
        named = "\n".join(f"{path} {listing[path].oid}" for path in sorted(closure.paths))
        key = sha256(f"{folder}\n{named}".encode()).hexdigest()
        if key not in self._known:
            contents = read([listing[path].oid for path in closure.paths])
            files = {path: contents[listing[path].oid] for path in closure.paths if listing[path].oid in contents}
            try:
                self._known[key] = _output(self.builder.build(folder, files))
            except GitfleetError as error:
                return desired.SourceFile(blob="", why=str(error))
        return self._known[key]


@dataclass(slots=True)
class _Closure:
    paths: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)
    fault: str = ""


def _output(content: bytes) -> desired.SourceFile:
    return desired.SourceFile(blob="", size=len(content), parsed=desired.parse_file("kustomization.yaml", content))


def _closure(folder: str, listing: Mapping[str, TreeEntry], read: ReadBlobs) -> _Closure:
    closure = _Closure()
    waiting = [folder]
    try:
        while waiting:
            here = waiting.pop()
            if here in closure.folders:
                continue
            closure.folders.add(here)
            waiting += _visit(here, closure, listing, read)
    except BadInput as error:
        closure.fault = str(error)
    return closure


def _visit(folder: str, closure: _Closure, listing: Mapping[str, TreeEntry], read: ReadBlobs) -> list[str]:
    """Add what one kustomization names; the folders it builds on."""
    own = next((path for name in NAMES if (path := posixpath.join(folder, name)) in listing), None)
    if own is None:
        raise BadInput(f"{folder} holds no kustomization.yaml")
    closure.paths.add(own)
    content = read([listing[own].oid]).get(listing[own].oid, b"")
    parsed = desired.parse_file(own, content)
    if parsed.faults or not parsed.documents or not isinstance(parsed.documents[0].value, dict):
        raise BadInput(f"{own} is not one YAML object")
    further: list[str] = []
    for reference in _references(parsed.documents[0].value):
        target = posixpath.normpath(posixpath.join(folder, reference))
        if "://" in reference or reference.startswith(("git@", "/")) or target.startswith(".."):
            raise BadInput(f'{own} names "{reference}": only files of this repo are built, nothing is fetched')
        if target in listing:
            if listing[target].mode not in _REGULAR:
                raise BadInput(f"{own} names {target}, which is no ordinary file")
            closure.paths.add(target)
        elif any(posixpath.join(target, name) in listing for name in NAMES):
            further.append(target)
        else:
            raise BadInput(f"{own} names {target}, which is not in the repo")
    return further


def _references(kustomization: Mapping[str, Any]) -> Iterator[str]:
    """Every path that a kustomization (kustomize.config.k8s.io/v1beta1) names; inline YAML is no path."""
    for key in _PATH_LISTS:
        yield from (entry for entry in _list(kustomization, key) if isinstance(entry, str) and "\n" not in entry)
    for entry in _list(kustomization, "patchesStrategicMerge"):
        if isinstance(entry, str) and "\n" not in entry and "{" not in entry:
            yield entry
    for key in ("patches", "patchesJson6902", "replacements"):
        entries = (entry for entry in _list(kustomization, key) if isinstance(entry, dict))
        yield from (str(entry["path"]) for entry in entries if entry.get("path"))
    for key in ("configMapGenerator", "secretGenerator"):
        for entry in _list(kustomization, key):
            if not isinstance(entry, dict):
                continue
            for name in ("files", "envs"):
                yield from (str(file).rpartition("=")[2] for file in entry.get(name) or ())
            if entry.get("env"):
                yield str(entry["env"])
    openapi = kustomization.get("openapi")
    if isinstance(openapi, dict) and openapi.get("path"):
        yield str(openapi["path"])


def _list(kustomization: Mapping[str, Any], key: str) -> list[Any]:
    value = kustomization.get(key)
    return value if isinstance(value, list) else []
