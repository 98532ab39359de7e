"""The payload of one commit, ordered and filtered once for all placements."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import dataclass

from gitfleet.api.objects import GroupKind, Identity, Manifest, ObjectKey
from gitfleet.api.placing_policy import USUAL_POLICY, PlacingPolicy
from gitfleet.formats.kinds import is_selectable
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Failures, Subject
from gitfleet.snapshots.order import order_of
from gitfleet.snapshots.propagation import is_propagated


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadIndex:
    """What can be placed of one commit. `holds_removals`: what is missing here must not count as removed."""

    kinds: Mapping[GroupKind, tuple[Manifest, ...]]
    namespaces: Mapping[str, tuple[Manifest, ...]]
    objects: Mapping[Identity, Manifest]
    namespaced: Mapping[GroupKind, bool]
    holds_removals: bool = False
    identities: frozenset[Identity] = frozenset()
    """(group, kind, namespace, name) of the whole payload; filled in only when removals are held."""
    failed: frozenset[Identity] = frozenset()
    """The same of objects that cannot be read: whoever has one keeps the version it has, nobody else gets it."""
    policy: PlacingPolicy = USUAL_POLICY
    kept: Collection[Identity] = frozenset()
    """The same of objects that go on as they were accepted last, for an error in their files: with labels that they may
    not have any more."""

    @property
    def holds_some(self) -> bool:
        """Whether anything that a snapshot has and this payload lacks must stay."""
        return self.holds_removals or bool(self.failed)

    def holds(self, key: ObjectKey) -> bool:
        """Whether an object that is not here must not count as removed."""
        return key.identity in self.failed or (self.holds_removals and key.identity not in self.identities)

    def is_kept(self, key: ObjectKey) -> bool:
        """Whether an object, or the Namespace that it lies in, goes on as it was accepted last."""
        return key.identity in self.kept or ("", "Namespace", "", key.namespace) in self.kept

    def of_kind(self, kind: GroupKind) -> tuple[Manifest, ...]:
        """All objects of a kind, whatever version they are written in, in snapshot order."""
        return self.kinds.get(kind, ())

    def in_namespace(self, namespace: str) -> tuple[Manifest, ...]:
        """All objects that lie in a namespace, the Namespace itself not among them, in snapshot order."""
        return self.namespaces.get(namespace, ())


PayloadMemo = tuple[Desired, PayloadIndex] | None
"""The index made last, with the desired tree that it was made of."""


def index_of(desired: Desired, memo: PayloadMemo, failures: Failures) -> tuple[PayloadIndex, PayloadMemo]:
    """The index of a commit's payload; one with objects that cannot be read is not kept."""
    if memo is not None and memo[0] is desired:
        return memo[1], memo
    index = index_payload(
        desired.payload,
        desired.namespaced,
        holds_removals=desired.holds_removals,
        policy=desired.config.policy,
        failures=failures,
        kept=frozenset(desired.kept_payload),
    )
    return index, None if index.failed else (desired, index)


def index_payload(
    payload: Iterable[Manifest],
    namespaced: Mapping[GroupKind, bool],
    *,
    holds_removals: bool = False,
    policy: PlacingPolicy | None = None,
    failures: Failures | None = None,
    kept: Collection[Identity] = frozenset(),
) -> PayloadIndex:
    """Order and group the payload; disabled kinds and objects that are never propagated are left out.

    One pass and one sort: 20,000 manifests take a fraction of a second, so it is simply rebuilt for each commit.
    """
    everything = list(payload)
    contained = failures or Failures()
    services = {(m.key.namespace, m.key.name) for m in everything if m.key.kind == "Service" and not m.key.group}
    kinds: dict[GroupKind, list[Manifest]] = {}
    namespaces: dict[str, list[Manifest]] = {}
    objects: dict[Identity, Manifest] = {}
    failed: set[Identity] = set()
    for manifest in sorted(everything, key=order_of):
        key = manifest.key
        placeable = contained.contain(Subject.of_object(key), None, _is_placeable, manifest, services)
        if placeable is None:
            failed.add(key.identity)
        if not placeable:
            continue
        kinds.setdefault(key.group_kind, []).append(manifest)
        if key.namespace:
            namespaces.setdefault(key.namespace, []).append(manifest)
        objects[key.identity] = manifest
    return PayloadIndex(
        kinds={kind: tuple(found) for kind, found in kinds.items()},
        namespaces={namespace: tuple(found) for namespace, found in namespaces.items()},
        objects=objects,
        namespaced=namespaced,
        holds_removals=holds_removals,
        identities=frozenset(m.key.identity for m in everything) if holds_removals else frozenset(),
        failed=frozenset(failed),
        policy=policy or USUAL_POLICY,
        kept=kept,
    )


def _is_placeable(manifest: Manifest, services: Container[tuple[str, str]]) -> bool:
    """Whether an object may be placed; all that selecting reads of it is read here, where it fails by itself."""
    key = manifest.key
    dict(manifest.labels)
    return is_selectable(key.group, key.kind) and is_propagated(key, manifest.body, services=services)
