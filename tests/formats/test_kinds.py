"""The table of built-in kinds: its two orders are KubeFleet's, and no kind stands in it twice."""

from __future__ import annotations

from collections import Counter

import pytest

from gitfleet.formats.kinds import BUILT_IN_KINDS, LAST_RANK, LAST_WAVE, is_selectable, snapshot_rank, wave_of

_ORDER = """
PriorityClass Namespace NetworkPolicy ResourceQuota LimitRange PodDisruptionBudget ServiceAccount Secret
ConfigMap StorageClass PersistentVolume PersistentVolumeClaim CustomResourceDefinition ClusterRole
ClusterRoleBinding Role RoleBinding Service DaemonSet Pod ReplicationController ReplicaSet Deployment
HorizontalPodAutoscaler StatefulSet Job CronJob IngressClass Ingress APIService MutatingWebhookConfiguration
ValidatingWebhookConfiguration
"""
SNAPSHOT_ORDER = _ORDER.split()


def test_a_snapshot_is_sorted_as_in_kubefleet() -> None:
    ranked = [row for row in BUILT_IN_KINDS.values() if row.order is not None]
    assert [row.kind for row in sorted(ranked, key=lambda row: row.order or 0)] == SNAPSHOT_ORDER
    assert Counter(row.order for row in ranked) == Counter(range(LAST_RANK))
    assert snapshot_rank("Widget") == LAST_RANK


def test_a_kind_of_a_foreign_group_has_no_wave() -> None:
    assert (wave_of("", "Namespace"), wave_of("apps", "Deployment")) == (0, 4)
    assert (wave_of("example.com", "Namespace"), wave_of("example.com", "Widget")) == (LAST_WAVE, LAST_WAVE)


@pytest.mark.parametrize(
    ("group", "kind", "selectable"),
    [
        ("", "ConfigMap", True),
        ("", "Pod", False),
        ("example.com", "Widget", True),
        ("coordination.k8s.io", "Lease", False),
        ("placement.kubernetes-fleet.io", "ClusterResourcePlacement", False),
        ("placement.kubernetes-fleet.io", "ResourceEnvelope", True),
    ],
)
def test_what_placements_may_select(group: str, kind: str, selectable: bool) -> None:
    assert is_selectable(group, kind) is selectable
