"""What is wrong with something people wrote, with its place, and what goes on in its stead."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """An error holds the object back; a warning lets it through."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One sentence about one field of one object at one line (contracts.md §4).

    `object` is `Kind/name` or `Kind/namespace/name`, "" when the file could not be read that far; `field` is a dotted
    path such as `spec.policy.numberOfClusters`, "" for the whole object. No value of a Secret ever stands in `message`.
    """

    path: str
    line: int
    object: str
    field: str
    message: str
    severity: Severity = Severity.ERROR

    def __str__(self) -> str:
        middle = "".join(f"{part}: " for part in (self.object, self.field) if part)
        return f"{self.path}:{self.line}: {middle}{self.message}"


@dataclass(frozen=True, slots=True, order=True)
class LastGood:
    """Objects that go on as an older version of their file had them (law 2): the version's blob id, and the indexes of
    the documents in it that still count, ascending. The rest of that version is over."""

    blob: str
    documents: tuple[int, ...]
