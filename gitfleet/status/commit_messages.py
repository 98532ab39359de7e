"""What happened, in one line for the commit's subject, and all of it for its body."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from gitfleet.api.objects import JsonValue
from gitfleet.formats.sentences import and_more, named_briefly
from gitfleet.model.events import Event, EventType
from gitfleet.status.rollout_events import rollout_sentence
from gitfleet.status.texts import StatusText

MOST_LINES: Final = 50
MOST_CHARACTERS: Final = 120
_MOST_NAMED: Final = 3
_NOT_SHOWN: Final = re.compile("[\x00-\x20\x7f-\xa0\xad\u061c\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff]+")
_OF_CLUSTERS: Final = {
    EventType.SCHEDULED: StatusText.PICKED,
    EventType.BOUND: StatusText.GETS_SNAPSHOT,
    EventType.UPDATING: StatusText.MOVES_SNAPSHOT,
    EventType.UPDATED: StatusText.UPDATED_SNAPSHOT,
    EventType.UNSCHEDULED: StatusText.NO_LONGER_PICKED,
    EventType.EVICTED: StatusText.EVICTED,
    EventType.EVICTION_REFUSED: StatusText.NOT_EVICTED,
    EventType.REMOVED: StatusText.RESOURCES_REMOVED_FROM,
    EventType.FAILED: StatusText.FAILED,
}
"""What happened to a placement on one cluster, by the event's fields."""
_RANK: Final = {type_: rank for rank, type_ in enumerate(EventType)}


def one_line(text: str, limit: int) -> str:
    """A text of unknown origin on one line: no control character, nothing that hides or turns text around, cut to
    `limit`."""
    flat = _NOT_SHOWN.sub(" ", text).strip()
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def commit_message(events: Iterable[Event]) -> tuple[str, str]:
    """(subject, body): the most important event with the number of the others, and a line for each when there are
    several."""
    lines = list(dict.fromkeys(filter(None, map(sentence, sorted(events, key=lambda event: _RANK[event.type])))))
    if not lines:
        return StatusText.STATE_FLEET_BROUGHT_UP_DATE(), ""
    subject = one_line(lines[0], MOST_CHARACTERS)
    if len(lines) == 1:
        return subject, ""
    body = [one_line(line, 500) for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        body.append(f"and {len(lines) - MOST_LINES} more")
    return f"{subject}{and_more(len(lines) - 1)}", "\n".join(body)


def sentence(event: Event) -> str:  # noqa: C901 - one case for one type of event
    """One event in words, `` for one that says nothing by itself."""
    fields, place = event.fields, f"{event.placement}: " if event.placement else ""
    match event.type:
        case (
            EventType.SCHEDULED | EventType.BOUND | EventType.UPDATING | EventType.UPDATED | EventType.UNSCHEDULED
            | EventType.EVICTED | EventType.EVICTION_REFUSED | EventType.REMOVED | EventType.FAILED
        ):  # fmt: skip
            return place + _OF_CLUSTERS[event.type](cluster=event.cluster, **fields)
        case EventType.HELD:
            answer = "rejected" if fields["rejected"] else StatusText.WAITS_APPROVAL()
            return f"{fields['hold']} {answer}: {fields['message']}"
        case EventType.RELEASED if "hold" in fields:
            return f"{fields['hold']} {'approved' if fields['approved'] else StatusText.GONE_REMOVALS_TAKEN_BACK()}"
        case EventType.RELEASED:
            names = named_briefly(fields["left"], _MOST_NAMED, fields["objects"])
            return StatusText.LEFT_NO_LONGER_MANAGED(place=place, names=names, cluster=event.cluster)
        case EventType.AVAILABLE:
            return f"{place}{event.cluster} {'' if fields['value'] else 'not '}available"
        case EventType.SNAPSHOT:
            index, commit = fields["index"], str(fields["commit"])[:12]
            return StatusText.SNAPSHOT_TAKEN_FROM_COMMIT(place=place, fields=index, fields_2=commit)
        case EventType.CLUSTER:
            return f"{event.cluster}{_of_cluster(fields)}"
        case EventType.FAULT:
            return _of_fault(fields) if fields["count"] else ""
        case EventType.FAULTS_CLEARED:
            return StatusText.NO_ERRORS_NO_WARNINGS_LEFT()
        case EventType.COMMIT_READ:
            return f"commit {str(fields['commit'])[:12]} read"
        case EventType.PLACEMENT:
            return f"{place}{_of_placement(fields)}"
        case EventType.WORKLOAD_ROLLOUT:
            return rollout_sentence(event)
        case (
            EventType.RUN | EventType.STAGE | EventType.CLUSTER_UPDATE
            | EventType.APPROVAL_REQUESTED | EventType.APPROVED | EventType.REJECTED
        ):  # fmt: skip
            return f"run {fields['run']}: {_of_run(event)}"
        case EventType.COMMIT | EventType.APPLIED | EventType.CRASH | EventType.END:
            return ""


def _of_fault(fields: Mapping[str, JsonValue]) -> str:
    field, further = f"{fields['field']}: " if fields.get("field") else "", and_more(fields["count"] - 1)
    return f"{fields['severity']} at {fields['path']}:{fields['line']}{further}: {field}{fields['message']}"


def _of_cluster(fields: Mapping[str, JsonValue]) -> str:
    if fields["state"] == "left":
        return StatusText.LEFT_FLEET(count=fields.get("objects", 0))
    return f": {fields['state']}"


def _of_placement(fields: Mapping[str, JsonValue]) -> str:
    if "condition" in fields:
        return f"{fields['condition']} is {fields['status']}: {fields['message'] or fields['reason']}"
    return f"renamed, was {fields['former']}" if "former" in fields else str(fields["state"])


def _of_run(event: Event) -> str:
    fields, message = event.fields, f": {event.fields['message']}" if event.fields.get("message") else ""
    match event.type:
        case EventType.RUN:
            return f"{fields['reason']}{message}"
        case EventType.APPROVAL_REQUESTED:
            return StatusText.STAGE_WAITS_APPROVAL(fields=fields["stage"], fields_2=fields["approval"])
        case EventType.CLUSTER_UPDATE:
            return f"stage {fields['stage']}: {event.cluster} {fields['phase']}"
        case _:
            return f"stage {fields['stage']} {fields.get('phase', event.type)}{message}"
