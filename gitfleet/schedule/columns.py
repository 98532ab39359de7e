"""One fact about every cluster, as sets by text: the labels of one key, the quantities of one property, the taints.

A column is a value that keeps what was computed from it: `changed` gives the next one, in which only the clusters
that changed were read.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, TypeVar, cast

from gitfleet.formats.canonical_json import json_bytes
from gitfleet.schedule.cluster_set import set_of

_MANY_UPDATES = 64
T = TypeVar("T")


@dataclass(slots=True)
class _Findings:
    """What was worked out from a column so far; each part follows from the values alone."""

    positions: Mapping[str, list[int]] | None = None
    sets: dict[str, int] = field(default_factory=dict)
    results: dict[Hashable, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Column:
    """What each cluster says about one fact: `values[i]` is the text of the i-th cluster, None when it says nothing.

    Sets are built when they are first asked for, so a key with thousands of texts costs what is used of it.
    """

    values: tuple[str | None, ...]
    _findings: _Findings = field(default_factory=_Findings, compare=False, repr=False)

    @property
    def positions(self) -> Mapping[str, list[int]]:
        """The clusters of each text, in ascending order."""
        positions = self._findings.positions
        if positions is None:
            gathered: dict[str, list[int]] = {}
            for i, text in enumerate(self.values):
                if text is not None:
                    gathered.setdefault(text, []).append(i)
            positions = self._findings.positions = gathered
        return positions

    def members(self, text: str) -> int:
        """The set of the clusters that say exactly `text`."""
        members = self._findings.sets.get(text)
        if members is None:
            members = set_of(self.positions.get(text, ()), len(self.values))
            self._findings.sets[text] = members
        return members

    def once(self, question: Hashable, work_out: Callable[[], T]) -> T:
        """A result that follows from the values alone, computed when it is first needed."""
        results = self._findings.results
        if question not in results:
            results[question] = work_out()
        return cast(T, results[question])

    @property
    def present(self) -> int:
        """The set of the clusters that say anything."""
        return self.once(
            "present",
            lambda: set_of([i for i, text in enumerate(self.values) if text is not None], len(self.values)),
        )

    @property
    def digest(self) -> bytes:
        """Equal for equal columns of the same clusters."""
        return self.once("digest", lambda: sha256(json_bytes(self.values)).digest())

    def changed(self, updates: Iterable[tuple[int, str | None]]) -> Column:
        """The column after some clusters say something else; the same object when none does."""
        real = [(i, text) for i, text in updates if self.values[i] != text]
        if not real:
            return self
        values = list(self.values)
        for i, text in real:
            values[i] = text
        if len(real) > _MANY_UPDATES:
            return Column(tuple(values))
        sets = dict(self._findings.sets)
        for i, text in real:
            bit = 1 << i
            for moved in (self.values[i], text):
                if moved is not None and moved in sets:
                    sets[moved] ^= bit
        return Column(tuple(values), _Findings(sets=sets))
