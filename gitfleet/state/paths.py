"""Where everything lies on the state branch (contracts.md §2): the paths that are written. Which are read
is in `read`.

A ResourcePlacement's folder is `<namespace>_<name>` and an override's likewise: no Kubernetes name has an underscore,
so that no namespaced object can lie where a cluster-scoped one does.
"""

from __future__ import annotations

import re
from typing import Final

from gitfleet.api.overrides import OverrideKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.snapshots import DocumentRef, ResourceSnapshot
from gitfleet.errors import BadInput
from gitfleet.formats.git_names import is_path
from gitfleet.state.texts import StateText

README: Final = "README.md"
FLEET: Final = "fleet.yaml"
FAULTS: Final = "faults.yaml"
LAST_GOOD: Final = "lastgood/"
RESOURCES: Final = "snapshots/resources/"
SNAPSHOT_FILE: Final = "snapshot.yaml"
RENDERED: Final = "rendered"
VERSIONS: Final = "versions"

_LABEL: Final = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN: Final = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*")
_LONGEST_PATH_BYTES: Final = 3000
"""Leaves space for the folder's own names below git's limit of 4096."""


def safe_name(name: str) -> str:
    """A Kubernetes name as a path component; BadInput for anything that is no DNS subdomain (RFC 1123)."""
    if len(name) > 253 or not _SUBDOMAIN.fullmatch(name):
        raise BadInput(
            StateText.CANNOT_NAME_FILE_STATE_BRANCH(name=name[:80]),
            hint=StateText.USE_LOWER_CASE_LETTERS(),
        )
    return name


def safe_namespace(name: str) -> str:
    """A namespace as a path component; BadInput for anything that is no DNS label (RFC 1123)."""
    if len(name) > 63 or not _LABEL.fullmatch(name):
        raise BadInput(
            StateText.CANNOT_NAME_FOLDER_STATE_BRANCH(name=name[:80]),
            hint=StateText.USE_LOWER_CASE_LETTERS_DIGITS(),
        )
    return name


def is_safe_path(path: str) -> bool:
    """Whether a path of the config repo may stand below a folder of the state branch: what git would not write there
    must not keep the rest of the state from being written."""
    return "\\" not in path and is_path(path) and len(path.encode()) <= _LONGEST_PATH_BYTES


def folder_of(key: PlacementKey | OverrideKey) -> str:
    """The one folder name of a placement or an override."""
    return f"{safe_namespace(key.namespace)}_{safe_name(key.name)}" if key.namespace else safe_name(key.name)


def own_path(folder: str, namespace: str, name: str) -> str:
    """<folder>/<name>.yaml or <folder>/<namespace>/<name>.yaml"""
    return f"{folder}/{f'{safe_namespace(namespace)}/' if namespace else ''}{safe_name(name)}.yaml"


def placement_path(key: PlacementKey) -> str:
    """placements/<name>.yaml or placements/<namespace>/<name>.yaml"""
    return own_path("placements", key.namespace, key.name)


def resources_folder(key: PlacementKey) -> str:
    """snapshots/resources/<placement>"""
    return f"{RESOURCES}{folder_of(key)}"


def resource_snapshot_folder(key: PlacementKey, index: int | str) -> str:
    """snapshots/resources/<placement>/<index>"""
    return f"{resources_folder(key)}/{index}"


def snapshot_path(snapshot: ResourceSnapshot) -> str:
    """snapshots/resources/<placement>/<index>/snapshot.yaml"""
    return f"{resource_snapshot_folder(snapshot.placement, snapshot.index)}/{SNAPSHOT_FILE}"


def policies_folder(key: PlacementKey) -> str:
    """snapshots/policies/<placement>"""
    return f"snapshots/policies/{folder_of(key)}"


def policy_path(key: PlacementKey, index: int) -> str:
    """snapshots/policies/<placement>/<index>.yaml"""
    return f"{policies_folder(key)}/{index}.yaml"


def override_path(key: OverrideKey, index: int) -> str:
    """snapshots/overrides/<override>/<index>.yaml"""
    return f"snapshots/overrides/{folder_of(key)}/{index}.yaml"


def bindings_folder(key: PlacementKey) -> str:
    """bindings/<placement>"""
    return f"bindings/{folder_of(key)}"


def inventory_folder(cluster: str) -> str:
    """inventory/<cluster>"""
    return f"inventory/{safe_name(cluster)}"


def last_good_path(blob: str) -> str:
    """lastgood/<blob id>.yaml: kept alive by its id alone, so that no file's name can stand in the way."""
    return f"{LAST_GOOD}{blob}.yaml"


def bound_placement(path: str) -> PlacementKey:
    """The placement whose bindings lie in a file below bindings/."""
    namespace, _, name = path.split("/")[1].rpartition("_")
    return PlacementKey(namespace, name)


def numbered(path: str) -> tuple[str, str, int]:
    """The namespace, name and index of the snapshot that lies in a state file below snapshots/: its owner's."""
    folder, index = path.split("/")[2:4]
    namespace, _, name = folder.rpartition("_")
    return namespace, name, int(index.removesuffix(".yaml"))


def document_paths(snapshot: ResourceSnapshot) -> tuple[str, ...]:
    """For each of the snapshot's documents, in order, the file of the state branch that holds it.

    A document with a blob lies in that very blob, at its own index in the file, below the snapshot's folder under its
    original path. A rendered one, which has no blob, lies alone in `rendered/<position>.yaml`. Where a last good
    version stands in for a part of a file (invariant 2), two blobs have one path, or a file lies where a folder is
    now: the
    later one lies in `versions/<blob id>.yaml`. The folder's own three names are kept free: a path that begins with one
    of them gets an underscore in front.
    """
    folder = resource_snapshot_folder(snapshot.placement, snapshot.index)
    files: dict[str, str] = {}
    folders: set[str] = set()
    places: list[str] = []
    for n, ref in enumerate(snapshot.documents):
        if is_rendered(ref):
            places.append(f"{folder}/{RENDERED}/{n}.yaml")
        elif _claim(ref, files, folders):
            places.append(f"{folder}/{_beside_ours(ref.path)}")
        else:
            places.append(f"{folder}/{VERSIONS}/{ref.blob}.yaml")
    return tuple(places)


def _claim(ref: DocumentRef, files: dict[str, str], folders: set[str]) -> bool:
    """Whether a path is free for a document's blob, or has it already; it is taken then."""
    if ref.path in files:
        return files[ref.path] == ref.blob
    parents = [ref.path[:at] for at, sign in enumerate(ref.path) if sign == "/"]
    if ref.path in folders or any(parent in files for parent in parents):
        return False
    files[ref.path] = ref.blob
    folders.update(parents)
    return True


def is_rendered(ref: DocumentRef) -> bool:
    """Whether a document lies in a file that gitfleet wrote, and not in a blob of the config repo."""
    return ref.rendered or not ref.blob or not is_safe_path(ref.path)


def _beside_ours(path: str) -> str:
    first = path.split("/", 1)[0]
    return f"_{path}" if first.lstrip("_") in (SNAPSHOT_FILE, RENDERED, VERSIONS) else path
