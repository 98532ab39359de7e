"""The payload of one commit, ordered and filtered once for all placements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256

from gitfleet.api.objects import GroupKind, Manifest, ObjectKey
from gitfleet.formats.kinds import is_selectable
from gitfleet.snapshots.order import order_of
from gitfleet.snapshots.propagation import is_propagated

Kind = tuple[str, str, str]
"""(group, version, kind)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Manifests in snapshot order; `mark` is the same exactly when their contents are."""

    manifests: tuple[Manifest, ...] = ()
    mark: str = ""


_NOTHING = Group()


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadIndex:
    """What can be placed of one commit. `holds_removals`: what is missing here must not count as removed."""

    kinds: Mapping[Kind, Group]
    namespaces: Mapping[str, Group]
    objects: Mapping[ObjectKey, Manifest]
    namespaced: Mapping[GroupKind, bool]
    holds_removals: bool = False
    identities: frozenset[tuple[str, str, str, str]] = frozenset()
    """(group, kind, namespace, name) of the whole payload; filled in only when removals are held."""

    def of_kind(self, kind: Kind) -> Group:
        """All objects of a kind."""
        return self.kinds.get(kind, _NOTHING)

    def in_namespace(self, namespace: str) -> Group:
        """All objects that lie in a namespace, the Namespace itself not among them."""
        return self.namespaces.get(namespace, _NOTHING)


def index_payload(
    payload: Iterable[Manifest],
    namespaced: Mapping[GroupKind, bool],
    *,
    holds_removals: bool = False,
) -> PayloadIndex:
    """Order and group the payload; disabled kinds and objects that are never propagated are left out.

    One pass and one sort: 20,000 manifests take a fraction of a second, so it is simply built anew for each commit.
    """
    everything = list(payload)
    services = {(m.key.namespace, m.key.name) for m in everything if m.key.kind == "Service" and not m.key.group}
    enabled: dict[Kind, bool] = {}
    kinds: dict[Kind, list[Manifest]] = {}
    namespaces: dict[str, list[Manifest]] = {}
    objects: dict[ObjectKey, Manifest] = {}
    for manifest in sorted(everything, key=order_of):
        key = manifest.key
        kind = (key.group, key.version, key.kind)
        if kind not in enabled:
            enabled[kind] = is_selectable(kind[0], kind[2])
        if not enabled[kind] or not is_propagated(key, manifest.body, services=services):
            continue
        kinds.setdefault(kind, []).append(manifest)
        if key.namespace:
            namespaces.setdefault(key.namespace, []).append(manifest)
        objects[key] = manifest
    return PayloadIndex(
        kinds={kind: _group(found) for kind, found in kinds.items()},
        namespaces={namespace: _group(found) for namespace, found in namespaces.items()},
        objects=objects,
        namespaced=namespaced,
        holds_removals=holds_removals,
        identities=frozenset(m.key.identity for m in everything) if holds_removals else frozenset(),
    )


def _group(manifests: list[Manifest]) -> Group:
    mark = sha256("".join([m.digest for m in manifests]).encode()).hexdigest()
    return Group(manifests=tuple(manifests), mark=mark)
