"""Bounds on what an untrusted repository may make gitfleet read; sizes in bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar

MAX_FILES: Final = 200_000
"""Most files of one commit of the config repo."""
MAX_VARIANTS: Final = 10_000
"""Most variants of all Folders of one commit."""
MAX_FILE_BYTES: Final = 4 * 1024 * 1024
"""Largest file of the config repo."""
MAX_STATE_BYTES: Final = 16 * MAX_FILE_BYTES
"""Largest file of the state branch, and what kustomize may print for one folder."""


_Item = TypeVar("_Item")


def in_batches(items: Iterable[_Item], size: Callable[[_Item], int], limit: int) -> Iterator[list[_Item]]:
    """Group items in order: a group takes items while their sizes stay within the limit, and an item beyond the limit
    stands alone."""
    batch: list[_Item] = []
    total = 0
    for item in items:
        if batch and total + size(item) > limit:
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += size(item)
    if batch:
        yield batch
