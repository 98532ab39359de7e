"""A BlobCache in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


class MemoryCache:
    """Keeps everything until it is dropped."""

    def __init__(self) -> None:
        self._entries: dict[str, bytes] = {}

    def get_many(self, keys: Iterable[str]) -> Mapping[str, bytes]:
        """The entries that are there."""
        return {key: self._entries[key] for key in keys if key in self._entries}

    def put_many(self, entries: Mapping[str, bytes]) -> None:
        """Keep entries."""
        self._entries.update(entries)
