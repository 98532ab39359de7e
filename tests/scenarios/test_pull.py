"""Clusters that are reached by their own agents, through git alone."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import cache
from typing import Any

import pytest
import yaml

from gitfleet.agent.agent import AgentLoop, AgentStep
from gitfleet.agent.texts import AgentText
from gitfleet.api.conditions import find_condition
from gitfleet.api.member_reports import ReportedOutcome
from gitfleet.api.objects import ObjectKey
from gitfleet.api.scenarios import ClusterRule, ObjectPattern
from gitfleet.branches.steps import Step
from gitfleet.errors import BadInput, Forbidden, LostRace
from gitfleet.fleet.texts import FleetText
from gitfleet.formats.times import time_text
from gitfleet.loop.runner import Wake
from gitfleet.ports.repos import BranchChange
from gitfleet.pull import read_delivery, read_report, report_content
from gitfleet.pull.texts import PullText
from gitfleet.simulation.cluster import SimulatedCrash
from tests.builders import (
    config_map,
    deployment,
    fleet_config,
    member_cluster,
    namespace,
    placement,
    rolling_update,
    secret,
)
from tests.scenarios.pull_world import PullWorld, pulled_cluster
from tests.scenarios.world import STATE, end_of
from tests.texts import part

MEMBER, DELIVER = "gitfleet/member/shop-1", "gitfleet/deliver/shop-1"
NOTHING_HELD = fleet_config(removals={"approval": "Never"})
WEB = (NOTHING_HELD, namespace("web"), deployment("web", "web", "web:1"), config_map("web", "settings", {"k": "1"}))


def pull_world(
    *more: dict[str, Any], rules: tuple[ClusterRule, ...] = (), watches: bool = False, **strategy: int | str
) -> PullWorld:
    """Two clusters that the hub reaches, and one with an agent; one placement on all of them, at rest."""
    world = PullWorld(rules=rules, watches=watches)
    clusters = (member_cluster("eu-1"), member_cluster("eu-2"), pulled_cluster("shop-1"))
    placed = placement("web", strategy=rolling_update(**strategy)) if strategy else placement("web")
    world.commit(*clusters, *WEB, placed, *more)
    world.start_agent("shop-1")
    world.turns()
    return world


def images(world: PullWorld) -> dict[str, str | None]:
    return {name: world.image(name) for name in ("eu-1", "eu-2", "shop-1")}


def said(world: PullWorld, cluster: str) -> dict[str, str]:
    return {c.type: c.status.value for c in world.bindings("web")[cluster].conditions}


def health(world: PullWorld) -> tuple[str, str]:
    """What is said of the cluster with the agent: its condition Healthy, and the sentence."""
    agent = world.state().clusters["shop-1"].status.agent
    assert agent is not None
    healthy = find_condition(agent.conditions, "Healthy")
    assert healthy is not None
    return healthy.status.value, healthy.message


def everything(world: PullWorld) -> bytes:
    """All bytes that any commit of any branch has."""
    return b"\0".join(world.repo._blobs.values())


def test_an_agent_brings_its_cluster_to_what_all_others_have() -> None:
    world = pull_world()
    assert images(world) == {"eu-1": "web:1", "eu-2": "web:1", "shop-1": "web:1"}
    assert said(world, "shop-1") == said(world, "eu-1")
    assert world.repo.about(world.repo.fetch()[MEMBER]).parents == (), "one commit, replaced each time"


def test_an_update_and_a_removal_reach_it_within_the_budget() -> None:
    world = pull_world(maxUnavailable=1, maxSurge=0)
    world.commit(deployment("web", "web", "web:2"))
    before, worst = images(world), 0
    for _ in range(40):
        world.turn()
        world.advance(seconds=2)
        unavailable = [n for n, b in world.bindings("web").items() if _available(b) != "True"]
        worst = max(worst, len(unavailable))
    assert (worst, images(world)) == (1, dict.fromkeys(before, "web:2"))
    world.commit(remove=["placements/web.yaml"])
    world.turns()
    assert images(world) == dict.fromkeys(before)
    assert world.live("shop-1", "Namespace", "web") is None


def _available(binding: Any) -> str:
    found = find_condition(binding.conditions, "Available", generation=binding.generation)
    return found.status.value if found is not None else "Unknown"


@pytest.mark.parametrize("watches", [False, True])
def test_drift_is_set_back(watches: bool) -> None:
    world = pull_world(watches=watches)
    world.body("shop-1", "ConfigMap", "settings")
    key = ObjectKey("", "v1", "ConfigMap", "web", "settings")
    world.fleet.cluster("shop-1").mutate(key, [{"op": "replace", "path": "/data/k", "value": "x"}])
    world.turns()
    after = world.body("shop-1", "ConfigMap", "settings")
    assert after["data"] == {"k": "1"}


def test_what_its_server_refuses_is_said_in_the_servers_words_and_goes_out_once_it_is_corrected() -> None:
    refuses = ClusterRule(names=("shop-1",), object=ObjectPattern(kind="ConfigMap", name="extra"), apply="fail")
    world = pull_world(config_map("web", "extra", {"k": "1"}), rules=(refuses,))
    failed = world.bindings("web")["shop-1"].failed
    assert [(one.key.name, one.condition) for one in failed] == [("extra", "Applied")]
    assert images(world)["shop-1"] == "web:1", "what is beside it goes on"
    world.commit(remove=["resources/web/configmap-extra.yaml"])
    world.turns()
    assert said(world, "shop-1")["Applied"] == "True"


def test_no_value_of_a_secret_is_in_any_report_and_a_change_of_one_is_seen() -> None:
    world = pull_world(secret("web", "login", {"password": "in-the-repo"}))
    live = world.body("shop-1", "Secret", "login")
    patch = [{"op": "replace", "path": "/data/password", "value": "Y2FuYXJ5LXZhbHVl"}]
    world.fleet.cluster("shop-1").mutate(ObjectKey("", "v1", "Secret", "web", "login"), patch)
    world.turns()
    after = world.body("shop-1", "Secret", "login")
    assert after["data"] == live["data"], "it was set back"
    assert b"Y2FuYXJ5LXZhbHVl" not in everything(world)
    reports = b"".join(world.repo.files(MEMBER).values())
    assert live["data"]["password"].encode() not in reports
    assert b"Z2l0ZmxlZXQtbWFza2Vk" in reports, "a digest stands in its place"


@pytest.mark.parametrize("watches", [False, True])
def test_one_that_is_cut_off_is_said_to_be_silent_since_when_and_converges_when_it_is_back(watches: bool) -> None:
    world = pull_world(watches=watches)
    world.cut_off.add("shop-1")
    cut = world.clock.now()
    world.advance(minutes=10)
    world.commit(deployment("web", "web", "web:2"))
    world.turns(seconds=120)
    assert images(world) == {"eu-1": "web:2", "eu-2": "web:2", "shop-1": "web:1"}
    agent = world.state().clusters["shop-1"].status.agent
    assert agent is not None
    assert health(world)[0] == "Unknown"
    assert FleetText.AGENT_NOT_REPORTED_SINCE(time_text="2026-").partition(",")[0] in health(world)[1]
    assert agent.last_received_heartbeat is not None
    assert abs(agent.last_received_heartbeat - cut) < timedelta(minutes=2), "until when it was heard of"
    world.cut_off.clear()
    world.turns()
    assert images(world)["shop-1"] == "web:2"


def test_a_removal_that_is_taken_back_before_the_agent_saw_it_deletes_nothing() -> None:
    world = pull_world()
    world.cut_off.add("shop-1")
    body = placement("web")
    world.commit(remove=[body])
    for _ in range(4):
        world.reconcile()
    assert b"action: Delete" in world.repo.files(DELIVER)["delivery.yaml"]
    world.commit(body)
    for _ in range(4):
        world.reconcile()
    world.cut_off.clear()
    start = len(world.happenings)
    world.turns()
    assert not [one for one in world.happenings[start:] if one.what == "delete" and one.cluster == "shop-1"]
    assert images(world)["shop-1"] == "web:1"


@cache
def usual_end() -> dict[str, Any]:
    """How an update and a removal end where nobody is killed."""
    world = pull_world()
    world.commit(deployment("web", "web", "web:2"), remove=["resources/web/configmap-settings.yaml"])
    world.turns()
    return end_of(world)


@pytest.mark.table("crashes")
@pytest.mark.parametrize("step", list(AgentStep))
@pytest.mark.parametrize("number", [1, 2, 3])
def test_an_agent_that_is_killed_at_any_step_leaves_nothing_that_the_next_one_does_not_end(
    step: AgentStep, number: int
) -> None:
    world = pull_world()
    seen = 0

    def kill(_: str, at: AgentStep) -> None:
        nonlocal seen
        seen += at is step
        if at is step and seen == number:
            raise SimulatedCrash(f"at {at}")

    world.agent_step = kill
    world.commit(deployment("web", "web", "web:2"), remove=["resources/web/configmap-settings.yaml"])
    world.turns()
    assert world.agent_crashes == (seen >= number)
    assert end_of(world) == usual_end()


HUB_STEPS = (
    Step.GATHERED,
    Step.DECIDED,
    Step.INTENT_PUBLISHED,
    Step.DELIVERY_PUSH,
    Step.DELIVERY_PUSHED,
    Step.PERFORMED,
    Step.REPORTED,
)


@pytest.mark.table("crashes")
@pytest.mark.parametrize("step", HUB_STEPS)
def test_a_hub_that_is_killed_at_any_step_does_neither(step: Step) -> None:
    world = pull_world()
    kills = 0

    def kill(at: str) -> None:
        nonlocal kills
        if at == step and kills < 3:
            kills += 1
            raise SimulatedCrash(f"at {at}")

    world.start_with = lambda driver: setattr(driver, "checkpoint", kill)
    world.restart()
    world.commit(deployment("web", "web", "web:2"), remove=["resources/web/configmap-settings.yaml"])
    world.turns()
    assert (world.crashes, end_of(world)) == (3, usual_end())


def test_a_quiet_fleet_has_heartbeats_and_nothing_else() -> None:
    world = pull_world()
    heads = world.repo.fetch()
    commits = 0
    for _ in range(60):
        before = world.repo.fetch()[MEMBER]
        world.turn()
        commits += world.repo.fetch()[MEMBER] != before
        world.advance(seconds=10)
    after = world.repo.fetch()
    assert (after[STATE], after[DELIVER]) == (heads[STATE], heads[DELIVER])
    assert commits == 10, "one a minute"


def edited(change: Callable[[dict[str, bytes]], dict[str, bytes]]) -> Callable[[PullWorld], None]:
    """Somebody pushes another report."""

    def push(world: PullWorld) -> None:
        files = world.repo.files(MEMBER)
        texts = dict.fromkeys(files) | change(dict(files))
        world.repo.commit_files(MEMBER, texts, world.clock.now())

    return push


@pytest.mark.parametrize(
    ("push", "sentence"),
    [
        (edited(lambda files: {"report.yaml": b"["}), PullText.NOT_JSON_AGENT_WRITES()),
        (edited(lambda files: {"report.yaml": b'{"spec": 1}'}), "`metadata"),
        (edited(lambda files: {"report.yaml": b'{"a": [' + b"[]," * 400_000 + b"1]}"}), PullText.HOLDS_NO_REPORT()),
        (
            edited(lambda files: {"report.yaml": b'{"status": {"present": [' + b"1," * 30_000 + b"1]}}"}),
            PullText.LISTS_MORE_OBJECTS(most_objects=20_000),
        ),
        (edited(lambda files: {"other.yaml": b"{}\n"}), FleetText.IT_HAS_NO(report_file="report.yaml")),
        (
            edited(lambda files: {**files, "report.yaml": files["report.yaml"].replace(b"shop-1", b"eu-1")}),
            PullText.ANOTHER_CLUSTER(cluster="eu-1"),
        ),
    ],
)
def test_a_report_that_is_none_makes_that_cluster_unreachable_and_no_other(
    push: Callable[[PullWorld], None], sentence: str
) -> None:
    world = pull_world()
    push(world)
    world.commit(deployment("web", "web", "web:2"))
    with world.nothing_deleted():
        for _ in range(6):
            world.reconcile()
            world.advance(seconds=60)
    assert sentence in health(world)[1]
    assert (images(world)["eu-1"], images(world)["shop-1"]) == ("web:2", "web:1")
    world.turns()
    assert images(world)["shop-1"] == "web:2", "the agent's next report counts again"


@pytest.mark.parametrize("change", ["objects", "absent", "hidden"])
def test_a_report_that_lies_about_objects_deletes_nothing_and_is_put_right(change: str) -> None:
    world = pull_world()

    def lie(files: dict[str, bytes]) -> dict[str, bytes]:
        report = files["report.yaml"].decode()
        if change == "objects":
            return {
                path: content if path == "report.yaml" else b'{"metadata": {"name": "x"}}'
                for path, content in files.items()
            }
        word = "absent" if change == "absent" else "unknown"
        return {**files, "report.yaml": report.replace('"present":', f'"{word}":').encode()}

    with world.nothing_deleted():
        edited(lie)(world)
        world.reconcile()
        world.turns()
    assert images(world)["shop-1"] == "web:1"
    assert said(world, "shop-1") == said(world, "eu-1")


def test_a_report_of_the_future_does_not_count_but_one_of_a_clock_that_is_a_little_ahead() -> None:
    world = pull_world()
    world.cut_off.add("shop-1")
    edited(lambda files: {**files, "report.yaml": _dated(files["report.yaml"], "2036-01-01T00:00:00Z")})(world)
    world.restart()
    world.reconcile()
    assert health(world)[0] == "Unknown"
    assert part(FleetText.AGENT_REPORTS_NOT_YET) in health(world)[1]
    ahead = time_text(world.clock.now() + timedelta(minutes=8))
    edited(lambda files: {**files, "report.yaml": _dated(files["report.yaml"], ahead)})(world)
    world.reconcile()
    assert health(world)[0] == "True"


def _dated(report: bytes, at: str) -> bytes:
    body = json.loads(report)
    return json.dumps({**body, "status": {**body["status"], "at": at}}).encode()


def test_a_longer_silence_is_allowed_where_the_connection_says_so() -> None:
    world = PullWorld()
    world.commit(pulled_cluster("shop-1", silentAfter="720h"), *WEB, placement("web"))
    world.start_agent("shop-1")
    world.turns()
    world.cut_off.add("shop-1")
    world.advance(hours=200)
    world.commit(deployment("web", "web", "web:2"))
    for _ in range(4):
        world.reconcile()
    assert b"action: Update" in world.repo.files(DELIVER)["delivery.yaml"], "it waits for whoever carries it there"
    world.cut_off.clear()
    world.turns()
    assert world.image("shop-1") == "web:2"


@pytest.mark.parametrize("what", ["deleted", "edited", "foreign"])
def test_deliveries_that_somebody_changed_are_written_again(what: str) -> None:
    world = pull_world()
    heads = world.repo.fetch()
    if what == "deleted":
        world.repo.remove_branch(DELIVER, heads[DELIVER])
    elif what == "edited":
        world.repo.commit_files(DELIVER, {"delivery.yaml": "kind: X\n"}, world.clock.now())
    else:
        world.repo.commit_files(DELIVER, {"evil.yaml": "kind: X\n"}, world.clock.now())
    with world.nothing_deleted():
        world.turns()
    assert set(world.repo.files(DELIVER)) == set(pull_world().repo.files(DELIVER))
    world.commit(deployment("web", "web", "web:2"))
    world.turns()
    assert world.image("shop-1") == "web:2"


def test_the_delivery_of_a_cluster_that_is_reached_otherwise_by_now_is_withdrawn() -> None:
    world = pull_world()
    world.cut_off.add("shop-1")
    world.commit(deployment("web", "web", "web:2"))
    for _ in range(10):
        world.reconcile()
        world.advance(seconds=6)
    assert b"action: Update" in world.repo.files(DELIVER)["delivery.yaml"]
    world.commit(member_cluster("shop-1"), deployment("web", "web", "web:3"))
    for _ in range(3):
        world.reconcile()
    assert DELIVER not in world.repo.fetch()
    world.cut_off.clear()
    world.turns()
    assert world.image("shop-1") == "web:3"


def test_a_branch_of_somebody_else_among_the_deliveries_stays() -> None:
    world = pull_world()
    world.repo.commit_files("gitfleet/deliver/notes", {"a.txt": "x"}, world.clock.now())
    delivery = world.repo.files(DELIVER)["delivery.yaml"]
    world.repo.commit_files("gitfleet/deliver/a-copy", {"delivery.yaml": delivery}, world.clock.now())
    world.commit(deployment("web", "web", "web:2"))
    world.turns()
    assert {"gitfleet/deliver/notes", "gitfleet/deliver/a-copy"} <= world.repo.fetch().keys()


def quick_world(*more: dict[str, Any], rules: tuple[ClusterRule, ...] = ()) -> PullWorld:
    """The same where all clusters may move at once."""
    return pull_world(*more, rules=rules, maxUnavailable="100%", maxSurge=0)


def ordered_deletion() -> tuple[PullWorld, dict[str, Any]]:
    """A world whose pulled cluster is cut off with orders to delete all that it has; and what was removed."""
    world = quick_world()
    world.cut_off.add("shop-1")
    body = placement("web", strategy=rolling_update(maxUnavailable="100%", maxSurge=0))
    world.commit(remove=[body])
    for _ in range(4):
        world.reconcile()
    assert b"action: Delete" in world.repo.files(DELIVER)["delivery.yaml"]
    return world, body


def test_orders_are_withdrawn_where_the_branches_for_deliveries_are_renamed() -> None:
    world, body = ordered_deletion()
    world.commit(body, fleet_config(branches={"deliveries": "fleet/orders/"}))
    for _ in range(4):
        world.reconcile()
    world.cut_off.clear()
    with world.nothing_deleted():
        world.report("shop-1")


@pytest.mark.parametrize("code", ["Deleted", "NotFound", "Updated"])
def test_what_somebody_else_pushed_is_not_the_agents_own_answer(code: str) -> None:
    world = quick_world()
    world.commit(remove=["resources/web/configmap-settings.yaml"])
    for _ in range(4):
        world.reconcile()
    orders = yaml.safe_load(world.repo.files(DELIVER)["delivery.yaml"])["spec"]["operations"]
    forged = json.loads(world.repo.files(MEMBER)["report.yaml"])
    forged["status"]["delivery"] = world.repo.fetch()[DELIVER]
    forged["status"]["outcomes"] = [{"id": o["id"], "ok": True, "code": code, "message": ""} for o in orders]
    assert orders
    world.repo.commit_files(MEMBER, {"report.yaml": json.dumps(forged)}, world.clock.now())
    world.start_agent("shop-1")
    world.report("shop-1")  # whether the hub may count such a report is for the cluster's publicKeys to say
    assert world.live("shop-1", "ConfigMap", "settings") is None


def test_a_hub_that_lost_the_state_branch_pushes_no_orders_any_more() -> None:
    world = PullWorld()
    body = placement("web", strategy=rolling_update(maxUnavailable="100%", maxSurge=0))
    world.commit(pulled_cluster("a-1"), pulled_cluster("b-1"), *WEB, body)
    world.start_agent("a-1")
    world.start_agent("b-1")
    world.turns()
    one, other = world.driver, world.start()
    done: list[int] = []
    other.reconcile()
    world.commit(remove=[body])

    def before(change: BranchChange) -> None:
        orders = change.write.get("delivery.yaml", b"")
        if change.branch == "gitfleet/deliver/a-1" and not done and b"action: Delete" in orders:
            done.append(1)
            world.commit(body)
            for _ in range(4):
                other.reconcile()

    world.repo.before_commit = before
    for _ in range(4):
        with suppress(LostRace):
            one.reconcile()
        if done:
            break
    assert done
    with world.nothing_deleted():
        world.report("b-1")


def test_drift_in_a_text_that_holds_a_secret_is_set_back() -> None:
    text = "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\ndata: {a: YQ==}\n"
    world = quick_world(config_map("web", "holder", {"k": text}))
    key = ObjectKey("", "v1", "ConfigMap", "web", "holder")
    patch = [{"op": "replace", "path": "/data/k", "value": text.replace("YQ==", "Yg==")}]
    world.fleet.cluster("shop-1").mutate(key, patch)
    world.turns()
    live = world.body("shop-1", "ConfigMap", "holder")
    assert live["data"] == {"k": text}


def test_two_agents_of_one_cluster_come_to_rest() -> None:
    world = quick_world()
    both, reports = (world.agents["shop-1"], world.start_agent("shop-1")), 0
    for _ in range(12):
        for agent in both:
            head = world.repo.fetch()[MEMBER]
            with suppress(LostRace):
                agent.reconcile()
            reports += world.repo.fetch()[MEMBER] != head
        world.reconcile()
        world.advance(seconds=1)
    assert reports <= 3


def test_an_operation_that_fails_does_not_keep_the_agent_busy() -> None:
    refuses = ClusterRule(names=("shop-1",), object=ObjectPattern(kind="ConfigMap", name="extra"), apply="fail")
    world = quick_world(config_map("web", "extra", {"k": "1"}), rules=(refuses,))
    pauses: list[float] = []

    class Waits(Wake):
        def wait(self, seconds: float) -> None:
            pauses.append(seconds)
            world.clock.advance(seconds)
            if len(pauses) == 40:
                self.stop()

    loop = AgentLoop(
        agent=world.agents["shop-1"], clock=world.clock, wake=Waits(), interval=15.0, watch=lambda wake: lambda: None
    )
    loop.until_stopped()
    assert sum(pauses[-20:]) / 20 > 10


def test_a_name_that_git_takes_in_no_branch_is_said_of_that_cluster() -> None:
    world = quick_world(pulled_cluster("a.lock"))
    condition = find_condition(world.state().clusters["a.lock"].status.conditions, "Joined")
    assert condition is not None
    assert FleetText.NAME_ENDS_WAY_GIT_TAKES() in condition.message
    assert images(world)["eu-1"] == "web:1"


def test_an_agent_that_does_not_reach_its_api_server_says_so_and_does_nothing() -> None:
    world = quick_world()
    world.silence("shop-1")
    world.advance(seconds=60)
    start = len(world.happenings)
    for _ in range(6):
        world.turn()
        world.advance(seconds=30)
    assert health(world)[0] == "Unknown"
    assert part(PullText.AGENT_NOT_REACH_API_SERVER) in health(world)[1]
    assert not [one for one in world.happenings[start:] if one.cluster == "shop-1"]


def ordered_update() -> tuple[PullWorld, str]:
    """A world whose pulled cluster is cut off with the order to update something; and the order's id."""
    world = quick_world()
    world.cut_off.add("shop-1")
    world.commit(deployment("web", "web", "web:2"))
    for _ in range(6):
        world.reconcile()
        world.advance(seconds=5)
    (order,) = read_delivery(world.repo.files(DELIVER)["delivery.yaml"]).operations
    return world, order.id


@pytest.mark.parametrize("delivery", ["the one before", "of nobody", "present"])
def test_only_an_answer_to_the_very_delivery_counts(delivery: str) -> None:
    world, order = ordered_update()
    head = world.repo.fetch()[DELIVER]

    def answered(files: dict[str, bytes]) -> dict[str, bytes]:
        report = read_report("shop-1", files["report.yaml"])
        named = {"the one before": report.delivery, "of nobody": "0" * 40, "present": head}[delivery]
        outcome = ReportedOutcome(id=order, ok=True, code="Applied")
        return {**files, "report.yaml": report_content(replace(report, delivery=named, outcomes=(outcome,)))}

    edited(answered)(world)
    for _ in range(2):
        world.reconcile()
    left = [one.id for one in read_delivery(world.repo.files(DELIVER)["delivery.yaml"]).operations]
    moved = world.repo.fetch()[DELIVER] != head
    assert (moved, left) == ((True, [order]) if delivery == "present" else (False, [order]))


def test_the_delivery_of_a_silent_cluster_asks_for_nothing() -> None:
    world, _ = ordered_update()
    world.advance(minutes=10)
    for _ in range(6):
        world.reconcile()
        world.advance(seconds=30)
    assert b"action:" not in world.repo.files(DELIVER)["delivery.yaml"]
    assert b"observe:" in world.repo.files(DELIVER)["delivery.yaml"]


def test_a_delivery_that_cannot_be_pushed_is_tried_again_and_said() -> None:
    world = quick_world()
    world.commit(deployment("web", "web", "web:2"))
    refused = 0

    def refuse(change: BranchChange) -> None:
        nonlocal refused
        if change.branch == DELIVER and refused < 3:
            refused += 1
            raise Forbidden("you may not push")

    world.repo.before_commit = refuse
    said: list[str] = []
    for _ in range(12):
        world.turn()
        said += world.driver.clusters.pull.waiting if world.driver.clusters.pull is not None else ()
        world.advance(seconds=5)
    assert (refused, world.image("shop-1")) == (3, "web:2")
    cannot = FleetText.CANNOT_PUSHED(name="shop-1", branch=DELIVER, error="you may not push")
    assert any(cannot in sentence for sentence in said)


def test_an_agent_of_another_cluster_stops_before_it_does_anything() -> None:
    world = quick_world()
    world.agents["shop-1"].identity = lambda: "one"
    world.advance(seconds=61)
    world.turns()
    other = world.start_agent("shop-1")
    other.identity = lambda: "other"
    with pytest.raises(BadInput, match=re.escape(part(AgentText.REPORTED_ANOTHER_CLUSTER_ONE_AGENT))):
        other.reconcile()


def test_what_an_operation_came_to_is_that_very_object() -> None:
    world = quick_world()
    world.commit(deployment("web", "web", "web:2"))
    while not any(path.startswith("applied/") for path in world.repo.files(MEMBER)):
        world.reconcile()
        world.report("shop-1")
        world.advance(seconds=5)

    def swapped(files: dict[str, bytes]) -> dict[str, bytes]:
        applied = [path for path in files if path.startswith("applied/")]
        assert applied
        return {**files, **dict.fromkeys(applied, b'{"metadata": {"name": "x", "uid": "y"}, "kind": "ConfigMap"}')}

    edited(swapped)(world)
    world.reconcile()
    owned = world.state().inventory["shop-1"]
    assert "y" not in {entry.uid for entry in owned.values()}
    world.turns()
    assert said(world, "shop-1") == said(world, "eu-1")


def test_an_agent_that_does_not_see_its_deliveries_is_waited_for_aloud() -> None:
    world = PullWorld()
    world.commit(pulled_cluster("shop-1"), *WEB, placement("web"))
    agent = world.start_agent("shop-1")
    agent.branches = replace(agent.branches, deliveries="gitfleet/delivr/")
    for _ in range(8):
        world.turn()
        world.advance(seconds=5)
    assert world.driver.clusters.pull is not None
    assert FleetText.AGENT_NOT_SEEN_LAST_DELIVERY(unseen="shop-1") in world.driver.clusters.pull.waiting
