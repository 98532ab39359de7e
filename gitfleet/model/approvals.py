"""What is asked of people before gitfleet goes on: one small value, whoever asks."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest:
    """A request that waits for a person's approval.

    `name` is that of the approval and of its file, `subject` the kind of object that asks (Hold), `digest` what the
    approval is bound to, `commit` the watched branch's commit at which it was asked for first. `title` and `body` are
    for people: one line, and all that they need to decide.
    """

    name: str
    subject: str
    digest: str
    commit: str
    title: str
    body: str
