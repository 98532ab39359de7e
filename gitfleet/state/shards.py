"""Which file of a folder an entry stands in: at most about 64 entries a file, and few files move when one entry comes
or goes.

Every entry has an address, a number of 48 bits that follows from its name. A folder of up to SHARD_ENTRIES entries is
one file, `all.yaml`; a larger one is split by the first bit of the addresses (`0.yaml`, `1.yaml`), and so is each half
that is still too large (`00.yaml`, `01.yaml`). So the files follow from the entries alone, and one entry more or less
splits or joins at most one pair of files. Readers take any split: the listing shows which files there are.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar
from zlib import crc32

from gitfleet.api.inventory import InventoryEntry

SHARD_ENTRIES: Final = 64
_BITS: Final = 48
_NAME_BITS: Final = 16

T = TypeVar("T")


def named_address(name: str) -> int:
    """The address of an entry that has a name of its own in its folder."""
    return crc32(name.encode()) << (_BITS - 32)


def inventory_address(entry: InventoryEntry) -> int:
    """The address of an entry in its cluster's inventory: what belongs to one placement stands together, as far as it
    fits."""
    key, owner = entry.key, crc32(str(entry.placement).encode())
    named = crc32(f"{key.group}/{key.kind}/{key.namespace}/{key.name}".encode())
    return (owner >> (32 - _NAME_BITS)) << (_BITS - _NAME_BITS) | named


def shards(folder: str, entries: Iterable[T], address: Callable[[T], int]) -> dict[str, list[T]]:
    """Entries by the file they belong to, in the order given."""
    listed = list(entries)
    if not listed:
        return {}
    if len(listed) <= SHARD_ENTRIES:
        return {f"{folder}/all.yaml": listed}
    addresses = [address(entry) for entry in listed]
    starts, names = _leaves(sorted(addresses))
    files: dict[str, list[T]] = {}
    for entry, place in zip(listed, addresses, strict=True):
        name = names[bisect_right(starts, place) - 1]
        files.setdefault(f"{folder}/{name}.yaml", []).append(entry)
    return files


def _leaves(addresses: Sequence[int]) -> tuple[list[int], list[str]]:
    """The first address of every file that is needed, in order, and the file's name: the bits that all of its
    addresses begin with. Entries of one and the same address are never divided."""
    starts: list[int] = []
    names: list[str] = []
    pending = [("", 0, 0, len(addresses))]
    while pending:
        prefix, start, low, high = pending.pop()
        if high - low <= SHARD_ENTRIES or len(prefix) == _BITS:
            if high > low:
                starts.append(start)
                names.append(prefix)
            continue
        middle = start | 1 << (_BITS - 1 - len(prefix))
        cut = bisect_left(addresses, middle, low, high)
        pending += [(prefix + "1", middle, cut, high), (prefix + "0", start, low, cut)]
    return starts, names
