"""Grouping by size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

_Item = TypeVar("_Item")


def in_batches(items: Iterable[_Item], size: Callable[[_Item], int], limit: int) -> Iterator[list[_Item]]:
    """Group items in order: a group takes items while their sizes stay within the limit, and an item beyond the limit
    stands alone."""
    batch: list[_Item] = []
    held = 0
    for item in items:
        if batch and held + size(item) > limit:
            yield batch
            batch, held = [], 0
        batch.append(item)
        held += size(item)
    if batch:
        yield batch
