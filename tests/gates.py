"""Removal gates for tests of what lies behind them."""

from __future__ import annotations

from typing import Any, Final

from gitfleet.api.objects import Identity, ObjectKey
from gitfleet.model.removals import ClusterGate, Permit, RemovalGate

BY: Final = "test"


class _Everything(dict[Identity, str]):
    """Lets every object go."""

    def get(self, key: Identity, default: Any = None) -> Any:
        """By the test."""
        del key, default
        return BY


class OpenGate(RemovalGate):
    """Lets every object go."""

    def on(self, cluster: str) -> ClusterGate:
        """On every cluster."""
        return open_gate(cluster)


def open_gate(cluster: str = "c1") -> ClusterGate:
    """Lets every object of a cluster go."""
    return ClusterGate(cluster, _Everything())


def permit(cluster: str, key: ObjectKey) -> Permit:
    """What an open gate gives."""
    return Permit(cluster, key.identity, BY)


OPEN: Final = OpenGate()
