"""What a field of a declaration may say beside its type: where it stands in the file, how its text differs from its
value, what it must satisfy.

Lengths and bounds are those of `annotated_types` (`Len`, `MinLen`, `Interval`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field
from enum import Enum
from typing import Any, Final

from gitfleet.api.texts import ApiText

Location = tuple[str | int, ...]
"""Field names and list indexes, from the top of what is read."""
Break = tuple[Location, str]
"""Where something is wrong, and a sentence that says what to do. No sentence repeats a value that stands in a file."""


class At:
    """The path of a field in the file, from the top of its class's own mapping; without it the camelCase name.

    `alone` is what it means that the mapping around the field is there and the field is not; `also` is another name
    that people may write in place of the last one of the path.
    """

    def __init__(self, *path: str, alone: Any = MISSING, also: str = "") -> None:
        self.path, self.alone, self.also = path, alone, also


@dataclass(frozen=True, slots=True, eq=False)
class Inline:
    """The parts of a dataclass that stand one by one among the fields of its owner.

    `prefix` is the mapping in which they stand under their camelCase names, `paths` says where single ones stand
    instead, `types` what a single one must satisfy beyond its own type.
    """

    prefix: tuple[str, ...] = ()
    paths: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    types: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """A value that is written otherwise than its type says: `read` raises ValueError with a sentence."""

    read: Callable[[Any], Any]
    schema: Mapping[str, Any]
    write: Callable[[Any], Any] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """What people may write: `sentence` gives the sentence that says what is wrong, None when nothing is."""

    sentence: Callable[[Any], str | None]
    schema: Mapping[str, Any] = field(default_factory=dict)


class OneOf:
    """The only texts that people may write."""

    def __init__(self, *values: str) -> None:
        self.values = values


@dataclass(frozen=True, slots=True, eq=False)
class Accept:
    """Another spelling that people may use: `normal` gives the usual one, and leaves everything else as it is.

    `schema` makes the JSON Schema of that spelling of the one of the usual one.
    """

    normal: Callable[[Any], Any]
    schema: Callable[[Mapping[str, Any]], Mapping[str, Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Default:
    """What an absent field means, where the class itself has no default or another one."""

    value: Any


class _FirstOfList:
    """The value stands in a list, of which the first item counts."""


FIRST_OF_LIST: Final = _FirstOfList()


class Only(Enum):
    """Fields that do not stand in every file."""

    MEMORY = ApiText.NEVER_FILE()
    SERVER = ApiText.FILLED_SERVER_GITFLEET()


class Absent(Enum):
    """Stands for a value that was not written, as opposed to null."""

    ABSENT = "absent"


def names_taken(names: Iterable[str], at: Location, kind: str, earlier: Iterable[str] = ()) -> Iterator[Break]:
    """The items of the list at a location whose name an earlier one has, or one of another list."""
    seen = set(earlier)
    for index, name in enumerate(names):
        if name in seen:
            yield (*at, index, "name"), ApiText.TAKEN_EARLIER_RENAME(what=kind)
        seen.add(name)


def repeated(items: Sequence[object], at: Location, sentence: str) -> Iterator[Break]:
    """The items of the list at a location that stand in it before."""
    return (((*at, index), sentence) for index, item in enumerate(items) if item in items[:index])


def below(location: Location, breaks: list[Break]) -> list[Break]:
    """The same breaks, seen from further up: `location` leads to what they were located in."""
    return [((*location, *further), sentence) for further, sentence in breaks]
