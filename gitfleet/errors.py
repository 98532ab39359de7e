"""Every error that gitfleet raises on purpose, as one tree.

    GitfleetError
    ├── RetryLater          something was not ready; the same call may succeed on the next reconcile
    │   ├── LostRace        somebody else moved the branch first; read again before deciding again
    │   ├── RemoteUnreachable   the git remote did not answer
    │   │   └── RefusedForNow   it answered that it cannot do it now
    │   ├── DiskFull        there is no room on a disk of this machine
    │   ├── ClusterUnreachable  a member cluster's API server did not answer
    │   ├── NoResponse      one HTTP request got no response
    │   └── Stopped         the process was stopped before all clusters had answered
    └── GiveUp              trying again without a change by a person cannot help
        ├── BadInput        a file, an option or a revision that people wrote
        │   ├── UnreadableCommit    a commit that git refuses, or that the remote cannot give
        │   └── NoRepository    there is no git repository at the address
        ├── Forbidden       a remote or a cluster refused the credentials
        ├── RemoteRefuses   the git remote refuses what it is sent, whoever sends it
        └── MissingPart     a program or credential that the process needs is not there

Errors are for people: `str(error)` is one sentence that says what and where, `hint` says what to do.
Nothing here carries a secret; the caller masks before raising.
"""

from __future__ import annotations


class GitfleetError(Exception):
    """The root: one sentence, and optionally what to do about it."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class RetryLater(GitfleetError):
    """A passing error: the next reconcile tries again with back-off."""


class LostRace(RetryLater):
    """A compare-and-swap found another head than expected; nothing was written."""


class RemoteUnreachable(RetryLater):
    """The git remote could not be reached or broke off."""


class RefusedForNow(RemoteUnreachable):
    """The git remote answered, and cannot do what was asked now: its disk is full, or something else holds the branch's
    lock."""


class DiskFull(RetryLater):
    """A disk of this machine has no room for what was to be kept; nothing else was changed."""


class ClusterUnreachable(RetryLater):
    """A member cluster's API server could not be reached or timed out."""


class NoResponse(RetryLater):
    """One HTTP request got no response; the message says only why ("connection refused"), the same each time.

    `passing`: whether it may get one a moment later. A server that is slow is not sent a request again at once, and a
    certificate that was refused will be refused again.
    """

    def __init__(self, message: str, *, passing: bool) -> None:
        super().__init__(message)
        self.passing = passing


class ForgeUnavailable(RetryLater):
    """A forge could not be reached, or does nothing for now; `after` is how many seconds it asks to wait."""

    def __init__(self, message: str, *, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


class DestinationUnavailable(RetryLater):
    """A destination of notifications could not be reached, or takes nothing for now; `after` is how many seconds it
    asks to wait."""

    def __init__(self, message: str, *, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


class Stopped(RetryLater):
    """The process was stopped before all clusters had answered; another one does what is left to do."""


class GiveUp(GitfleetError):
    """Only a change by a person can help."""


class BadInput(GiveUp):
    """What a person wrote cannot be used: a path, an option, a revision, a scenario."""


class UnreadableCommit(BadInput):
    """A commit that git refuses, or that the remote cannot give. `reason` says why in words that are the same each
    time; `lasting`: whether it lies in the commit itself, so that it need not be asked for again."""

    def __init__(self, message: str, *, reason: str, lasting: bool, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.reason = reason
        self.lasting = lasting


class NoRepository(BadInput):
    """There is no git repository at the address, or none that the credentials may see."""


class RemoteRefuses(GiveUp):
    """The git remote refuses what it is sent, whoever sends it: too much at once, or a part that it does not take."""


class Forbidden(GiveUp):
    """A git remote or a cluster refused the credentials it was given."""


class MissingPart(GiveUp):
    """A program, file or credential that this process needs was not given to it."""
