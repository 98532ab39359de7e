"""What the loop tells where nobody traces."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext

from gitfleet.ports.tracing import SpanFailed


class Untraced:
    """Says nothing to nobody."""

    def began(self) -> None:
        """See Tracing."""

    def phase(self, name: str) -> None:
        """See Tracing."""

    def ended(self, outcome: str, attributes: Mapping[str, str]) -> None:
        """See Tracing."""

    def cluster(self, action: str, name: str) -> AbstractContextManager[SpanFailed]:
        """See Tracing."""
        return nullcontext(_nothing)


def _nothing(why: str) -> None:
    pass
