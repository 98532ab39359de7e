"""Sets of clusters as one big integer: bit i stands for the i-th cluster in ascending order of names.

An intersection of two sets of 10,000 clusters costs 0.2 microseconds; the highest bit is the largest name, which is the
one that wins a tie (decision D27).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import compress, islice
from typing import TypeVar

T = TypeVar("T")
_FLAGS = bytes.maketrans(b"01", b"\x00\x01")
_FEW = 8
_SPARSE = 64
_ONE = ord("1")


def set_of(positions: Collection[int], size: int) -> int:
    """The set that holds the given positions below `size`."""
    if len(positions) <= _FEW:
        members = 0
        for position in positions:
            members |= 1 << position
        return members
    flags = bytearray(b"0") * size
    for position in positions:
        flags[position] = _ONE
    flags.reverse()
    return int(flags or b"0", 2)


def descending(members: int, items: Sequence[T]) -> Iterable[T]:
    """The items at the members' positions, highest position first; `items` holds one for each position, HIGHEST
    first.
    """
    return compress(items, format(members, f"0{len(items)}b").encode().translate(_FLAGS))


def ascending(members: int, items: Sequence[T]) -> Iterable[T]:
    """The items at the members' positions, lowest position first; `items` holds one for each position, lowest first."""
    return compress(items, format(members, f"0{len(items)}b")[::-1].encode().translate(_FLAGS))


def positions(members: int) -> Iterator[int]:
    """The positions, lowest first."""
    if members.bit_count() <= _SPARSE:
        while members:
            lowest = members & -members
            yield lowest.bit_length() - 1
            members ^= lowest
        return
    yield from ascending(members, range(members.bit_length()))


def positions_down(members: int) -> Iterator[int]:
    """The positions, highest first."""
    if members.bit_count() <= _SPARSE:
        while members:
            highest = members.bit_length() - 1
            yield highest
            members ^= 1 << highest
        return
    size = members.bit_length()
    yield from descending(members, range(size - 1, -1, -1))


def first_down(members: int, count: int) -> list[int]:
    """At most `count` positions, highest first."""
    if count > _SPARSE:
        return list(islice(positions_down(members), count))
    taken: list[int] = []
    while members and len(taken) < count:
        highest = members.bit_length() - 1
        taken.append(highest)
        members ^= 1 << highest
    return taken
