"""Which new object stands in the place of one that is gone; thousands of each are compared in linear time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from gitfleet.formats.near_names import is_near, is_typing_error

_Identity: TypeAlias = tuple[str, str, str, str]
_GROUP, _KIND, _NAMESPACE, _NAME = range(4)
_FEW: Final = 32
"""So many names are compared one by one."""
MOST_LETTERS: Final = 500_000
"""Names of more letters in all, which differ in nothing else, are not compared: none counts as misspelt."""


class Renames:
    """The new objects of one place, each by its group, kind, namespace and name."""

    def __init__(self, fresh: Iterable[_Identity]) -> None:
        self._alike: dict[tuple[int, tuple[str, ...]], list[_Identity]] = {}
        self._spellings: dict[tuple[int, tuple[str, ...]], dict[int, list[_Identity]]] = {}
        for new in sorted(set(fresh)):
            for field in range(4):
                self._alike.setdefault(_others(new, field), []).append(new)

    def in_another_group(self, old: _Identity) -> _Identity | None:
        """The first object that differs in its group alone."""
        return self._first(old, _GROUP)

    def elsewhere(self, old: _Identity) -> _Identity | None:
        """The first object that differs in its namespace alone."""
        return self._first(old, _NAMESPACE)

    def of_the_kind(self, old: _Identity) -> _Identity | None:
        """The first object that differs in its name alone."""
        return self._first(old, _NAME)

    def misspelt(self, old: _Identity) -> _Identity | None:
        """The first object that differs in one of the four, and there as a typing error does."""
        near = [
            new for field in (_GROUP, _KIND) for new in self._differing(old, field) if is_near(old[field], new[field])
        ]
        return min([*near, *self.misspellings(old)], default=None)

    def spelt_nearly(self, old: _Identity) -> _Identity | None:
        """The first object that differs in its namespace or name alone, and there as a typing error does."""
        return min(self.misspellings(old), default=None)

    def misspellings(self, old: _Identity) -> Iterator[_Identity]:
        """All of these."""
        for field in (_NAMESPACE, _NAME):
            yield from (new for new in self._spelt_alike(old, field) if is_typing_error(old[field], new[field]))

    def _first(self, old: _Identity, field: int) -> _Identity | None:
        return next(self._differing(old, field), None)

    def _differing(self, old: _Identity, field: int) -> Iterator[_Identity]:
        return (new for new in self._alike.get(_others(old, field), ()) if new != old)

    def _spelt_alike(self, old: _Identity, field: int) -> Iterable[_Identity]:
        """All objects that may be misspellings, and a few others."""
        key = _others(old, field)
        alike = self._alike.get(key, [])
        if len(alike) <= _FEW:
            return alike
        if key not in self._spellings:
            self._spellings[key] = _by_spelling(alike, field)
        known = self._spellings[key]
        return {new for spelling in _spellings(old[field]) for new in known.get(spelling, ())}


def _others(identity: _Identity, field: int) -> tuple[int, tuple[str, ...]]:
    return field, identity[:field] + identity[field + 1 :]


def _by_spelling(alike: Sequence[_Identity], field: int) -> dict[int, list[_Identity]]:
    found: dict[int, list[_Identity]] = {}
    for new in alike if sum(len(new[field]) for new in alike) <= MOST_LETTERS else ():
        for spelling in _spellings(new[field]):
            found.setdefault(spelling, []).append(new)
    return found


def _spellings(name: str) -> set[int]:
    """Of the name and of all that one letter less makes of it: two names that differ by a typing error share one. As
    hashes, which take less memory."""
    return {hash(name), *(hash(name[:n] + name[n + 1 :]) for n in range(len(name)))}
