"""Which files of a commit are read at all: YAML and JSON, neither hidden nor ignored, and never through a link."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from gitfleet.api.folders import FOLDER_FILE
from gitfleet.api.helm_releases import HELM_RELEASE_FILE
from gitfleet.api.kinds import PAYLOAD_FOLDER, watched_kinds
from gitfleet.desired.reading.ignore_rules import IgnoreRules

IGNORE_FILE: Final = ".gitfleetignore"
"""At the top of the repo, in gitignore's syntax: what gitfleet must not read."""
FLEET_FILE: Final = "gitfleet.yaml"
KUSTOMIZATIONS: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")
"""Of several in one folder the first is read."""
CHART_FILE: Final = "Chart.yaml"
BUILD_FILES: Final = (*KUSTOMIZATIONS, HELM_RELEASE_FILE, CHART_FILE)
"""A folder of the payload with one of these is built, not read."""
_CHART_PARTS: Final = ("templates", "charts", "crds")
"""The folders of a chart that hold no files of ours, wherever the chart is."""

SUFFIXES: Final = (".yaml", ".yml", ".json")


def is_manifest_path(path: str) -> bool:
    """Whether a path ends as a YAML or JSON file does."""
    return path.endswith(SUFFIXES)


def is_read(path: str, mode: str) -> bool:
    """Whether an entry of a tree is parsed: an ordinary YAML or JSON file, not hidden; `mode` as git prints it."""
    return mode.startswith("100") and is_manifest_path(path) and not is_hidden(path)


def is_ours(path: str) -> bool:
    """Whether a path is the fleet's own file or lies in a folder of the convention (contracts.md §1): a document there
    that names no kind is a fault, elsewhere it is not our business."""
    folder, slash, _ = path.partition("/")
    if not slash:
        return path == FLEET_FILE
    return folder == PAYLOAD_FOLDER or any(kind.folder == folder for kind in watched_kinds())


def is_payload_path(path: str) -> bool:
    """Whether all that a file holds is payload, whatever its kind."""
    return path.startswith(f"{PAYLOAD_FOLDER}/")


def is_hidden(path: str) -> bool:
    """Whether the path or a folder on the way begins with a dot: `.github/`, `.pre-commit-config.yaml`."""
    return path.startswith(".") or "/." in path


def area_of(path: str) -> str:
    """What a faulty path stands for: a file that says how a folder is built, or what it gets, stands for the folder."""
    return path.rpartition("/")[0] if is_build_file(path) or is_folder_file(path) else path


def is_build_file(path: str) -> bool:
    """Whether a file says how its folder is built (kustomize, Helm); never an object itself."""
    return path.rpartition("/")[2] in BUILD_FILES


def is_folder_file(path: str) -> bool:
    """Whether a file is to hold the Folder that governs its directory."""
    return path.rpartition("/")[2] == FOLDER_FILE and is_payload_path(path)


def is_kustomization(path: str) -> bool:
    """Whether a file configures kustomize; never an object itself."""
    return path.rpartition("/")[2] in KUSTOMIZATIONS


def built_folders(paths: Iterable[str], payload: Collection[str] = ()) -> dict[str, str]:
    """The folders of the payload that are built, not read, with the file that says how. The folders `payload` belong to
    it wherever they lie."""
    folders: dict[str, str] = {}
    for path in paths:
        if is_build_file(path) and (is_payload_path(path) or _innermost(path, payload) is not None):
            folder = path.rpartition("/")[0]
            folders[folder] = min(folders.get(folder, path), path, key=_rank)
    return folders


def _rank(path: str) -> int:
    return BUILD_FILES.index(path.rpartition("/")[2])


def file_of_build(folder: str, build_file: str) -> str:
    """The path at which the objects of a built folder stand: one for all three names of a kustomization."""
    return f"{folder}/{KUSTOMIZATIONS[0]}" if is_kustomization(build_file) else build_file


def read_one_by_one(paths: Iterable[str], payload: Collection[str] = ()) -> Iterator[str]:
    """Of wanted paths, those whose files are read for themselves: not those of built folders, nor parts of charts,
    unless they lie in a folder of `payload` that is not built."""
    listed = list(paths)
    built = built_folders(listed, payload)
    parts = {f"{path.removesuffix(CHART_FILE)}{part}" for path in listed if is_chart(path) for part in _CHART_PARTS}
    passed = {*built, *(parts - {*payload})}
    decisive = passed.union(payload)
    for path in listed:
        is_ones_own = not (is_kustomization(path) or is_chart(path))
        if is_ones_own and not (passed and _innermost(path, decisive) in passed):
            yield path


def _innermost(path: str, folders: Collection[str]) -> str | None:
    return next((folder for folder in folders_of(path) if folder in folders), None)


def is_chart(path: str) -> bool:
    """Whether a file makes its folder a Helm chart; none of the folders of our own kinds is one."""
    return path.endswith(f"/{CHART_FILE}") and (is_payload_path(path) or not is_ours(path))


def wanted_paths(paths: Iterable[str], rules: IgnoreRules | None = None) -> Iterator[str]:
    """The paths, of a whole commit, whose entries `read_desired` needs; `rules` are the ignore file's.

    Links and submodules among them are faults there, so they are not left out here.
    """
    for path in paths:
        if not is_hidden(path) and not (rules and rules.hide(path)):
            yield path


def read_paths(paths: Iterable[str], rules: IgnoreRules | None = None, payload: Collection[str] = ()) -> frozenset[str]:
    """Of all paths of a commit, the files whose objects go on as their blobs have them: those of built folders are not
    among them, nor those that a Folder governs or that lie in a folder of `payload`."""
    listed = list(wanted_paths(paths, rules))
    folder_files = frozenset(filter(is_folder_file, listed))
    governed = {*payload, *(path.rpartition("/")[0] for path in folder_files)}
    one_by_one = filter(is_manifest_path, read_one_by_one(listed, payload))
    return folder_files.union(path for path in one_by_one if _innermost(path, governed) is None)


def folders_of(path: str) -> Iterator[str]:
    """Every folder that a path lies in, the innermost first; "" is the top."""
    while path:
        path = path.rpartition("/")[0]
        yield path
