"""Where the loop says what it is doing, and for how long: a reconcile is a trace, its phases and clusters are spans."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Protocol, TypeAlias

SpanFailed: TypeAlias = Callable[[str], None]
"""Says why a span failed, in a word that holds no content."""


class Tracing(Protocol):
    """One reconcile at a time: `began`, `phase` as each phase ends, `ended`. `cluster` is called from any thread."""

    def began(self) -> None:
        """A reconcile begins, and with it its first phase."""

    def phase(self, name: str) -> None:
        """The phase that is under way ends and was this one; the next one begins."""

    def ended(self, outcome: str, attributes: Mapping[str, str]) -> None:
        """The reconcile is over; `outcome` is `failed` or says what it came to."""

    def cluster(self, action: str, name: str) -> AbstractContextManager[SpanFailed]:
        """While this lasts, a cluster is asked or changed."""
