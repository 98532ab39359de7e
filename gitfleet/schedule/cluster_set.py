"""ClusterSet: a set of clusters of one fleet, as scheduler plug-ins get and return them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gitfleet.schedule.bits import ascending, set_of
from gitfleet.schedule.texts import ScheduleText


@dataclass(frozen=True, slots=True)
class ClusterSet:
    """Immutable; `a | b`, `a & b` and `a - b` cost microseconds for ten thousand clusters.

    `names` are all clusters of the fleet in ascending order. `bits` is how gitfleet stores the set: bit i stands for
    `names[i]`; plug-ins need not read it. Iteration gives names in ascending order.
    """

    names: tuple[str, ...]
    bits: int = 0

    @classmethod
    def of(cls, names: tuple[str, ...], members: Iterable[str]) -> ClusterSet:
        """The set of `members` out of a fleet's `names`; ValueError for one that the fleet does not have."""
        positions: list[int] = []
        for member in members:
            position = bisect_left(names, member)
            if position == len(names) or names[position] != member:
                raise ValueError(ScheduleText.FLEET_NO_CLUSTER(member=member))
            positions.append(position)
        return cls(names, set_of(positions, len(names)))

    def __or__(self, other: ClusterSet) -> ClusterSet:
        return ClusterSet(self.names, self.bits | self._bits_of(other))

    def __and__(self, other: ClusterSet) -> ClusterSet:
        return ClusterSet(self.names, self.bits & self._bits_of(other))

    def __sub__(self, other: ClusterSet) -> ClusterSet:
        return ClusterSet(self.names, self.bits & ~self._bits_of(other))

    def __iter__(self) -> Iterator[str]:
        return iter(ascending(self.bits, self.names))

    def __len__(self) -> int:
        return self.bits.bit_count()

    def __bool__(self) -> bool:
        return bool(self.bits)

    def __contains__(self, name: object) -> bool:
        position = bisect_left(self.names, name) if isinstance(name, str) else len(self.names)
        return position < len(self.names) and self.names[position] == name and bool(self.bits >> position & 1)

    def _bits_of(self, other: ClusterSet) -> int:
        if other.names is not self.names and other.names != self.names:
            raise ValueError(ScheduleText.TWO_SETS_DIFFERENT_FLEETS())
        return other.bits
