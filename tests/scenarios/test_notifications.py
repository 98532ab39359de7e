"""What people are told over whole rollouts: whole messages, by destination (record 0032)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from gitfleet.api.notifications import NotificationEvent
from gitfleet.api.scenarios import ClusterRule, ObjectPattern
from gitfleet.api.texts import ApiText
from gitfleet.errors import BadInput, RemoteUnreachable
from gitfleet.formats.texts import FormatsText
from gitfleet.loop.pulse import FETCH, LAST, PHASES, Pass
from gitfleet.loop.results import ReconcileResult
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.model.notifications import NotificationMessage
from gitfleet.observe.texts import ObserveText
from gitfleet.ports.notifiers import Notifier
from gitfleet.removals.texts import RemovalsText
from gitfleet.rollout.texts import RolloutText
from gitfleet.schedule.texts import ScheduleText
from gitfleet.serving.notifications import FAILING_AFTER, NotificationQueue, Notifications, QueueThread
from gitfleet.serving.texts import ServingText
from gitfleet.simulation.cluster import SimulatedCrash
from gitfleet.status.texts import StatusText
from gitfleet.views.notifications import Occasion
from tests import builders
from tests.scenarios.world import World, answer, only_hold

CANARY = "canary-7f3a"


@dataclass
class Box:
    """Destinations that take everything at once."""

    got: dict[str, list[NotificationMessage]] = field(default_factory=dict)

    def connect(self, name: str, type_: str) -> Notifier:
        if type_ == "example.broken":
            raise BadInput(
                f"the file of destination {name} " + ScheduleText.CANNOT_USED() + (": url " + ApiText.REQUIRED_ADD())
            )
        return _Into(self.got.setdefault(name, []))

    def said(self, name: str = "all") -> list[list[str]]:
        return [[f"{one['event']}: {one['message']}" for one in m.document["events"]] for m in self.got.get(name, [])]


@dataclass
class _Into:
    into: list[NotificationMessage]

    def send(self, message: NotificationMessage) -> None:
        self.into.append(message)


class AtOnce(QueueThread):
    """Delivers in the caller's thread, without pauses."""

    def __init__(self, delivery: NotificationQueue) -> None:
        super().__init__(delivery)
        self.delivery = delivery
        delivery.hurry()

    def submit(self, occasion: Occasion, found: Any) -> None:
        self.delivery.add(occasion, found)
        self.delivery.step()


@dataclass(slots=True)
class Told(World):
    """A world whose passes are told of."""

    box: Box = field(default_factory=Box)
    notifications: Notifications | None = None

    def begin(self) -> None:
        """Another process begins."""
        self.notifications = Notifications(
            config=lambda: self.driver.repository.config,
            destinations=frozenset({"all", "eu", "shop", "runs", "broken"}),
            connect=self.box.connect,
            clock=self.clock,
            secrets=(CANARY,),
            start=AtOnce,
        )
        self.driver = self.start()
        self.driver.publishers.members.append(self.notifications)

    def reconcile(self) -> ReconcileResult | None:
        if self.notifications is None:
            self.begin()
        result = attempt(Subject("reconcile", ""), self.driver.reconcile)
        assert self.notifications is not None
        self.notifications.on_pass(Pass(result=result, seconds=0.0))
        return None if isinstance(result, Failure) else result


ALL = {"name": "all", "type": "webhook"}
WEB = builders.deployment("web", "web")


def fleet(*destinations: dict[str, Any], **settings: Any) -> list[dict[str, Any]]:
    return [
        builders.fleet_config(notifications=list(destinations or (ALL,)), **settings),
        builders.member_cluster("eu-1", labels={"region": "eu"}),
        builders.member_cluster("us-1", labels={"region": "us"}),
        builders.namespace("web"),
        WEB,
        builders.placement("web", strategy=builders.rolling_update(unavailablePeriodSeconds=0)),
    ]


def started(*destinations: dict[str, Any], **settings: Any) -> Told:
    told = Told()
    told.commit(*fleet(*destinations, **settings))
    told.settle()
    return told


COMPLETE = "rolloutComplete: " + StatusText.NEWEST_CONTENT_ALL_CLUSTERS(placement="web")
JOINED = ["clusterHealthy: cluster eu-1 is healthy", "clusterHealthy: cluster us-1 is healthy"]


def test_whole_messages_of_a_fleets_life() -> None:
    told = started()
    told.commit(builders.deployment("web", "web", image="web:2"))
    told.settle()
    told.write({"placements/x.yaml": f"kind: {CANARY}\n", "placements/y.yaml": "kind: [\n"})
    told.settle()
    told.write({"placements/x.yaml": None, "placements/y.yaml": None})
    told.settle()
    told.silence("eu-1")
    told.advance(minutes=10)
    told.settle()
    told.fleet.cluster("eu-1").reachable = True
    told.advance(minutes=10)
    told.settle()
    told.commit(builders.eviction("drain", "web", "us-1"))
    told.settle()
    evicted_by = "web: " + StatusText.EVICTED(
        cluster="us-1", eviction="drain", message=RolloutText.EVICTION_ALLOWED_NO_BUDGET_SPECIFIED()
    )
    unread = FormatsText.YAML_CANNOT_READ(problem="", where="did not find expected node content")
    assert told.box.said() == [
        JOINED,
        [COMPLETE],
        [COMPLETE],
        [
            ("error: error at placements/x.yaml:1: apiVersion: " + ApiText.REQUIRED_ADD()),
            f"error: error at placements/y.yaml:1: {unread}",
        ],
        [("corrected: " + StatusText.NO_ERRORS_NO_WARNINGS_LEFT())],
        ["clusterUnhealthy: cluster eu-1 is unhealthy"],
        [COMPLETE, JOINED[0]],
        [f"evicted: {evicted_by}"],
        [COMPLETE],
    ]
    evicted = told.box.got["all"][-2]
    commit = told.repo.fetch()["main"]
    assert {**evicted.document, "stateCommit": "", "time": ""} == {
        "id": evicted.id,
        "apiVersion": "gitfleet.dev/v1alpha1",
        "kind": "Notification",
        "fleet": "fleet",
        "time": "",
        "commit": commit,
        "stateCommit": "",
        "events": [{
            "event": "evicted", "placement": "web", "cluster": "us-1", "name": "drain",
            "message": evicted_by,
        }],
        "more": 0,
    }  # fmt: skip
    assert evicted.document["stateCommit"] in {one.id for one in told.repo.log("gitfleet/state")}
    assert len({one.id for one in told.box.got["all"]}) == len(told.box.got["all"])


def test_a_removal_that_is_held_and_approved() -> None:
    told = started({**ALL, "events": ["removalHeld", "answered"]}, removals={"minObjects": 1, "maxPercent": 1})
    told.commit(remove=[WEB])
    told.settle()
    told.write(answer(only_hold(told)))
    told.settle()
    why = RemovalsText.MOST_OF_PLACEMENT_OBJECTS(placement="web", part="1", whole="2", percent="1")
    said = f"{StatusText.WAITS_APPROVAL()}: MassRemoval: {why}"
    name = told.box.got["all"][0].document["events"][0]["name"]
    assert told.box.said() == [[f"removalHeld: {name} {said}"], [f"answered: {name} approved"]]


def test_runs_and_approvals_by_scope() -> None:
    told = Told()
    told.commit(*fleet(ALL, SHOP, RUNS, EU)[:-1], builders.placement("web", strategy={"type": "External"}))
    told.settle()
    stages = (
        builders.stage("first", match_labels={"region": "eu"}, approval=True),
        builders.stage("rest", match_labels={"region": "us"}),
    )
    told.commit(builders.staged_strategy("all", *stages))
    told.commit(builders.staged_run("one", placement="web", strategy="all"))
    told.settle()
    told.commit(builders.approval("one", "first"))
    told.settle()
    run = [
        [("approvalRequested: run one: " + StatusText.STAGE_WAITS_APPROVAL(fields="first", fields_2="one-first"))],
        ["answered: run one: stage first approved: Approved"],
        ["runSucceeded: run one: UpdateRunSucceeded", COMPLETE],
    ]
    said = {name: told.box.said(name) for name in ("all", "runs", "eu", "shop")}
    assert said == {"all": [JOINED, *run], "runs": run, "eu": [JOINED[:1]], "shop": []}


SHOP = {"name": "shop", "type": "slack", "scope": {"placements": ["shop*"]}}
RUNS = {"name": "runs", "type": "slack", "scope": {"placements": ["w*"]}}
EU = {"name": "eu", "type": "slack", "scope": {"clusters": {"matchLabels": {"region": "eu"}}}}


def die(step: str) -> None:
    if step == "reported":
        raise SimulatedCrash(step)


def test_what_was_not_delivered_before_a_kill_is_told_by_nobody() -> None:
    """Nothing is promised across a kill but that nothing is told twice (record 0032)."""
    told = started()
    told.commit(builders.eviction("drain", "web", "us-1"))
    told.driver.checkpoint = die
    with pytest.raises(SimulatedCrash):
        told.driver.reconcile()  # it is pushed, and the process dies
    told.begin()
    told.settle()
    assert told.box.said() == [JOINED, [COMPLETE], [COMPLETE]]


def test_objects_that_a_cluster_refuses_are_told_without_what_secrets_hold() -> None:
    refuses = ClusterRule(names=("us-1",), object=ObjectPattern(kind="Secret"), apply="fail")
    told = Told((refuses,))
    told.commit(*fleet(), builders.secret("web", "login", {"password": CANARY}))
    told.settle()
    (failed,) = [one for message in told.box.said() for one in message if one.startswith("applyFailed: ")]
    refusal = "the API server of us-1 refuses it, as the scenario says"
    why = ObserveText.IS_NOT(first="Secret/web/login", verb="applied", why=refusal, more_than_first="")
    assert failed == "applyFailed: web: " + StatusText.FAILED(cluster="us-1", reason="ApplyFailed", message=why)
    assert CANARY not in str(told.box.got)


def test_another_process_tells_nothing_again() -> None:
    told = started()
    said = told.box.said()
    told.begin()
    told.settle()
    assert told.box.said() == said


def test_what_cannot_be_told_is_said_at_once(caplog: pytest.LogCaptureFixture) -> None:
    unusable = "the file of destination broken " + ScheduleText.CANNOT_USED() + (": url " + ApiText.REQUIRED_ADD())
    told = started({"name": "nowhere", "type": "slack"}, {"name": "broken", "type": "example.broken"}, ALL)
    told.commit(builders.deployment("web", "web", image="web:2"))
    told.settle()
    unknown, _ = ServingText.NOTIFY_SPEC_NOTIFICATIONS_NO_DESTINATION().split("; ")
    missing = [message.partition("; ")[0] for message in caplog.messages if unknown.partition("%s")[2] in message]
    assert missing == [unknown % name for name in ("eu", "runs", "shop")]
    assert [message for message in caplog.messages if "nowhere" in message or "broken" in message] == [
        ServingText.NOBODY_TOLD_NOTIFICATION() % ("nowhere", "nowhere"),
        f"notification broken: {unusable}",
        ServingText.NOTIFICATION_FLEET_RECONCILED_ALL_SAME() % ("broken", unusable, ServingText.TRIED_AGAIN_LATER()),
    ]
    assert len(told.box.said()) == 3


def test_reconciles_that_fail() -> None:
    told = started()
    told.box.got.clear()
    notifications, error = told.notifications, RemoteUnreachable(f"https://x.example/{CANARY} does not answer")
    assert notifications is not None
    failure = Failure(subject=Subject("reconcile", ""), error=str(error), cause=error)
    for _ in range(FAILING_AFTER - 1):
        notifications.on_pass(Pass(result=failure, seconds=1.0))
    assert told.box.said() == []
    for _ in range(3):
        notifications.on_pass(Pass(result=failure, seconds=1.0))
    told.reconcile()
    assert told.box.said() == [
        [
            (
                "reconcileFailing: "
                + ServingText.RECONCILING_FAILED_TIMES_ROW(failed="3")
                + ": https://x.example/*** does not answer"
            )
        ],
        [("reconcileRecovered: " + ServingText.RECONCILING_AGAIN_AFTER_FAILURES(failed="5"))],
    ]


def test_the_page_lists_every_event_and_every_phase() -> None:
    docs = Path(__file__).resolve().parents[2] / "docs"
    table = (docs / "notifications.md").read_text().partition("## What is told")[2].partition("## Files")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == [event.value for event in NotificationEvent]
    metrics = (docs / "metrics.md").read_text()
    assert not [name for name in (FETCH, *PHASES.values(), LAST) if f"`{name}`" not in metrics]
