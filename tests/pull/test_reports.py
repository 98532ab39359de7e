"""What the hub reads of a member's report: bounded, typed, and of that cluster alone."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from gitfleet.api import InvalidContent
from gitfleet.api.conditions import Status
from gitfleet.api.deliveries import DeliveredOperation, DeliveryAction
from gitfleet.api.member_reports import MemberReport, ProviderCondition, ReportedOutcome, UnreadableObject
from gitfleet.api.objects import ObjectKey, key_of
from gitfleet.api.placements import PlacementKey
from gitfleet.formats.canonical_json import canonical_json
from gitfleet.model.observations import LiveObject
from gitfleet.model.operations import Create, Delete, Keep, Outcome, OutcomeCode, PropagationPolicy, Update
from gitfleet.pull import (
    MemberSeen,
    delivered,
    news_of,
    operation_id,
    outcomes_of,
    performable,
    read_delivery,
    read_report,
    report_content,
    seen_from,
    writes_by_cluster,
)
from gitfleet.pull.masked_secrets import reportable
from gitfleet.pull.reports import object_path
from gitfleet.pull.texts import PullText
from tests.builders import config_map, manifest_of, secret
from tests.gates import permit

AT = datetime(2026, 1, 1, tzinfo=UTC)
KEY = ObjectKey("", "v1", "ConfigMap", "web", "settings")
PLACEMENT = PlacementKey("", "web")
REPORT = MemberReport(cluster="shop-1", at=AT)
LONG = "x" * 100_000
TOO_MANY = PullText.LISTS_MORE_OBJECTS(most_objects=20_000)


def test_no_sentence_of_a_report_is_longer_than_people_read() -> None:
    said = replace(
        REPORT,
        error=LONG,
        outcomes=(ReportedOutcome(id="a", ok=False, code="Invalid", message=LONG),),
        unreadable=(UnreadableObject(object=KEY, reason=LONG),),
        conditions=(ProviderCondition(type=LONG, status=Status.TRUE, reason=LONG, message=LONG),),
    )
    found = read_report("shop-1", report_content(said))
    condition = found.conditions[0]
    texts = [found.error, found.outcomes[0].message, found.unreadable[0].reason]
    texts += [condition.type, condition.reason, condition.message]
    assert {len(text) for text in texts} == {1000}


@pytest.mark.parametrize(
    ("report", "sentence"),
    [
        (replace(REPORT, cluster="eu-1"), PullText.ANOTHER_CLUSTER(cluster="eu-1")),
        (replace(REPORT, namespaces={f"n{i}": "" for i in range(5_001)}), PullText.LISTS_MORE_NAMESPACES()),
        (
            replace(REPORT, outcomes=(ReportedOutcome(id="a", ok=True, code="x"),) * 30_000),
            TOO_MANY,
        ),
        (
            replace(REPORT, absent=tuple(replace(KEY, name=f"m{i}") for i in range(20_001))),
            TOO_MANY,
        ),
    ],
)
def test_a_report_beyond_all_bounds_is_none(report: MemberReport, sentence: str) -> None:
    with pytest.raises(InvalidContent, match=sentence):
        read_report("shop-1", report_content(report))


FIELDS = (
    "at", "healthy", "outcomes", "present", "absent", "unreadable", "namespaces", "properties", "resourceUsage",
    "conditions", "delivery", "error", "reachable",
)  # fmt: skip


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(
    "value", ["1", "[1]", '{"a": 1}', '[{"a": 1}]', "9" * 5000, "null", '"x"', "[[[[]]]]", "{" * 2000]
)
def test_wrong_types_in_any_field_are_an_error_of_that_report_or_nothing(field: str, value: str) -> None:
    at = "" if field == "at" else '"at": "2026-01-01T00:00:00Z", '
    text = f'{{"metadata": {{"name": "shop-1"}}, "status": {{{at}"{field}": {value}}}}}'
    try:
        assert isinstance(read_report("shop-1", text.encode()), MemberReport)
    except InvalidContent as error:
        assert len(str(error)) < 500


def test_a_heartbeat_alone_is_no_news() -> None:
    assert news_of(REPORT) == news_of(replace(REPORT, at=AT.replace(hour=1)))
    assert news_of(REPORT) != news_of(replace(REPORT, healthy=False))


def live(uid: str = "u", version: str = "1", generation: int = 0) -> LiveObject:
    metadata = {"name": "settings", "namespace": "web", "uid": uid, "resourceVersion": version}
    if generation:
        metadata["generation"] = generation  # type: ignore[assignment]  # as JSON has it
    return LiveObject(KEY, {**config_map("web", "settings", {"k": "1"}), "metadata": metadata})


MANIFEST = manifest_of(config_map("web", "settings", {"k": "2"}))
COMMON: dict[str, Any] = {"cluster": "shop-1", "placement": PLACEMENT, "reason": "differs"}
CREATE = Create(**COMMON, manifest=MANIFEST, wave=3, needs=(KEY,), force=False)
UPDATE = Update(
    **COMMON, manifest=MANIFEST, wave=3, needs=(KEY,), force=False, live=live(), removes={"f:data": {"f:old": {}}}
)
LOCKED = replace(UPDATE, live=live(version="7", generation=4), resource_version="7")
DELETE = Delete(**COMMON, key=KEY, uid="u", wave=1, propagation=PropagationPolicy.ORPHAN, permit=permit("shop-1", KEY))


@pytest.mark.parametrize("operation", [CREATE, UPDATE, replace(UPDATE, live=live(generation=4)), LOCKED, DELETE])
def test_what_is_delivered_is_performed_as_it_was_decided(operation: Create | Update | Delete) -> None:
    there = operation.live if isinstance(operation, Update) else live()
    order = delivered(operation, "f.yaml")
    assert performable("shop-1", order, MANIFEST, {KEY: there}) == operation
    assert (order.id, order.file) == (operation_id(operation), "f.yaml")
    version = operation.resource_version if isinstance(operation, Update) else None
    assert order.generation == (4 if version else 0), "it stands in for the version alone"


@pytest.mark.parametrize(
    ("order", "there", "sentence"),
    [
        (delivered(UPDATE, "f"), None, PullText.DELETED_REPLACED_SINCE_HUB_SAW),
        (delivered(UPDATE, "f"), live(uid="other"), PullText.DELETED_REPLACED_SINCE_HUB_SAW),
        (delivered(LOCKED, "f"), live(version="8", generation=5), PullText.CHANGED_SINCE_HUB_SAW),
        (delivered(replace(LOCKED, live=live(version="7")), "f"), live(version="8"), PullText.CHANGED_SINCE_HUB_SAW),
        (
            replace(delivered(DELETE, ""), propagation="Everything"),
            live(),
            PullText.DELIVERY_NOT_SAY_BECOMES_DEPENDENTS,
        ),
    ],
)
def test_what_changed_since_the_hub_saw_it_is_left_alone(
    order: DeliveredOperation, there: LiveObject | None, sentence: PullText
) -> None:
    assert performable("shop-1", order, MANIFEST, {KEY: there}) == sentence(object=KEY)


def test_an_update_for_one_version_goes_on_where_only_the_status_moved() -> None:
    found = performable("shop-1", delivered(LOCKED, "f"), MANIFEST, {KEY: live(version="9", generation=4)})
    assert isinstance(found, Update)
    assert found.resource_version == "9"


def test_an_operation_without_its_manifest_is_not_performed() -> None:
    assert performable("shop-1", delivered(CREATE, "f"), None, {}) == PullText.MANIFEST_NOT_DELIVERY(object=KEY)


def test_the_name_of_an_operation_is_of_its_content_and_object() -> None:
    names = {operation_id(one) for one in (CREATE, UPDATE, LOCKED)}
    assert all(re.fullmatch("[0-9a-f]{32}", name) for name in names), "an agent carries out no other"
    assert len(names) == 1, "an object that was made meanwhile is updated by the same operation"
    others: list[Create | Update | Delete] = [
        DELETE,
        replace(DELETE, uid="v"),
        replace(CREATE, placement=PlacementKey("", "shop")),
        replace(CREATE, manifest=manifest_of(config_map("web", "settings", {"k": "3"}))),
        replace(CREATE, manifest=manifest_of(config_map("web", "other", {"k": "2"}))),
    ]
    assert len({*map(operation_id, others)} | names) == 6
    assert DeliveryAction(type(CREATE).__name__) is DeliveryAction.CREATE


SECRET = {
    "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
    "metadata": {"name": "s", "uid": "u", "labels": {"a": "b"},
                 "annotations": {"gitfleet.dev/prune": "false", "note": "hush", "helm.sh/resource-policy": "keep"}},
    "data": {"password": "aHVzaA=="},
}  # fmt: skip


OTHERS = (replace(KEY, name="x"), replace(KEY, namespace="x"), replace(KEY, kind="X"), replace(KEY, group="x.io"))


@pytest.mark.parametrize(
    ("key", "counts"), [(KEY, True), (replace(KEY, version="v2"), True), *((o, False) for o in OTHERS)]
)
def test_an_operation_came_to_the_object_that_it_is_for_or_to_none(key: ObjectKey, counts: bool) -> None:
    name = operation_id(CREATE)
    answers = (ReportedOutcome(id=name, ok=True, code="Applied", message="m", retry=False, live=True),)
    seen = MemberSeen(report=replace(REPORT, outcomes=answers), applied={name: LiveObject(key, {"a": "b"})})
    live = LiveObject(KEY, {"a": "b"}) if counts else None
    wanted = Outcome(operation=CREATE, ok=True, code=OutcomeCode.APPLIED, message="m", retry=False, live=live)
    assert outcomes_of(seen, [CREATE, UPDATE, DELETE]) == [wanted, replace(wanted, operation=UPDATE)]


@pytest.mark.parametrize(
    "body", [config_map("web", "x", {}), config_map("x", "settings", {}), secret("web", "settings", {})]
)
@pytest.mark.parametrize("known", [True, False])
def test_an_object_that_is_not_the_one_that_is_listed_is_unreadable(body: dict[str, Any], known: bool) -> None:
    path, report = object_path(KEY), replace(REPORT, present=(KEY,))
    before = {"oid": LiveObject(key_of(body), body)} if known else {}
    seen, kept = seen_from(report, {path: canonical_json(body)}, before, {path: "oid"})
    assert (seen.live, list(seen.unreadable), kept) == ({}, [KEY], {})


def test_each_cluster_gets_what_is_to_be_written_there_in_its_order() -> None:
    elsewhere = replace(CREATE, cluster="shop-2")
    kept = Keep(**COMMON, key=KEY)
    found = writes_by_cluster([DELETE, elsewhere, kept, CREATE])
    assert found == {"shop-1": [DELETE, CREATE], "shop-2": [elsewhere]}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", PullText.HOLDS_NO_SINGLE_DOCUMENT()),
        ("a: b\n---\nc: d\n", PullText.HOLDS_NO_SINGLE_DOCUMENT()),
        ("- a\n", PullText.HOLDS_NO_SINGLE_DOCUMENT()),
        ("{", "line 1"),
    ],
)
def test_what_is_no_delivery_says_what_it_is(text: str, sentence: str) -> None:
    with pytest.raises(InvalidContent, match=sentence):
        read_delivery(text.encode())


def test_no_value_of_a_secret_is_reported_and_each_change_shows() -> None:
    shown = reportable(SECRET, b"key")
    assert "aHVzaA==" not in str(shown)
    assert "hush" not in str(shown)
    assert shown["metadata"]["annotations"]["gitfleet.dev/prune"] == "false"
    assert shown["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"
    assert (shown["type"], shown["metadata"]["labels"]) == ("Opaque", {"a": "b"})
    assert shown == reportable(SECRET, b"key")
    for other in (
        reportable(SECRET, b"other"),
        reportable({**SECRET, "data": {"password": "eA=="}}, b"key"),
        reportable({**SECRET, "metadata": {**SECRET["metadata"], "uid": "v"}}, b"key"),  # type: ignore[dict-item]  # as JSON has it
    ):
        assert other["data"] != shown["data"]


def test_secrets_of_any_group_and_every_annotation_that_says_nothing_of_owners_are_digests() -> None:
    body = {
        "apiVersion": "vault.example/v1", "kind": "Secret", "spec": {"password": "CANARY-1"}, "value": "CANARY-2",
        "metadata": {"name": "x", "namespace": "web", "annotations": {"meta.helm.sh/x": "CANARY-3", "b": ["CANARY-4"]}},
    }  # fmt: skip
    nested = {"apiVersion": "v1", "kind": "List", "metadata": {"name": "l"}, "items": [body]}
    for one in (body, nested):
        assert "CANARY" not in str(reportable(one, b"k"))
    holder = config_map("web", "holder", {"k": "kind: Secret\ndata: {a: CANARY}\n"})
    other = config_map("web", "holder", {"k": "kind: Secret\ndata: {a: OTHER}\n"})
    assert "CANARY" not in str(reportable(holder, b"k"))
    assert reportable(holder, b"k") != reportable(other, b"k")
