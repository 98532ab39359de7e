"""Messages of what happened, for people and for programs that they run (docs/notifications.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any, Final, NamedTuple

from gitfleet.api.notifications import NotificationEvent
from gitfleet.formats.canonical_json import json_bytes
from gitfleet.formats.sentences import and_more
from gitfleet.formats.times import time_text
from gitfleet.model.notifications import NotificationMessage, Occurrence
from gitfleet.status import one_line

MOST_NAMED: Final = 20
"""So many occurrences are named in one message; the others are counted."""
_LONGEST_SUBJECT: Final = 150
_LONGEST_LINE: Final = 500
_URGENCY: Final = {event: rank for rank, event in enumerate(NotificationEvent)}


class Occasion(NamedTuple):
    """Where and when something happened: the fleet's name, the moment, the commit that was read and that of the state
    branch ("" where there is none yet)."""

    fleet: str
    time: datetime
    commit: str
    state_commit: str


def notification_message(occasion: Occasion, events: Sequence[Occurrence], uncounted: int = 0) -> NotificationMessage:
    """One message of at least one occurrence, the most urgent first; `uncounted` more were not kept."""
    ordered = sorted(dict.fromkeys(events), key=lambda occurrence: _URGENCY[occurrence.event])
    named, more = ordered[:MOST_NAMED], max(0, len(ordered) - MOST_NAMED) + uncounted
    named = [occurrence._replace(sentence=one_line(occurrence.sentence, _LONGEST_LINE)) for occurrence in named]
    lines = [occurrence.sentence for occurrence in named]
    subject = one_line(f"fleet {occasion.fleet}: {lines[0]}", _LONGEST_SUBJECT)
    body = {
        "apiVersion": "gitfleet.dev/v1alpha1",
        "kind": "Notification",
        "fleet": occasion.fleet,
        "time": time_text(occasion.time),
        "commit": occasion.commit,
        "stateCommit": occasion.state_commit,
        "events": [_document(occurrence) for occurrence in named],
        "more": more,
    }
    identity = sha256(json_bytes(body)).hexdigest()[:32]
    return NotificationMessage(
        id=identity,
        time=occasion.time,
        subject=f"{subject}{and_more(len(lines) - 1 + more)}" if len(lines) - 1 + more else subject,
        lines=(*lines, *((f"and {more} more",) if more else ())),
        document={"id": identity, **body},
    )


def _document(occurrence: Occurrence) -> Mapping[str, Any]:
    named = {"placement": occurrence.placement, "cluster": occurrence.cluster, "name": occurrence.name}
    named_fields = {field: value for field, value in named.items() if value is not None}
    return {"event": occurrence.event.value, **named_fields, "message": occurrence.sentence}
