"""What is wrong with something people wrote, with its place, and what is used instead of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Annotated, Any, Final

from gitfleet.api.annotations import At, Default
from gitfleet.api.texts import ApiText
from gitfleet.formats.sentences import counted

MOST_OF_A_FILE: Final = 100
MOST_IN_ALL: Final = 1000
LONGEST_NAME: Final = 300
LONGEST_MESSAGE: Final = 1000
WHOLE_COMMIT: Final = "."
"""The path of the fault for which a commit is refused as a whole."""


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

    def document(self) -> dict[str, Any]:
        """All of it by name."""
        return asdict(self) | {"severity": self.severity.value}


def is_error(fault: Fault) -> bool:
    """Whether a fault holds its object back."""
    return fault.severity is Severity.ERROR


def listed(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """The faults that are kept and shown, each once and sorted by place: the first MOST_OF_A_FILE of each file and
    MOST_IN_ALL altogether, errors before warnings. A sentence for each file, and one for the files of which nothing is
    listed, says how many more there are. Names and messages are cut at LONGEST_NAME and LONGEST_MESSAGE characters."""
    every = sorted({_cut(fault) for fault in faults}, key=lambda fault: (not is_error(fault), fault))
    seen: Counter[str] = Counter()
    chosen: list[Fault] = []
    others: dict[str, list[Fault]] = {}
    for fault in every:
        if len(chosen) < MOST_IN_ALL and seen[fault.path] < MOST_OF_A_FILE:
            seen[fault.path] += 1
            chosen.append(fault)
        else:
            others.setdefault(fault.path, []).append(fault)
    chosen += [_more(rest, ApiText.THIS_FILE_HAS()) for path, rest in others.items() if path in seen]
    if unseen := {path: rest for path, rest in others.items() if path not in seen}:
        files = ApiText.THIS_FILE_HAS() if len(unseen) == 1 else ApiText.FILE_OTHERS(count=len(unseen) - 1)
        chosen.append(_more(sorted(fault for rest in unseen.values() for fault in rest), files))
    return tuple(sorted(chosen))


def are_all_listed(faults: Sequence[Fault], path: str) -> bool:
    """Whether `listed` left out nothing of a file."""
    return len(faults) <= MOST_IN_ALL and sum(fault.path == path for fault in faults) <= MOST_OF_A_FILE


def _more(rest: Sequence[Fault], where: str) -> Fault:
    """The sentence that stands for faults that are not listed, at the first of them."""
    errors = sum(map(is_error, rest))
    counts = [(errors, "error"), (len(rest) - errors, "warning")]
    said = " and ".join(counted(count, f"more {word}") for count, word in counts if count)
    message = ApiText.NOT_LISTED_HERE(where=where, why=said)
    return Fault(rest[0].path, rest[0].line, "", "", message, Severity.ERROR if errors else Severity.WARNING)


def _cut(fault: Fault) -> Fault:
    return replace(
        fault,
        object=_shortened(fault.object, LONGEST_NAME),
        field=_shortened(fault.field, LONGEST_NAME),
        message=_shortened(fault.message, LONGEST_MESSAGE),
    )


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}..."


@dataclass(frozen=True, slots=True, order=True)
class LastGood:
    """Objects that go on because a file is faulty (invariant 2), as an older version of a file had them.

    `blob` is that version, `documents` the indexes of the documents in it that still count, ascending; the rest of it
    is over. `path` is where it was when that is not the faulty file itself (which was renamed, or came after that was
    removed, say), else "". A `blob` of "" says that it is not known what was in the faulty file: then no removal
    counts until the file can be read.
    """

    blob: Annotated[str, Default("")]
    documents: Annotated[tuple[int, ...], Default(())]
    path: Annotated[str, At("writtenIn")] = ""


def errors_of(faults: Iterable[Fault]) -> frozenset[Fault]:
    """The errors without their lines: the same one, wherever its file has it."""
    return frozenset(replace(fault, line=0) for fault in faults if is_error(fault))
