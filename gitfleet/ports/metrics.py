"""Where the loop counts what it does."""

from __future__ import annotations

from typing import Protocol


class Metrics(Protocol):
    """Counts; called from any thread."""

    def reconciled(self, outcome: str, seconds: float, at: float | None) -> None:
        """A reconcile ended: `at` (seconds since 1970) where it succeeded."""

    def phase(self, name: str, seconds: float) -> None:
        """A phase of a reconcile ended."""

    def performed(self, action: str, outcome: str) -> None:
        """An operation on a cluster was carried out, or not."""

    def happened(self, event: str) -> None:
        """An event of the timeline."""

    def delivered(self, provider: str, outcome: str) -> None:
        """A request to a webhook was answered."""

    def notified(self, type_: str, outcome: str) -> None:
        """A message to a destination of such a type was delivered, failed and comes again, or was dropped."""

    def called(self, kind: str, outcome: str) -> None:
        """A call of a rollout, a webhook or a query of a metric, was answered or failed."""
