"""The one place that makes deletions: the removal gate must permit each."""

from __future__ import annotations

from typing import Final

from gitfleet.api.objects import GroupKind, ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.formats.kinds import wave_of
from gitfleet.model.operations import Delete, PropagationPolicy
from gitfleet.model.removals import Permit

_HAVE_DEPENDENTS: Final = frozenset(
    {"Namespace", "CustomResourceDefinition", "PersistentVolume", "PersistentVolumeClaim"}
)


def deletion(permit: Permit, placement: PlacementKey, key: ObjectKey, uid: str, reason: str) -> Delete:
    """Delete the very object of a placement that has this uid."""
    return Delete(
        cluster=permit.cluster,
        placement=placement,
        key=key,
        uid=uid,
        wave=wave_of(key.group, key.kind),
        permit=permit,
        reason=reason,
        propagation=_propagation_of(key.group_kind),
    )


def _propagation_of(kind: GroupKind) -> PropagationPolicy:
    """How to delete: Foreground, as KubeFleet does, so that what an object made goes before it; Background for plain
    data, which makes nothing and is gone when the request returns."""
    plain = wave_of(kind.group, kind.kind) < 4 and kind.kind not in _HAVE_DEPENDENTS
    return PropagationPolicy.BACKGROUND if plain else PropagationPolicy.FOREGROUND
