"""Jobs that run as steps, on whole simulated fleets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.holds import HoldRule
from gitfleet.api.objects import JsonObject, ObjectKey
from gitfleet.api.scenarios import ClusterRule, ObjectPattern
from gitfleet.api.steps import STEP, STEP_TIMEOUT
from gitfleet.apply import steps
from gitfleet.apply.texts import ApplyText
from gitfleet.model.events import EventType
from gitfleet.snapshots import take
from tests import builders
from tests.folders import FOLDER, PROD, REST, folder, select_folder, settings, without_namespace
from tests.scenarios.explaining import explain
from tests.scenarios.pull_world import PullWorld, pulled_cluster
from tests.scenarios.staged_world import EXTERNAL, ROLLING, said
from tests.scenarios.test_folders import clusters
from tests.scenarios.test_planned_steps import happened, plan_of, planned
from tests.scenarios.world import World, answer, commit_state, only_hold

HANGS = ClusterRule(object=ObjectPattern(kind="Job", image="*:hangs"), available="never")
SLOW = ClusterRule(object=ObjectPattern(kind="Job"), available=timedelta(seconds=60))
QUICK = ClusterRule(object=ObjectPattern(), available=timedelta(seconds=5))
PRE_SYNC = {"argocd.argoproj.io/hook": "PreSync"}
MIGRATE = ObjectKey("batch", "v1", "Job", "apps", "migrate")


def job(image: str = "migrate:1", name: str = "migrate", hook: Mapping[str, str] = PRE_SYNC, **spec: Any) -> str:
    """A Job with hook annotations, as a file."""
    body = without_namespace(builders.job("x", name, image, annotations=dict(hook)))
    return builders.to_yaml({**body, "spec": {**body["spec"], **spec}})


def web(image: str) -> str:
    """A Deployment, as a file."""
    return builders.to_yaml(without_namespace(builders.deployment("x", "web", image)))


def files(image: str = "web:1", **jobs: str) -> dict[str, str]:
    """A Folder with a Deployment and Jobs."""
    body = builders.to_yaml(folder("apps", namespace="apps", createNamespace=True))
    made = {f"resources/apps/{name}.yaml": text for name, text in (jobs or {"migrate": job()}).items()}
    return {f"resources/apps/{FOLDER}": body, "resources/apps/web.yaml": web(image), **made}


def placement(**parts: Any) -> JsonObject:
    """A placement of the Folder."""
    return builders.placement("apps", selectors=[select_folder("apps")], strategy={**ROLLING, **parts})


def a_world(*names: str, rules: tuple[ClusterRule, ...] = (HANGS, SLOW, QUICK), **parts: Any) -> World:
    """A fleet with the placement, and nothing in its folder yet."""
    world = World(rules=rules)
    world.commit(*clusters(**dict.fromkeys(names or ("p1",), "prod")), placement(**parts))
    return world


def runs(world: World, cluster: str = "p1", name: str = "migrate") -> int:
    """How many Jobs of a name gitfleet made on a cluster."""
    made, is_there = 0, False
    for happening in world.happenings:
        if (happening.cluster, happening.key.kind, happening.key.name) == (cluster, "Job", name) and happening.ok:
            made += happening.what == "apply" and not is_there
            is_there = happening.what != "delete"
    return made


def reasons(world: World) -> dict[str, set[str]]:
    """Why objects of each cluster are not as they are to be."""
    return {name: {failed.reason for failed in b.failed} for name, b in world.bindings("apps").items()}


def test_a_migration_runs_before_the_other_objects_and_once_for_each_content() -> None:
    world = a_world()
    world.write(files())
    world.rest()
    assert (runs(world), world.image("p1")) == (1, None)
    world.settle()
    assert (runs(world), world.image("p1")) == (1, "web:1")
    world.write(files("web:2"))
    world.rest()
    assert (runs(world), world.image("p1")) == (2, "web:1")
    world.settle()
    assert (runs(world), world.image("p1")) == (2, "web:2")
    assert reasons(world) == {"p1": set()}
    with world.nothing_deleted():
        world.settle()
        world.restart()
        world.settle()
    assert runs(world) == 2


def test_a_step_that_hangs_stops_its_cluster_alone() -> None:
    on_p1 = ClusterRule(names=("p1",), object=ObjectPattern(kind="Job", image="*:bad"), available="never")
    world = a_world("p1", "p2", "p3", rules=(on_p1, SLOW, QUICK), rollingUpdate={"maxUnavailable": 2})
    world.write(files())
    world.settle()
    world.write(files("web:2", migrate=job("migrate:bad")))
    world.settle()
    assert {name: world.image(name) for name in world.fleet.clusters} == {"p1": "web:1", "p2": "web:2", "p3": "web:2"}
    assert reasons(world) == {"p1": {"StepFailed", "WaitsForStep"}, "p2": set(), "p3": set()}
    assert world.clock.now() - world.began >= timedelta(minutes=10)
    world.write(files("web:3"))
    world.settle()
    assert {world.image(name) for name in world.fleet.clusters} == {"web:3"}


def test_a_step_that_runs_long_is_no_failure() -> None:
    """A migration of 20 minutes, in a run that counts a cluster as stuck after five."""
    world = World(rules=(ClusterRule(object=ObjectPattern(kind="Job"), available=timedelta(minutes=20)), QUICK))
    stages = builders.staged_strategy("stages", builders.stage("all", onFailure="Rollback"))
    selectors = [select_folder("apps")]
    world.commit(*clusters(p1="prod"), builders.placement("apps", selectors=selectors, strategy=EXTERNAL), stages)
    world.write(files(migrate=job(hook={**PRE_SYNC, STEP_TIMEOUT: "30m"})))
    world.commit(builders.staged_run("one", placement="apps", strategy="stages"))
    world.settle()
    assert world.image("p1") == "web:1" and "Succeeded=True UpdateRunSucceeded" in said(world, "one")
    assert not [event for event in world.events if event.type is EventType.FAILED]


def test_the_budget_holds_where_a_step_fails() -> None:
    world = a_world("p1", "p2")
    world.write(files())
    world.settle()
    world.write(files("web:2", migrate=job("migrate:hangs")))
    world.settle()
    assert sorted(runs(world, name) for name in world.fleet.clusters) == [1, 2]
    assert {world.image(name) for name in world.fleet.clusters} == {"web:1"}


def test_the_limit_of_a_step_is_in_its_manifest() -> None:
    world = a_world()
    world.write(files(migrate=job("migrate:hangs", hook={**PRE_SYNC, STEP_TIMEOUT: "90s"})))
    world.rest()
    world.move_to(world.clock.now() + timedelta(seconds=80))
    world.rest()
    assert reasons(world) == {"p1": {"StepRuns", "WaitsForStep"}}
    world.move_to(world.clock.now() + timedelta(seconds=10))
    world.rest()
    assert reasons(world) == {"p1": {"StepFailed", "WaitsForStep"}}


@pytest.mark.parametrize("restarts", [False, True])
def test_a_job_that_is_gone_does_not_run_again(restarts: bool) -> None:
    world = a_world()
    world.write(files())
    world.settle()
    world.fleet.cluster("p1").delete_by_hand(MIGRATE)
    if restarts:
        world.restart()
    world.settle()
    assert (runs(world), world.live("p1", "Job", "migrate"), reasons(world)) == (1, None, {"p1": set()})
    world.write(files("web:2"))
    world.settle()
    assert (runs(world), world.image("p1")) == (2, "web:2")


def test_a_job_that_is_deleted_while_it_runs_has_failed() -> None:
    world = a_world()
    world.write(files())
    world.rest()
    world.fleet.cluster("p1").delete_by_hand(MIGRATE)
    world.settle()
    assert (runs(world), world.image("p1"), reasons(world)) == (1, None, {"p1": {"StepFailed", "WaitsForStep"}})


def test_drift_is_corrected_without_a_step() -> None:
    world = a_world()
    world.write(files())
    world.settle()
    world.fleet.cluster("p1").delete_by_hand(ObjectKey("apps", "v1", "Deployment", "apps", "web"))
    world.settle()
    assert (runs(world), world.image("p1")) == (1, "web:1")


def taken_over(world: World, image: str = "web:1", *, with_job: bool = True) -> None:
    """What another tool made on the cluster before."""
    by_hand = world.fleet.cluster("p1").apply_by_hand
    by_hand(builders.namespace("apps"))
    by_hand(builders.deployment("apps", "web", image))
    if with_job:
        by_hand(builders.job("apps", "migrate", "migrate:0"))


@pytest.mark.parametrize("with_job", [False, True])
def test_equal_content_that_is_there_is_only_recorded(with_job: bool) -> None:
    world = a_world()
    taken_over(world, with_job=with_job)
    with world.nothing_deleted():
        world.write(files())
        world.settle()
    assert (runs(world), reasons(world)) == (0, {"p1": set()})
    entry = next(entry for key, entry in world.state().inventory["p1"].items() if key == MIGRATE)
    assert entry.step is not None
    world.write(files("web:2"))
    world.settle()
    assert (runs(world), world.image("p1")) == (1, "web:2")
    assert world.body("p1", "Job", "migrate")["metadata"]["annotations"][STEP] != entry.step


def test_other_content_that_is_there_is_an_upgrade() -> None:
    world = a_world()
    taken_over(world, "web:0")
    world.write(files(before=job(name="before", hook=helm("pre-install")), migrate=job(hook=helm("pre-upgrade"))))
    world.settle()
    assert (runs(world, name="before"), runs(world), world.image("p1")) == (0, 1, "web:1")


def test_older_content_runs_its_steps_when_it_comes_back() -> None:
    world = a_world()
    for image in ("web:1", "web:2", "web:1"):
        world.write(files(image))
        world.settle()
    assert (runs(world), world.image("p1")) == (3, "web:1")


def helm(hooks: str, weight: int = 0, **more: str) -> dict[str, str]:
    """Annotations of a hook of Helm."""
    return {"helm.sh/hook": hooks, "helm.sh/hook-weight": str(weight), **more}


def test_hooks_of_installations_and_of_upgrades() -> None:
    names = ("pre-install", "post-install", "pre-upgrade", "post-upgrade", "pre-install,pre-upgrade")
    jobs = {name.replace(",", "-"): job(name=name.replace(",", "-"), hook=helm(name)) for name in names}
    world = a_world()
    world.write(files(**jobs))
    world.settle()
    assert {name: runs(world, name=name) for name in jobs} == dict(zip(jobs, (1, 1, 0, 0, 1), strict=True))
    world.write(files("web:2", **jobs))
    world.settle()
    assert {name: runs(world, name=name) for name in jobs} == dict(zip(jobs, (1, 1, 1, 1, 2), strict=True))
    assert reasons(world) == {"p1": set()}


def test_an_installation_that_fails_is_one_with_its_next_content() -> None:
    world = a_world()
    world.write(files(migrate=job("migrate:hangs", hook=helm("pre-install"))))
    world.settle()
    world.write(files(migrate=job(hook=helm("pre-install"))))
    world.settle()
    assert (runs(world), world.image("p1")) == (2, "web:1")


def order(world: World) -> list[str]:
    """The names of Deployments and Jobs in the order in which gitfleet applied them, or they completed."""
    names = [(h.what, h.key.name) for h in world.happenings if h.key.kind in ("Deployment", "Job") and h.ok]
    return [name if what == "apply" else f"{name} {what}" for what, name in names]


def test_steps_run_in_the_order_of_their_phases_and_weights() -> None:
    jobs = {
        "check": job(name="check", hook={"argocd.argoproj.io/hook": "PostSync"}),
        "second": job(name="second", hook={**PRE_SYNC, "argocd.argoproj.io/sync-wave": "1"}),
        "first": job(name="first", hook={**PRE_SYNC, "argocd.argoproj.io/sync-wave": "-1"}),
        "with": job(name="with", hook={"argocd.argoproj.io/hook": "Sync"}),
    }
    world = a_world()
    world.write(files(**jobs))
    world.settle()
    ran = ["first", "first available", "second", "second available"]
    both = ["web", "with", "web available", "with available", "check", "check available"]
    assert order(world) == [*ran, *both]


def test_other_kinds_with_a_hook_come_before_the_jobs() -> None:
    world = a_world()
    early = without_namespace(builders.deployment("x", "early", "early:1", annotations=dict(PRE_SYNC)))
    world.write({**files(), "resources/apps/early.yaml": builders.to_yaml(early)})
    world.settle()
    assert order(world)[:2] == ["early", "migrate"]


@pytest.mark.parametrize(("image", "failed"), [("migrate:1", False), ("migrate:hangs", True)])
def test_jobs_are_deleted_by_their_policy(image: str, failed: bool) -> None:
    policy = "HookFailed" if failed else "HookSucceeded"
    world = a_world()
    world.write(files(migrate=job(image, hook={**PRE_SYNC, "argocd.argoproj.io/hook-delete-policy": policy})))
    world.settle()
    assert (runs(world), world.live("p1", "Job", "migrate")) == (1, None)
    assert reasons(world) == {"p1": {"StepFailed", "WaitsForStep"} if failed else set()}
    assert (world.image("p1") is None) == failed


def test_what_no_content_has_any_more_goes_after_the_step() -> None:
    world = a_world()
    config = builders.to_yaml(without_namespace(builders.config_map("x", "old", {"a": "1"})))
    world.write({**files(), "resources/apps/old.yaml": config})
    world.settle()
    world.write({**files("web:2"), "resources/apps/old.yaml": None})
    world.rest()
    assert world.live("p1", "ConfigMap", "old") is not None
    world.settle()
    assert world.live("p1", "ConfigMap", "old") is None


def test_a_step_after_a_failure() -> None:
    jobs = {"tidy": job(name="tidy", hook={"argocd.argoproj.io/hook": "SyncFail"})}
    world = a_world()
    world.write(files(**jobs, migrate=job()))
    world.settle()
    assert (runs(world, name="tidy"), reasons(world)) == (0, {"p1": set()})
    world.write(files("web:2", **jobs, migrate=job("migrate:hangs")))
    world.settle()
    assert (runs(world, name="tidy"), world.image("p1")) == (1, "web:1")


def test_report_diff_runs_no_step() -> None:
    world = a_world(applyStrategy={"type": "ReportDiff"})
    taken_over(world)
    world.write(files())
    world.settle()
    diffed = [str(diffed.key) for diffed in world.bindings("apps")["p1"].diffed]
    assert (runs(world), diffed) == (0, ["Namespace/apps"])  # which the Folder makes, with annotations


def test_a_job_that_is_taken_out_of_the_repo_goes() -> None:
    world = a_world()
    world.write(files())
    world.settle()
    world.write({**files("web:2"), "resources/apps/migrate.yaml": None})
    world.settle()
    assert (world.live("p1", "Job", "migrate"), world.image("p1")) == (None, "web:2")


@pytest.mark.parametrize("operations", range(8))
def test_a_crash_runs_nothing_twice(operations: int) -> None:
    world = a_world()
    world.write(files(check=job(name="check", hook={"argocd.argoproj.io/hook": "PostSync"}), migrate=job()))
    world.fleet.cluster("p1").crash.arm(operations)
    world.settle()
    assert [runs(world, name=name) for name in ("migrate", "check")] == [1, 1]
    world.write(files("web:2"))
    world.fleet.cluster("p1").crash.arm(operations)
    world.settle()
    assert (runs(world), world.image("p1")) == (2, "web:2")


def test_a_state_that_is_lost_runs_nothing() -> None:
    world = a_world()
    world.write(files())
    world.settle()
    world.repo.move_branch("gitfleet/state", None)
    world.restart()
    world.settle()
    assert (runs(world), reasons(world)) == (1, {"p1": set()})


def test_a_job_with_a_generated_name_makes_room_for_its_successor() -> None:
    body = without_namespace(builders.job("x", "migrate", annotations=dict(PRE_SYNC)))
    body["metadata"]["generateName"] = body["metadata"].pop("name") + "-"
    world = a_world()
    world.write(files(migrate=builders.to_yaml(body)))
    world.settle()
    (first,) = jobs_on(world)
    world.write(files("web:2", migrate=builders.to_yaml({**body, "spec": {**body["spec"], "backoffLimit": 1}})))
    world.settle()
    (second,) = jobs_on(world)
    assert (first[:8], second[:8], first == second) == ("migrate-", "migrate-", False)
    assert (world.image("p1"), world.state().held) == ("web:2", {})


def jobs_on(world: World, cluster: str = "p1") -> list[str]:
    """The names of the Jobs of a cluster."""
    return [live.key.name for live in world.fleet.cluster(cluster).objects() if live.key.kind == "Job"]


NEEDS_CERTS = {"dependsOn": [{"folder": "certs"}]}


def test_a_folder_waits_for_the_steps_of_another() -> None:
    world = a_world()
    body = folder("apps", namespace="apps", createNamespace=True, **NEEDS_CERTS)
    certs = folder("certs", namespace="certs", createNamespace=True)
    selectors = [select_folder("apps"), select_folder("certs")]
    world.commit(builders.placement("apps", selectors=selectors, strategy=ROLLING))
    check = job(name="check", hook={"argocd.argoproj.io/hook": "PostSync"})
    world.write({**files(), f"resources/apps/{FOLDER}": builders.to_yaml(body)})
    world.write({f"resources/certs/{FOLDER}": builders.to_yaml(certs), "resources/certs/check.yaml": check})
    world.settle()
    assert [name for name in order(world) if "available" not in name] == ["check", "migrate", "web"]
    assert reasons(world) == {"p1": set()}


def test_hooks_in_both_orders() -> None:
    world = a_world()
    check = job(name="check", hook=helm("post-install,pre-upgrade"))
    for image in ("web:1", "web:2"):
        world.write(files(image, check=check))
        world.settle()
    names = [name for name in order(world) if name != "web"]
    assert names == ["web available", "check", "check available", "check delete", "check", "check available",
                     "web available"]  # fmt: skip


def test_hooks_that_gitfleet_does_not_run_are_not_placed() -> None:
    world = a_world()
    world.write(files(migrate=job(hook=helm("pre-delete"))))
    world.settle()
    assert (jobs_on(world), world.image("p1")) == ([], "web:1")
    (fault,) = world.state().faults
    assert (fault.path, fault.severity) == ("resources/apps/migrate.yaml", "warning")


def test_an_object_that_an_earlier_version_placed_waits_for_a_person() -> None:
    world = a_world()
    world.write(files(migrate=job(hook={})))
    world.settle()
    with world.nothing_deleted():
        world.write(files(migrate=job(hook=helm("pre-delete"))))
        world.settle()
    (hold,) = world.state().held.values()
    assert [reason.rule for reason in hold.reasons] == [HoldRule.STILL_IN_REPO]


@pytest.mark.parametrize("hook", [PRE_SYNC, {"helm.sh/hook": "post-install,post-upgrade"}])
def test_hooks_that_were_ordinary_objects_before_do_not_run_when_they_become_steps(hook: dict[str, str]) -> None:
    world = a_world()
    world.write(files(migrate=job(hook={})))
    world.settle()
    with world.nothing_deleted():
        world.write(files(migrate=job(hook=hook)))
        world.settle()
    assert (runs(world), reasons(world)) == (1, {"p1": set()})
    world.write(files("web:2", migrate=job(hook=hook)))
    world.settle()
    assert (runs(world), world.image("p1")) == (2, "web:2")


@pytest.mark.parametrize("seen_by", ["simulated", "none"])
def test_a_plan_lists_what_then_happens(seen_by: str) -> None:
    world = a_world("p1", "p2")
    world.write(files(check=job(name="check", hook={"argocd.argoproj.io/hook": "PostSync"}), migrate=job()))
    world.settle()
    world.write(files("web:2"))
    document, since = plan_of(world, seen_by), len(world.happenings)
    assert plan_of(world, seen_by) == document
    assert (document["risk"]["delete"]["objects"], document["risk"]["losses"]) == (0, [])
    world.settle()
    done = happened(world, since)
    made = {entry for entry in done if entry[1] == "apply"}
    assert {name for _, _, name in made} == {"Job/migrate", "Deployment/web", "Job/check"}
    assert {entry for entry in planned(document, "operations", "later") if entry[1] == "apply"} == made
    assert +(planned(document, "operations", "later") - done) == Counter()


def test_a_plan_of_a_failed_step_lists_nothing_behind_it() -> None:
    world = a_world()
    world.write(files(migrate=job("migrate:hangs")))
    world.settle()
    document = plan_of(world)
    assert planned(document, "operations", "later") == Counter()
    actions = {(row["action"], row["object"]["name"]) for row in document["placements"][0]["operations"]}
    assert ("refuse", "migrate") in actions


def test_agents_get_steps_as_operations() -> None:
    world = PullWorld(rules=(QUICK,))
    world.commit(pulled_cluster("p1"), placement())
    world.write(files(migrate=job(hook={**PRE_SYNC, "argocd.argoproj.io/hook-delete-policy": "HookSucceeded"})))
    world.start_agent("p1")
    world.turns()
    assert (runs(world), world.image("p1"), jobs_on(world)) == (1, "web:1", [])
    world.write(files("web:2"))
    world.turns()
    assert (runs(world), world.image("p1"), jobs_on(world)) == (2, "web:2", ["migrate"])
    world.write(files("web:3"))
    world.turns()
    assert (runs(world), world.image("p1"), reasons(world)) == (3, "web:3", {"p1": set()})


def test_a_run_does_not_complete_a_cluster_whose_step_failed() -> None:
    on_p1 = ClusterRule(names=("p1",), object=ObjectPattern(kind="Job", image="*:bad"), available="never")
    world = World(rules=(on_p1, SLOW, QUICK))
    stages = builders.staged_strategy("stages", builders.stage("all", maxConcurrency=1))
    selectors = [select_folder("apps")]
    world.commit(*clusters(p1="prod", p2="prod"), builders.placement("apps", selectors=selectors, strategy=EXTERNAL))
    world.commit(stages)
    world.write(files())
    world.commit(builders.staged_run("one", placement="apps", strategy="stages"))
    world.settle()
    assert {world.image(name) for name in world.fleet.clusters} == {"web:1"}
    world.write(files("web:2", migrate=job("migrate:bad")))
    world.commit(builders.staged_run("two", placement="apps", strategy="stages"))
    world.settle()
    assert [world.image("p1"), world.image("p2"), runs(world, "p2")] == ["web:1", "web:1", 1]
    assert "Succeeded=True UpdateRunSucceeded" not in said(world, "two")
    assert {"StepFailed", "WaitsForStep"} == reasons(world)["p1"]


def test_after_a_restored_state_steps_wait_for_a_person() -> None:
    world = a_world()
    world.write(files())
    world.settle()
    damaged = commit_state(world.repo, {"fleet.yaml": "damaged"}, world.clock.now(), trailers=False)
    assert world.repo.fetch()["gitfleet/state"] == damaged
    world.write(files("web:2"))
    world.restart()
    with world.nothing_deleted():
        world.settle()
    assert (runs(world), world.image("p1")) == (1, "web:1")
    world.write(answer(only_hold(world)))
    world.settle()
    assert (runs(world), world.image("p1")) == (2, "web:2")


def test_an_upgrade_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    selectors = [select_folder("apps"), select_folder("shop")]
    world = a_world()
    world.commit(builders.placement("apps", selectors=selectors, strategy=ROLLING))
    shop = builders.to_yaml(folder("shop", namespace="shop", createNamespace=True))
    world.write({f"resources/shop/{FOLDER}": shop, "resources/shop/settings.yaml": settings(a="1")})
    with monkeypatch.context() as earlier:
        earlier.setattr(steps, "step_of", lambda manifest: None)
        earlier.setattr(take, "stepped_folders", lambda manifests: frozenset())
        world.write(files())
        world.settle()
    assert (runs(world), reasons(world)) == (1, {"p1": set()})
    world.restart()
    since = len(world.happenings)
    world.settle()
    assert len(world.happenings) == since
    assert world.bindings("apps")["p1"].resource_snapshot == "apps-0-snapshot"
    world.write({"resources/shop/settings.yaml": settings(a="2")})
    world.settle()
    assert (runs(world), world.bindings("apps")["p1"].applied_snapshot) == (1, "apps-1-snapshot")
    world.write(files("web:2"))
    world.settle()
    assert (runs(world), world.image("p1")) == (2, "web:2")


def test_without_a_folder_the_step_is_for_everything_of_the_placement() -> None:
    world = World(rules=(SLOW, QUICK))
    migrate = builders.job("apps", "migrate", annotations=PRE_SYNC)
    other = [builders.namespace("other"), builders.config_map("other", "settings", {"a": "1"})]
    world.commit(*clusters(p1="prod"), builders.namespace("apps"), builders.deployment("apps", "web", "web:1"))
    world.commit(migrate, *other, builders.placement("apps", "apps", "other", strategy=ROLLING))
    world.rest()
    assert (runs(world), world.image("p1"), world.live("p1", "ConfigMap", "settings")) == (1, None, None)
    world.settle()
    assert (runs(world), world.image("p1")) == (1, "web:1")
    world.restart()
    world.commit(builders.config_map("other", "settings", {"a": "2"}))
    world.settle()
    assert (runs(world), world.body("p1", "ConfigMap", "settings")["data"]) == (2, {"a": "2"})


def test_another_variant_is_other_content() -> None:
    world = a_world("p1", "p2")
    body = folder("apps", ("prod", "prod", PROD), REST, namespace="apps", createNamespace=True)
    made = {f"resources/apps/{where}/migrate.yaml": job(f"migrate:{where}") for where in ("prod", "base")}
    made |= {f"resources/apps/{where}/web.yaml": web(f"web:{where}") for where in ("prod", "base")}
    world.write({f"resources/apps/{FOLDER}": builders.to_yaml(body), **made})
    world.settle()
    assert ([runs(world, name) for name in ("p1", "p2")], world.image("p1")) == ([1, 1], "web:prod")
    world.commit(*clusters(p1="staging"))
    world.settle()
    assert ([runs(world, name) for name in ("p1", "p2")], world.image("p1")) == ([2, 1], "web:base")
    world.write({"resources/apps/prod/web.yaml": web("web:newer")})
    world.settle()
    assert ([runs(world, name) for name in ("p1", "p2")], world.image("p2")) == ([2, 2], "web:newer")


def test_people_are_told_what_failed() -> None:
    world = a_world()
    world.write(files(migrate=job("migrate:hangs")))
    world.settle()
    (row,) = explain(world.repo, world.fleet, world.clock, "apps")
    assert ApplyText.STEP_LATE() in str(row)
