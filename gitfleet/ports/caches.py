"""A cache that survives restarts, keyed by git object ids: losing it costs time and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol


class BlobCache(Protocol):
    """Bytes by key; a key names a parser version and a blob id, so an entry never goes stale."""

    def get_many(self, keys: Iterable[str]) -> Mapping[str, bytes]:
        """The entries that are there."""

    def put_many(self, entries: Mapping[str, bytes]) -> None:
        """Keep entries; a failure to write is not an error to the caller."""
