"""The groups and kinds that are not read as gitfleet's own, and what becomes of them."""

from __future__ import annotations

from typing import Final

from gitfleet.api.kinds import KINDS

WRITTEN_BY_GITFLEET: Final = frozenset(
    {
        "ClusterResourceOverrideSnapshot",
        "ClusterResourcePlacementStatus",
        "InternalMemberCluster",
        "ResourceOverrideSnapshot",
        "Work",
    }
)
"""KubeFleet's kinds that a hub's own controllers write, beside those that stand on the state branch as they are."""


def is_our_group(group: str) -> bool:
    """Whether gitfleet reads kinds of an API group itself: outside `resources/`, others of the group are errors."""
    return any(kind.group == group for kind in KINDS.values())
