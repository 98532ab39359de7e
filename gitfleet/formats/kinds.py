"""The built-in kinds of Kubernetes 1.36 and KubeFleet's envelopes. KubeFleet's other kinds are declared in `api`.

The data are in data/kinds.json, by group ("" = core) and kind:

namespaced   whether its objects live in a namespace
versions     the versions that an API server serves by default; none for kinds that it serves only when asked to, or
             never stores
further      every other version that the kind has or had: of alpha and beta APIs, and of older releases
wave         when it is applied and deleted (KubeFleet pkg/controllers/workapplier/waves.go); the last wave without it
order        its rank in a resource snapshot (KubeFleet resourceSortOrder); without it, it comes after all others. These
             are two fields because KubeFleet has two orders: a snapshot is sorted finer, and IngressClass is late in it
selectable   false for kinds that placements may not select (KubeFleet pkg/utils/apiresources.go)
data         true for kinds that are available as soon as they are applied (KubeFleet's availability tracker)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from gitfleet.formats.canonical_json import packaged_json

REVISION: Final = "deployment.kubernetes.io/revision"
"""The annotation of a Deployment, and of each of its ReplicaSets, that counts its contents."""
LAST_WAVE: Final = 999
"""Where everything goes that no wave names, custom kinds above all."""

_NEVER_SELECTED_GROUPS: Final = frozenset({"events.k8s.io", "coordination.k8s.io", "metrics.k8s.io"})
_NEVER_SELECTED: Final = frozenset(
    ("networking.fleet.azure.com", kind) for kind in ("ServiceImport", "TrafficManagerProfile", "TrafficManagerBackend")
)
_LISTS: Final = ("versions", "further")
_FLEET_GROUPS: Final = frozenset({"cluster.kubernetes-fleet.io", "placement.kubernetes-fleet.io"})


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltInKind:
    """One row; see the module. `order` None is a kind that a snapshot does not rank."""

    group: str
    kind: str
    namespaced: bool
    versions: tuple[str, ...]
    further: tuple[str, ...]
    wave: int = LAST_WAVE
    order: int | None = None
    selectable: bool = True
    data: bool = False

    @property
    def all_versions(self) -> tuple[str, ...]:
        """Every version that the kind has or had, the one to use first."""
        return self.versions[::-1] + self.further

    @property
    def plural(self) -> str:
        """Its name in paths of the API."""
        name = self.kind.lower()
        if name.endswith("y"):
            return f"{name[:-1]}ies"
        return name if name == "endpoints" else f"{name}es" if name.endswith("s") else f"{name}s"


def _rows() -> Iterator[BuiltInKind]:
    for group, kinds in packaged_json("kinds.json").items():
        for kind, row in kinds.items():
            yield BuiltInKind(group=group, kind=kind, **{**row, **{name: tuple(row.get(name, ())) for name in _LISTS}})


_ROWS: Final = tuple(_rows())

BUILT_IN_KINDS: Final[Mapping[tuple[str, str], BuiltInKind]] = MappingProxyType(
    {(row.group, row.kind): row for row in _ROWS}
)
"""By group ("" = core) and kind."""
KUBERNETES_GROUPS: Final = frozenset(row.group for row in _ROWS) - _FLEET_GROUPS
"""The groups that no CRD defines; a kind of the same name in another group is a custom one."""

_ORDER: Final = {row.kind: row.order for row in _ROWS if row.order is not None}
LAST_RANK: Final = len(_ORDER)


def wave_of(group: str, kind: str) -> int:
    """The wave of a kind: 0 first, LAST_WAVE for what no wave names."""
    row = BUILT_IN_KINDS.get((group, kind))
    return LAST_WAVE if row is None else row.wave


def snapshot_rank(kind: str) -> int:
    """The rank of a kind in a resource snapshot, whatever its group, as in KubeFleet; LAST_RANK for unranked kinds."""
    return _ORDER.get(kind, LAST_RANK)


def is_selectable(group: str, kind: str) -> bool:
    """Whether placements may select objects of a kind: custom kinds yes; leases, newer events, metrics, Pods,
    Nodes and KubeFleet's own kinds but the envelopes never."""
    if group in _NEVER_SELECTED_GROUPS or (group, kind) in _NEVER_SELECTED:
        return False
    row = BUILT_IN_KINDS.get((group, kind))
    return group not in _FLEET_GROUPS if row is None else row.selectable


def is_envelope_kind(group: str, kind: str) -> bool:
    """Whether objects of a kind are KubeFleet's envelopes: payload wherever they stand."""
    return group in _FLEET_GROUPS and (group, kind) in BUILT_IN_KINDS
