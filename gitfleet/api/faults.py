"""What is wrong with something people wrote, with its place, and what is used instead of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from gitfleet.api.annotations import At, Default


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
    object: Annotated[str, Default("")]
    field: Annotated[str, Default("")]
    message: str
    severity: Severity = Severity.ERROR

    def __str__(self) -> str:
        middle = "".join(f"{part}: " for part in (self.object, self.field) if part)
        return f"{self.path}:{self.line}: {middle}{self.message}"


def is_error(fault: Fault) -> bool:
    """Whether a fault holds its object back."""
    return fault.severity is Severity.ERROR


@dataclass(frozen=True, slots=True, order=True)
class LastGood:
    """Objects that go on because a file is faulty (invariant 2), as an older version of a file had them.

    `blob` is that version, `documents` the indexes of the documents in it that still count, ascending; the rest of it
    is over. `path` is where it was when that is not the faulty file itself (which was renamed, say), else "". A
    `blob` of "" says that it is not known what was in the faulty file: then no removal counts until the file can be
    read.
    """

    blob: Annotated[str, Default("")]
    documents: Annotated[tuple[int, ...], Default(())]
    path: Annotated[str, At("writtenIn")] = ""
