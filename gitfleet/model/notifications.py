"""What is told to people: single occurrences, and messages of several of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from gitfleet.api.notifications import NotificationEvent
from gitfleet.api.objects import JsonObject


class Occurrence(NamedTuple):
    """One thing that people want to be told of, in a sentence; `name` is that of the hold, request, run, eviction or
    workload rollout, `run` that of the run that it is about, `rollout` that of the workload rollout."""

    event: NotificationEvent
    sentence: str
    placement: str | None = None
    cluster: str | None = None
    name: str | None = None
    run: str | None = None
    rollout: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationMessage:
    """One message to one destination.

    `id` is the same each time that the same message is sent. `subject` is one line, `lines` has one for each
    occurrence that is named, and one that says how many more there were; neither holds a control character or a
    secret. `document` says all of it by name (docs/notifications.md).
    """

    id: str
    time: datetime
    subject: str
    lines: tuple[str, ...]
    document: JsonObject
