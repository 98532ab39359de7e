"""What is wrong with something people wrote, with its place, and what is used instead of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from dataclasses import field as declared
from enum import StrEnum
from typing import Annotated, Any, Final

from gitfleet.api.annotations import At, Default, Location
from gitfleet.api.objects import Origin
from gitfleet.api.sentences import dotted
from gitfleet.api.texts import ApiText
from gitfleet.formats.canonical_json import digest_of
from gitfleet.formats.sentences import and_more, counted
from gitfleet.formats.text_table import Sentence

MOST_LISTED: Final = 1000
LONGEST_NAME: Final = 300
LONGEST_MESSAGE: Final = 1000
_CAUSE_DIGITS: Final = 12
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
    `code` is that of the sentence. Faults with one `cause` have the same cure, in the same field; "" is a cause of its
    own. Both follow from the sentence, so they are not compared.
    """

    path: str
    line: int
    object: Annotated[str, Default("")]
    field: Annotated[str, Default("")]
    message: str
    severity: Severity = Severity.ERROR
    code: Annotated[str, Default("")] = declared(default="", compare=False)
    cause: Annotated[str, Default("")] = declared(default="", compare=False)

    def __post_init__(self) -> None:
        if isinstance(self.message, Sentence):
            object.__setattr__(self, "code", self.message.code)
            object.__setattr__(self, "cause", self.cause or _cause(self.message, self.field))
            object.__setattr__(self, "message", str(self.message))

    def __str__(self) -> str:
        return str(FaultGroup((self,)))

    def document(self) -> dict[str, Any]:
        """All of it by name."""
        return asdict(self) | {"severity": self.severity.value}


@dataclass(frozen=True, slots=True)
class FaultGroup:
    """Faults of one cause, sorted by place."""

    faults: tuple[Fault, ...]

    @property
    def first(self) -> Fault:
        """The fault that people are shown."""
        return self.faults[0]

    @property
    def further(self) -> str:
        """` and 3 more`, "" for a fault alone."""
        return and_more(len(self.faults) - 1)

    def __str__(self) -> str:
        fault = self.first
        middle = "".join(f"{part}: " for part in (fault.object, fault.field) if part)
        return f"{fault.path}:{fault.line}{self.further}: {middle}{fault.message}"


def by_cause(faults: Iterable[Fault]) -> list[FaultGroup]:
    """The faults as people read them, in every output: those of one cause and severity together, at the first of
    them."""
    groups: dict[object, list[Fault]] = {}
    for fault in faults:
        groups.setdefault((fault.severity, fault.cause) if fault.cause else fault, []).append(fault)
    return [FaultGroup(tuple(sorted(group))) for group in groups.values()]


def fault_at(place: tuple[str, int], name: str, location: Location, message: str, severity: Severity) -> Fault:
    """A fault in a field of the object `name`, at a path and line. Items of a list are one field to its cause."""
    general = dotted(tuple(step for step in location if isinstance(step, str)))
    cause = _cause(message, general) if isinstance(message, Sentence) else ""
    return Fault(*place, name, dotted(location), message, severity, cause=cause)


def fault_from(document: Mapping[str, Any]) -> Fault:
    """The fault of its document."""
    return Fault(**{**document, "severity": Severity(document["severity"])})


def _cause(sentence: Sentence, place: str) -> str:
    return digest_of([place, *sentence.cause])[:_CAUSE_DIGITS]


def is_error(fault: Fault) -> bool:
    """Whether a fault holds its object back."""
    return fault.severity is Severity.ERROR


def warning_of(origin: Origin | None, name: str, message: str, path: str = "") -> Fault:
    """A warning about the object `Kind/name`, where it is written; at `path` where that is not known."""
    return Fault(origin.path if origin else path, origin.line if origin else 1, name, "", message, Severity.WARNING)


def listed(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """The faults that are kept and shown, each once and sorted by place: the first MOST_LISTED, errors before warnings,
    and a sentence that says how many more there are. Names and messages are cut at LONGEST_NAME and LONGEST_MESSAGE
    characters."""
    ordered = sorted({_cut(fault) for fault in faults}, key=lambda fault: (not is_error(fault), fault))
    chosen, further = ordered[:MOST_LISTED], ordered[MOST_LISTED:]
    if further:
        errors = sum(map(is_error, further))
        counts = [(errors, "error"), (len(further) - errors, "warning")]
        numbers = " and ".join(counted(count, f"more {word}") for count, word in counts if count)
        sentence = ApiText.NOT_LISTED_HERE(numbers=numbers)
        chosen.append(Fault(further[0].path, further[0].line, "", "", sentence, further[0].severity))
    return tuple(sorted(chosen))


def are_all_listed(faults: Sequence[Fault]) -> bool:
    """Whether `listed` left out nothing."""
    return len(faults) <= MOST_LISTED


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
