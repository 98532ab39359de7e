"""Every sentence of gitfleet.approvals, each with its code."""

from __future__ import annotations

from gitfleet.formats.text_table import FaultTable


class ApprovalsText(FaultTable):
    """A code, and its sentence with the names of the values in it."""

    ANNOTATION_SAYS_APPROVE_ONE_WAITS = "its annotation {digest} says; approve the one that waits"
    ANOTHER_REQUEST = "is for another request than {asked}, as {digest}"
    ANOTHER_SNAPSHOT_WHOSE_RUN_ROLLS = (
        "is for another snapshot than {asked}, whose run rolls out {snapshot}, as {snapshot_2}"
    )
    ANSWERS_NO_NOW = "answers no {what} that is there now; {name} waits for an approval of its own"
    APPROVALS_ARE_THERE_BY = "{count} of {required} approvals are there, by {people}"
    BEFORE_ASKED_APPROVAL_ONE_REQUEST = (
        "was there before it was asked for, and an approval is for one request; approve again"
    )
    BY_SAME_PERSON = "is by {person} or a key that approved already; another person with another key must approve"
    COUNTS_NOTHING_APPROVE_AGAIN_KEY = "counts for nothing: {whys}; approve again with a key of allowedSigners"
    COUNTS_NOTHING_DATED_BEFORE = (
        "counts for nothing, since {name} has a date before the request; approve again, with a clock that is right"
    )
    COUNTS_NOTHING_FILE_OTHER_DOCUMENTS = "counts for nothing in a file with other documents; give it a file of its own"
    COUNTS_NOTHING_NO_ANNOTATION = "counts for nothing, as it has no annotation {digest}, without which a signed commit may be meant for another request (allowedSigners); use gitfleet approve, or merge the request's branch"
    COUNTS_NOTHING_SINCE = "counts for nothing, since {failure}"
    COUNTS_NOTHING_SINCE_SAYS_MADE = (
        "counts for nothing, since {name} says that it was made in the future; approve again"
    )
    EXPIRED_OLDER_EXPIRESAFTER = "expired: {name} is older than {limit} (expiresAfter); approve again"
    GIVEN_WHO_MADE_CHANGE_SEPARATEDUTIES = (
        "was given by {person}, who made the change (separateDuties); another person must approve"
    )
    NAMES_NO_PERSON = (
        "names no person, as its commit is gitfleet's own; merge it by a merge commit, or use gitfleet approve"
    )
    NO_COMMIT_WATCHED_BRANCH_KNOWN = "no commit of the watched branch is known that added it"
    SPEC_SAYS_APPROVE_ONE_WAITS = "its spec says; approve the one that waits"
    WHO_GAVE_CANNOT_VERIFIED_HERE = "who gave it cannot be verified here"
