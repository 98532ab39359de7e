"""MemberCluster: the object with its status (kubefleet.md §1; seed 003, "Cluster properties")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitfleet.api import read_state, write
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.objects import JsonObject


def cluster_object(cluster: MemberCluster) -> JsonObject:
    """The object as `kubectl get -o yaml` would show it; defaults are left out."""
    return write(cluster)


def read_cluster(source: Mapping[str, Any]) -> MemberCluster:
    """The cluster back. `origin` is not kept: the desired commit tells it."""
    return read_state(MemberCluster, dict(source))
