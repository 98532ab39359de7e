"""The files of a member's report: written by its agent, read by the hub.

The hub trusts a report for its own cluster alone: what has another shape is an error of that cluster, and an object
that is not the one that it is listed as cannot be read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from gitfleet.api import InvalidContent, read_state, write
from gitfleet.api.member_reports import MemberReport, ProviderCondition, ReportedOutcome, ReportedPods, UnreadableObject
from gitfleet.api.objects import JsonObject, JsonValue, ObjectKey, key_of
from gitfleet.formats.canonical_json import NotJson, canonical_json, digest_of, json_text, parse_json
from gitfleet.formats.json_values import section
from gitfleet.formats.limits import MAX_FILE_BYTES
from gitfleet.formats.sentences import shortened
from gitfleet.model.observations import ClusterObservation, LiveObject, ReportedCondition
from gitfleet.model.operations import Outcome, RolloutOutcome, Write
from gitfleet.pull.masked_secrets import reportable
from gitfleet.pull.operations import operation_id, outcome_of
from gitfleet.pull.texts import PullText

LARGEST_REPORT: Final = MAX_FILE_BYTES
LARGEST_OBJECT: Final = 2 * 1024 * 1024
"""Bytes; etcd takes 1.5 MiB of an object."""
LARGEST_OBJECTS: Final = 64 * 1024 * 1024
"""Bytes of all objects of a report together."""
MOST_OBJECTS: Final = 20_000
"""So many objects a report may list."""
_MOST_NAMES: Final = 5_000
_MOST_VALUES: Final = 300_000
"""So many values a report may have, and so many each of its objects: a few bytes are a value in memory."""
_MOST_IN_ALL: Final = 2_000_000
_LONGEST: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberSeen:
    """A report with the objects that it lists, and those that operations came to by the operation's id."""

    report: MemberReport
    live: Mapping[ObjectKey, LiveObject | None] = field(default_factory=dict)
    unreadable: Mapping[ObjectKey, str] = field(default_factory=dict)
    applied: Mapping[str, LiveObject] = field(default_factory=dict)


def object_path(key: ObjectKey) -> str:
    """Where an object stands in a report."""
    return f"objects/{digest_of([*key.order])[:40]}.json"


def applied_path(name: str) -> str:
    """Where the object stands that an operation came to."""
    return f"applied/{name}.json"


def report_of(
    observation: ClusterObservation, outcomes: Iterable[ReportedOutcome], *, at: datetime, delivery: str, version: str
) -> MemberReport:
    """What an agent reports of its cluster."""
    live = observation.live
    return MemberReport(
        cluster=observation.cluster,
        at=at,
        version=version,
        delivery=delivery,
        reachable=observation.reachable,
        healthy=observation.healthy,
        error=observation.error,
        outcomes=tuple(sorted(outcomes, key=lambda outcome: outcome.id)),
        present=tuple(sorted(key for key, live_object in live.items() if live_object is not None)),
        absent=tuple(sorted(key for key, live_object in live.items() if live_object is None)),
        unreadable=tuple(
            UnreadableObject(object=key, reason=why) for key, why in sorted(observation.unreadable.items())
        ),
        namespaces=observation.namespaces,
        server=observation.server,
        properties=observation.properties,
        resource_usage=observation.resource_usage,
        conditions=tuple(
            ProviderCondition(type=c.type, status=c.status, reason=c.reason, message=c.message)
            for c in observation.reported
        ),
        pods=tuple(
            ReportedPods(workload=key, pods=tuple(pod.body for pod in pods))
            for key, pods in sorted(observation.pods.items())
        ),
    )


def reported(name: str, outcome: Outcome) -> ReportedOutcome:
    """What an agent reports of one operation."""
    return ReportedOutcome(
        id=name,
        ok=outcome.ok,
        code=outcome.code.value,
        message=outcome.message,
        retry=outcome.retry,
        live=outcome.live is not None,
    )


def reported_step(name: str, outcome: RolloutOutcome) -> ReportedOutcome:
    """What an agent reports of one step of a workload rollout."""
    return ReportedOutcome(id=name, ok=outcome.ok, code=outcome.code.value, message=outcome.message)


def object_files(live: Iterable[LiveObject | None], key: bytes) -> dict[str, bytes]:
    """The files of objects by path; what Secrets hold is digested with the key."""
    return {
        object_path(observed.key): canonical_json(reportable(observed.body, key)) for observed in filter(None, live)
    }


def applied_file(name: str, live: LiveObject, key: bytes) -> tuple[str, bytes]:
    """The file of an object as an operation came to it."""
    return applied_path(name), canonical_json(reportable(live.body, key))


def read_report(cluster: str, content: bytes) -> MemberReport:
    """The report itself; InvalidContent with the end of a sentence that says what is wrong with it."""
    try:
        body = parse_json(content)
    except NotJson:
        raise InvalidContent(PullText.NOT_JSON_AGENT_WRITES()) from None
    if not isinstance(body, dict) or values_in(body, _MOST_VALUES) > _MOST_VALUES:
        raise InvalidContent(PullText.HOLDS_NO_REPORT())
    lists = (part for part in section(body, "status").values() if isinstance(part, list))
    if any(len(entries) > MOST_OBJECTS for entries in lists):
        raise InvalidContent(PullText.LISTS_MORE_OBJECTS(most_objects=MOST_OBJECTS))
    report = read_state(MemberReport, body)
    if report.cluster != cluster:
        raise InvalidContent(PullText.ANOTHER_CLUSTER(cluster=report.cluster[:80]))
    if len(report.present) + len(report.absent) + len(report.unreadable) > MOST_OBJECTS:
        raise InvalidContent(PullText.LISTS_MORE_OBJECTS(most_objects=MOST_OBJECTS))
    if (
        len(report.namespaces or ()) > _MOST_NAMES
        or len(report.properties) > _MOST_NAMES
        or len(report.conditions) > 100
    ):
        raise InvalidContent(PullText.LISTS_MORE_NAMESPACES())
    return _bounded(report)


def _bounded(report: MemberReport) -> MemberReport:
    """The report with no sentence longer than people read: they stand in statuses, commits and messages."""
    return replace(
        report,
        error=_short(report.error),
        server=_short(report.server),
        outcomes=tuple(replace(outcome, message=_short(outcome.message)) for outcome in report.outcomes),
        unreadable=tuple(replace(entry, reason=_short(entry.reason)) for entry in report.unreadable),
        conditions=tuple(
            replace(c, type=_short(c.type), reason=_short(c.reason), message=_short(c.message))
            for c in report.conditions
        ),
    )


def _short(text: str) -> str:
    return shortened(text, _LONGEST)


def listed_files(report: MemberReport) -> dict[str, tuple[ObjectKey | None, str]]:
    """The files that a report names, with the object that is to be there or the id of the operation that came to it."""
    files: dict[str, tuple[ObjectKey | None, str]] = {object_path(key): (key, "") for key in report.present}
    applied = (outcome for outcome in report.outcomes if outcome.live)
    return files | {applied_path(outcome.id): (None, outcome.id) for outcome in applied}


def seen_from(
    report: MemberReport, contents: Mapping[str, bytes], previous: Mapping[str, LiveObject], oids: Mapping[str, str]
) -> tuple[MemberSeen, dict[str, LiveObject]]:
    """The report with its objects from the files by path. What was read of a blob before is the very same object:
    `known` by blob id, and in the second place what of this report to keep for the next."""
    live: dict[ObjectKey, LiveObject | None] = dict.fromkeys(report.absent)
    budget = _MOST_IN_ALL
    unreadable = {entry.object: entry.reason for entry in report.unreadable}
    applied: dict[str, LiveObject] = {}
    by_oid: dict[str, LiveObject] = {}
    for path, (key, name) in listed_files(report).items():
        oid = oids.get(path, "")
        live_object = previous.get(oid)
        if live_object is None or (key is not None and live_object.key != key):
            live_object, cost = _object(contents.get(path), budget)
            budget -= cost
        if key is None:
            if live_object is not None:
                applied[name] = by_oid[oid] = live_object
        elif live_object is None or live_object.key.identity != key.identity:
            unreadable[key] = PullText.AGENT_REPORT_NOT_LISTS()
        else:
            live[key] = by_oid[oid] = live_object if live_object.key == key else LiveObject(key, live_object.body)
    return MemberSeen(report=report, live=live, unreadable=unreadable, applied=applied), by_oid


def _object(content: bytes | None, most: int) -> tuple[LiveObject | None, int]:
    """The object in a file, None where there is none or it is too large, and how many values it has."""
    if content is None or len(content) > LARGEST_OBJECT:
        return None, 0
    try:
        body = parse_json(content)
    except NotJson:
        return None, 0
    number = values_in(body, min(_MOST_VALUES, most))
    if number > min(_MOST_VALUES, most) or not isinstance(body, dict) or not isinstance(body.get("metadata"), dict):
        return None, min(number, most)
    return LiveObject(key_of(body), body), number


def observation_of(seen: MemberSeen, keys: Collection[ObjectKey]) -> ClusterObservation:
    """What a report says of these objects, and of its cluster."""
    report = seen.report
    if not report.reachable:
        why = PullText.AGENT_NOT_REACH_API_SERVER(error=report.error)
        return ClusterObservation(cluster=report.cluster, reachable=False, error=why, observed=report.at)
    return ClusterObservation(
        cluster=report.cluster,
        reachable=True,
        healthy=report.healthy,
        error=report.error,
        observed=report.at,
        live={key: seen.live[key] for key in keys if key in seen.live},
        unreadable={key: seen.unreadable[key] for key in keys if key in seen.unreadable},
        namespaces=report.namespaces,
        server=report.server,
        properties=report.properties,
        resource_usage=report.resource_usage,
        reported=tuple(ReportedCondition(c.type, c.status, c.reason, c.message) for c in report.conditions),
    )


def pods_of(seen: MemberSeen, workloads: Iterable[ObjectKey]) -> dict[ObjectKey, tuple[LiveObject, ...]]:
    """The pods of workloads as a report has them, of a Deployment its ReplicaSets; a workload of which it has none read
    is left out, and so is what is neither in its namespace."""
    pods_by_workload: dict[ObjectKey, tuple[LiveObject, ...]] = {}
    reported = {entry.workload: entry.pods for entry in seen.report.pods}
    for key in workloads:
        pods = [
            LiveObject(key_of(body), body) for body in reported.get(key, ()) if isinstance(body.get("metadata"), dict)
        ]
        if key in reported:
            places = {("", "Pod", key.namespace), ("apps", "ReplicaSet", key.namespace)}
            pods_by_workload[key] = tuple(pod for pod in pods if pod.key.identity[:3] in places and pod.uid)
    return pods_by_workload


def outcomes_of(seen: MemberSeen, operations: Iterable[Write]) -> list[Outcome]:
    """What the agent did of these operations, each with its outcome; what it has not answered is left out."""
    reported: dict[str, ReportedOutcome] = {outcome.id: outcome for outcome in seen.report.outcomes}
    outcomes: list[Outcome] = []
    for operation in operations:
        answer = reported.get(operation_id(operation))
        if answer is None:
            continue
        live = seen.applied.get(answer.id)
        if live is not None:
            live = LiveObject(operation.key, live.body) if live.key.identity == operation.key.identity else None
        outcome = outcome_of(operation, answer, live)
        if outcome is not None:
            outcomes.append(outcome)
    return outcomes


def report_content(report: MemberReport) -> bytes:
    """The file of the report itself: JSON, which is YAML, since reading it costs little whatever a member writes."""
    return f"{json_text(write(report), indent=True)}\n".encode()


def values_in(value: JsonValue, most: int) -> int:
    """How many values a value has in it, counted no further than beyond `most`."""
    count, pending = 0, [value]
    while pending and count <= most:
        container = pending.pop()
        parts = (
            container.values() if isinstance(container, Mapping) else container if isinstance(container, list) else ()
        )
        count += 1 + len(parts)
        pending.extend(part for part in parts if isinstance(part, Mapping | list))
    return count


def news_of(report: MemberReport) -> JsonObject:
    """What of a report is news: all but when it was made and when values were seen."""
    body = write(report)
    status = {name: value for name, value in body["status"].items() if name != "at"}
    measured = {name: value.value for name, value in report.properties.items()}
    usage = report.resource_usage
    amounts = None if usage is None else [dict(usage.capacity), dict(usage.allocatable), dict(usage.available)]
    return {**status, "properties": measured, "resourceUsage": amounts}
