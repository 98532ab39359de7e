"""What nobody foresaw, kept to the one thing it happened to (invariant 9).

Of the deciding and performing code, only `attempt`, the calls into plug-ins and their loading stop an exception of any
kind. What `attempt` gives back instead of a result is a `Failure`: whoever asked keeps what was there before, says so
in a condition, and goes on with the others. The report has no message of an exception that is not ours, as that may
repeat what a Secret holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from traceback import extract_tb
from types import TracebackType
from typing import Final, NamedTuple, ParamSpec, TypeVar

from gitfleet.api.objects import ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.values import NamespacedName
from gitfleet.errors import GitfleetError

T = TypeVar("T")
P = ParamSpec("P")
_MOST_FRAMES: Final = 30


class Subject(NamedTuple):
    """The one thing that failed: a kind, its `namespace/name`, and for an object on a member the cluster."""

    kind: str
    name: str
    cluster: str = ""

    @classmethod
    def of_placement(cls, key: PlacementKey) -> Subject:
        """A placement."""
        return cls(key.kind, str(key))

    @classmethod
    def of_run(cls, key: NamespacedName) -> Subject:
        """A staged update run."""
        return cls(f"{'' if key.namespace else 'Cluster'}StagedUpdateRun", str(key))

    @classmethod
    def of_object(cls, key: ObjectKey, cluster: str = "") -> Subject:
        """An object of the payload, or one on a member."""
        return cls(key.kind, f"{key.namespace}/{key.name}" if key.namespace else key.name, cluster)

    def __str__(self) -> str:
        return f"{self.kind} {self.name}" + (f" on cluster {self.cluster}" if self.cluster else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What failed, with which error, and where in the code. Two failures of one subject at one place are equal."""

    subject: Subject
    error: str
    trace: tuple[str, ...] = ()
    cause: Exception | None = field(default=None, compare=False, repr=False)

    @property
    def id(self) -> str:
        """Eight hexadecimal digits that name the saved report: the same for as long as the failure lasts."""
        return sha256("\n".join((str(self.subject), self.error, *self.trace[-1:])).encode()).hexdigest()[:8]

    @property
    def sentence(self) -> str:
        """For conditions and outcomes: what happened, without any content."""
        return f"{self.error} (report {self.id})"

    @property
    def report(self) -> str:
        """What is saved and logged."""
        return "\n  ".join((f"report {self.id}: {self.subject}: {self.error}", *self.trace))

    @property
    def for_people(self) -> str:
        """An error of ours as it says itself, of any other the `sentence`."""
        return self.error if isinstance(self.cause, GitfleetError) else self.sentence

    @property
    def for_log(self) -> str:
        """An error of ours as it says itself, of any other the `report`."""
        return self.error if isinstance(self.cause, GitfleetError) else self.report


About = Subject | Callable[[], Subject]
"""What may fail, or how to say it: for what is asked so often that nobody should name it before it failed."""


def attempt(subject: About, call: Callable[P, T], *args: P.args, **named: P.kwargs) -> T | Failure:
    """What `call` returns, or the failure that stopped it.

    MemoryError, and what is no Exception (an interrupt, an exit), passes through: it concerns the whole process.
    """
    try:
        return call(*args, **named)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - what this function is for
        subject = subject if isinstance(subject, Subject) else subject()
        if isinstance(error, GitfleetError):
            return Failure(subject=subject, error=str(error), cause=error)
        text = f"unexpected {type(error).__name__}"
        return Failure(subject=subject, error=text, trace=_frames(error.__traceback__), cause=error)


class Failures:
    """The failures of one pass, in the order in which they happened, each once."""

    __slots__ = ("_found",)

    def __init__(self, failures: Iterable[Failure] = ()) -> None:
        self._found: dict[Subject, list[Failure]] = {}
        for failure in failures:
            self.note(failure)

    def contain(self, subject: About, fallback: T, call: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
        """What `call` returns; `kept`, and the failure noted, when it fails."""
        result = attempt(subject, call, *args, **named)
        if isinstance(result, Failure):
            self.note(result)
            return fallback
        return result

    def note(self, failure: Failure) -> None:
        """Note a failure that somebody contained."""
        noted = self._found.setdefault(failure.subject, [])
        if failure not in noted:
            noted.append(failure)

    def note_all(self, failures: Failures) -> None:
        """Note what somebody else collected."""
        for failure in failures.found:
            self.note(failure)

    def __contains__(self, subject: Subject) -> bool:
        return subject in self._found

    @property
    def found(self) -> tuple[Failure, ...]:
        """All of them."""
        return tuple(failure for failures in self._found.values() for failure in failures)

    def of(self, subject: Subject) -> Failure | None:
        """The first failure of a subject."""
        return self._found[subject][0] if subject in self._found else None


def _frames(trace: TracebackType | None) -> tuple[str, ...]:
    frames = extract_tb(trace, limit=-_MOST_FRAMES)
    return tuple(f"{_inside(f.filename)}:{f.lineno} {f.name}" for f in frames)


def _inside(path: str) -> str:
    """The path from the package on: where gitfleet is installed does not matter."""
    _, separator, inside = path.replace("\\", "/").rpartition("/gitfleet/")
    return f"gitfleet/{inside}" if separator else path.replace("\\", "/").rpartition("/")[2]
