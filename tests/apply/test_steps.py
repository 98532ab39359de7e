"""Steps of a work: given works, inventory and live objects, what is done next and what waits."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import Manifest, ObjectKey
from gitfleet.api.steps import STEP
from gitfleet.apply import record_intended, settle_inventory
from gitfleet.apply.texts import ApplyText
from gitfleet.model.observations import LiveObject
from gitfleet.model.operations import Create, Delete, Keep, KeepCode, Operation, Outcome, OutcomeCode, Refuse, Update
from gitfleet.model.removals import STEP as BY_STEP
from gitfleet.model.removals import ClusterGate
from tests import builders
from tests.apply.model_cluster import config_map, manifest, namespace
from tests.apply.test_plan_apply import live, owned, plan, work

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CONFIG, NEWER_CONFIG = config_map("web", a="1"), config_map("web", a="2")
Inventory = dict[ObjectKey, InventoryEntry]


def job(hook: str = "PreSync", name: str = "migrate", **annotations: str) -> Manifest:
    """A Job with a hook of Argo CD."""
    return manifest(builders.job("ns", name, annotations={"argocd.argoproj.io/hook": hook, **annotations}))


MIGRATE = job()
PRE_SYNC = ("argocd.argoproj.io/hook", "PreSync")


def as_seen(operation: Operation) -> str:
    """What is done to an object, in short."""
    return operation.code.value if isinstance(operation, Keep | Refuse) else type(operation).__name__


def planned(*manifests: Manifest, **parts: Any) -> dict[str, Operation]:
    """The operations by kind."""
    return {operation.key.kind: operation for operation in plan(work(*manifests), **{"now": NOW, **parts})}


def seen(*manifests: Manifest, **parts: Any) -> dict[str, str]:
    """The operations by kind, in short."""
    return {kind: as_seen(operation) for kind, operation in planned(*manifests, **parts).items()}


def begun(*manifests: Manifest, inventory: Inventory | None = None, **parts: Any) -> tuple[str, Inventory]:
    """What the first operation for the Job is for, and the inventory that is published with it."""
    operations = plan(work(*manifests), inventory=inventory or {}, now=NOW, **parts)
    (run,) = {operation.step for operation in operations if operation.step}
    return run, dict(record_intended(inventory or {}, operations))


def made(run: str, status: dict[str, Any] | None = None, uid: str = "j1", age: timedelta = timedelta()) -> LiveObject:
    """The Job that a step made."""
    created = (NOW - age).isoformat().replace("+00:00", "Z")
    metadata = {"annotations": {STEP: run}, "creationTimestamp": created}
    return live(MIGRATE, uid, manager="gitfleet", metadata=metadata, status=status or {})


def ended(type_: str, after: timedelta = timedelta(minutes=1), age: timedelta = timedelta(minutes=2)) -> dict[str, Any]:
    """The status of a Job that is over."""
    at = (NOW - age + after).isoformat().replace("+00:00", "Z")
    return {"conditions": [{"type": type_, "status": "True", "reason": "Why", "lastTransitionTime": at}]}


def running(inventory: Inventory, run: str, observed: LiveObject) -> Inventory:
    """The inventory once the Job was made."""
    create = planned(MIGRATE, CONFIG, live={MIGRATE.key: None, CONFIG.key: None}, inventory=inventory)["Job"]
    assert isinstance(create, Create)
    assert create.step == run
    outcome = Outcome(operation=create, ok=True, code=OutcomeCode.APPLIED, live=observed)
    return dict(settle_inventory(record_intended(inventory, (create,)), (outcome,)))


NOTHING_THERE: dict[ObjectKey, LiveObject | None] = {MIGRATE.key: None, CONFIG.key: None}


def test_the_other_objects_wait_for_a_step_and_its_namespace_does_not() -> None:
    space = namespace()
    operations = seen(space, MIGRATE, CONFIG, live={**NOTHING_THERE, space.key: None})
    assert operations == {"Namespace": "Create", "Job": "Create", "ConfigMap": "WaitsForStep"}


@pytest.mark.parametrize(("config", "starts"), [(None, "install"), (live(NEWER_CONFIG), "upgrade")])
def test_a_cluster_with_nothing_but_the_namespace_is_installed(config: LiveObject | None, starts: str) -> None:
    hooks = {name: manifest(builders.job("ns", name, annotations={"helm.sh/hook": f"pre-{name}"}))
             for name in ("install", "upgrade")}  # fmt: skip
    space = namespace()
    there = {**dict.fromkeys(job.key for job in hooks.values()), CONFIG.key: config, space.key: live(space)}
    operations = plan(work(space, *hooks.values(), CONFIG), live=there, now=NOW)
    assert [o.key.name for o in operations if isinstance(o, Create) and o.key.kind == "Job"] == [starts]


@pytest.mark.parametrize(
    ("status", "age", "job_is", "config_is"),
    [
        ({}, timedelta(minutes=2), "StepRuns", "WaitsForStep"),
        ({}, timedelta(minutes=10), "StepFailed", "WaitsForStep"),
        (ended("Complete"), timedelta(minutes=2), "Finished", "Create"),
        (ended("Complete"), timedelta(hours=2), "StepFailed", "WaitsForStep"),  # it was late
        (ended("Complete", age=timedelta(hours=2)), timedelta(hours=2), "Finished", "Create"),  # gitfleet was late
        (ended("Failed"), timedelta(minutes=2), "StepFailed", "WaitsForStep"),
        ({"conditions": [{"type": "Suspended", "status": "True"}]}, timedelta(0), "StepRuns", "WaitsForStep"),
        ({"conditions": "nonsense"}, timedelta(0), "StepRuns", "WaitsForStep"),
    ],
)
def test_what_became_of_the_job_decides(status: dict[str, Any], age: timedelta, job_is: str, config_is: str) -> None:
    run, inventory = begun(MIGRATE, CONFIG, live=NOTHING_THERE)
    observed = made(run, status, age=age)
    inventory = running(inventory, run, observed)
    operations = seen(MIGRATE, CONFIG, live={**NOTHING_THERE, MIGRATE.key: observed}, inventory=inventory)
    assert operations == {"Job": job_is, "ConfigMap": config_is}


def test_a_job_that_replaces_the_one_of_the_step_is_not_it() -> None:
    run, inventory = begun(MIGRATE, CONFIG, live=NOTHING_THERE)
    inventory = running(inventory, run, made(run))
    foreign = live(MIGRATE, "j2", status=ended("Complete"))
    operations = seen(MIGRATE, CONFIG, live={**NOTHING_THERE, MIGRATE.key: foreign}, inventory=inventory)
    assert operations == {"Job": "StepFailed", "ConfigMap": "WaitsForStep"}


def test_the_annotation_alone_makes_no_job_of_somebody_else_a_run() -> None:
    run, _ = begun(MIGRATE, CONFIG, live=NOTHING_THERE)
    copied = live(MIGRATE, "j2", metadata={"annotations": {STEP: run}}, status=ended("Complete"))
    operations = seen(MIGRATE, CONFIG, live={**NOTHING_THERE, MIGRATE.key: copied})
    assert operations == {"Job": "Delete", "ConfigMap": "WaitsForStep"}


def test_objects_of_folders_wait_for_a_step_without_one_and_not_for_that_of_another_folder() -> None:
    shop, apps = replace(CONFIG, folder="shop"), replace(manifest(builders.service("ns", "web")), folder="apps")
    there = {MIGRATE.key: None, shop.key: None, apps.key: None}
    waits, free = {"Job": "Create", "ConfigMap": "WaitsForStep", "Service": "WaitsForStep"}, {"Service": "Create"}
    assert seen(MIGRATE, shop, apps, live=there) == waits
    assert seen(replace(MIGRATE, folder="shop"), shop, apps, live=there) == waits | free


def test_a_step_that_runs_says_until_when() -> None:
    run, inventory = begun(MIGRATE, CONFIG, live=NOTHING_THERE)
    observed = made(run, age=timedelta(minutes=4))
    inventory = running(inventory, run, observed)
    keep = planned(MIGRATE, CONFIG, live={**NOTHING_THERE, MIGRATE.key: observed}, inventory=inventory)["Job"]
    assert isinstance(keep, Keep)
    assert keep.until == NOW + timedelta(minutes=6)


@pytest.mark.parametrize("is_finished", [True, False])
def test_a_job_that_is_gone_does_not_run_again(is_finished: bool) -> None:
    run, inventory = begun(MIGRATE, CONFIG, live=NOTHING_THERE)
    inventory = running(inventory, run, made(run))
    inventory[MIGRATE.key] = replace(inventory[MIGRATE.key], finished=is_finished)
    operation = planned(MIGRATE, CONFIG, live=NOTHING_THERE, inventory=inventory)["Job"]
    if is_finished:
        assert isinstance(operation, Keep)
        assert operation.code is KeepCode.FINISHED
    else:
        why = ApplyText.STEP_FAILED(key=MIGRATE.key, why=ApplyText.STEP_VANISHED())
        assert isinstance(operation, Refuse)
        assert operation.reason == why


def test_a_job_that_cannot_be_read_has_not_failed() -> None:
    run, inventory = begun(MIGRATE, CONFIG, live=NOTHING_THERE)
    inventory = running(inventory, run, made(run))
    operations = seen(MIGRATE, CONFIG, live={CONFIG.key: None}, unreadable={MIGRATE.key: "no"}, inventory=inventory)
    assert operations == {"Job": "Unreadable", "ConfigMap": "WaitsForStep"}


def before(finished: bool = True) -> tuple[LiveObject, dict[ObjectKey, LiveObject | None], Inventory]:
    """A cluster on which the step ran for CONFIG: the Job, the live objects and the inventory."""
    run, inventory = begun(MIGRATE, CONFIG, live=NOTHING_THERE)
    observed, config = made(run, ended("Complete"), age=timedelta(minutes=2)), live(CONFIG, manager="gitfleet")
    inventory = {**running(inventory, run, observed), CONFIG.key: owned(CONFIG, config)}
    inventory[MIGRATE.key] = replace(inventory[MIGRATE.key], finished=finished)
    return observed, {MIGRATE.key: observed, CONFIG.key: config}, inventory


def test_other_content_makes_room_for_the_step_by_the_gate() -> None:
    observed, there, inventory = before()
    operations = planned(MIGRATE, NEWER_CONFIG, live=there, inventory=inventory, gate=ClusterGate("c1"))
    delete = operations["Job"]
    assert isinstance(delete, Delete)
    assert (delete.uid, delete.permit.granted_by) == (observed.uid, BY_STEP)
    assert as_seen(operations["ConfigMap"]) == "WaitsForStep"
    recorded = record_intended(inventory, (delete,))
    gone = settle_inventory(recorded, (Outcome(operation=delete, ok=True, code=OutcomeCode.DELETED),))
    assert (gone[MIGRATE.key].step, gone[MIGRATE.key].uid) == (delete.step, None)
    again = planned(MIGRATE, NEWER_CONFIG, live={**there, MIGRATE.key: None}, inventory=gone)["Job"]
    assert (as_seen(again), again.step) == ("Create", delete.step)


def test_content_that_comes_back_does_not_take_the_job_of_then_for_its_own() -> None:
    observed, there, inventory = before()
    (delete,) = (o for o in plan(work(MIGRATE, NEWER_CONFIG), live=there, inventory=inventory) if o.step)
    held = dict(record_intended(inventory, (delete,)))
    operation = planned(MIGRATE, CONFIG, live=there, inventory=held)["Job"]
    assert (as_seen(operation), step_of_live(observed)) == ("Delete", operation.step)


def step_of_live(observed: LiveObject) -> str:
    """What a Job ran for."""
    return str(observed.body["metadata"]["annotations"][STEP])


def test_while_the_state_is_restored_no_step_runs() -> None:
    _, there, inventory = before()
    gate = ClusterGate("c1", steps_held="it waits for approval")
    assert seen(MIGRATE, NEWER_CONFIG, live=there, inventory=inventory, gate=gate)["Job"] == "RemovalHeld"
    gone = {**there, MIGRATE.key: None}
    assert seen(MIGRATE, NEWER_CONFIG, live=gone, inventory=inventory, gate=gate)["Job"] == "RemovalHeld"


def test_drift_and_equal_content_run_nothing() -> None:
    _, there, inventory = before()
    drifted = {**there, CONFIG.key: live(CONFIG, manager="gitfleet", data={"a": "9"})}
    assert seen(MIGRATE, CONFIG, live=there, inventory=inventory) == {"Job": "Finished", "ConfigMap": "InPlace"}
    assert seen(MIGRATE, CONFIG, live=drifted, inventory=inventory) == {"Job": "Finished", "ConfigMap": "Update"}


def test_a_step_waits_for_what_a_hook_puts_before_it() -> None:
    values = config_map("values")
    values = manifest({**values.body, "metadata": {**values.body["metadata"], "annotations": dict([PRE_SYNC])}})
    service = manifest(builders.service("ns", "web"))
    there: dict[ObjectKey, LiveObject | None] = dict.fromkeys((values.key, MIGRATE.key, service.key))
    assert seen(values, MIGRATE, service, live=there) == {
        "ConfigMap": "Create", "Job": "WaitsForStep", "Service": "WaitsForStep",
    }  # fmt: skip
    observed = live(values, manager="gitfleet")
    inventory = {values.key: owned(values, observed)}
    assert seen(values, MIGRATE, service, live={**there, values.key: observed}, inventory=inventory) == {
        "ConfigMap": "InPlace", "Job": "Create", "Service": "WaitsForStep",
    }  # fmt: skip


def test_drift_does_not_wait_for_a_step() -> None:
    _, there, inventory = before()
    service = manifest(builders.service("ns", "web"))
    there, inventory = {**there, service.key: None}, {**inventory, service.key: owned(service, live(service))}
    operations = seen(MIGRATE, NEWER_CONFIG, service, live=there, inventory=inventory)
    assert operations == {"Job": "Delete", "ConfigMap": "WaitsForStep", "Service": "Create"}


@pytest.mark.parametrize(
    ("config", "job_is"), [(live(CONFIG), "Finished"), (live(NEWER_CONFIG), "Create"), (None, "Create")]
)
def test_without_a_record_a_step_runs_if_an_object_is_missing_or_differs(
    config: LiveObject | None, job_is: str
) -> None:
    there = {MIGRATE.key: None, CONFIG.key: config}
    assert seen(MIGRATE, CONFIG, live=there)["Job"] == job_is
    run, inventory = begun(MIGRATE, CONFIG, live=there)
    assert (inventory[MIGRATE.key].step, inventory[MIGRATE.key].finished) == (run, job_is == "Finished")


@pytest.mark.parametrize(("strategy", "job_is"), [("Always", "Delete"), ("Never", "NotTakenOver")])
def test_a_job_of_somebody_else_is_taken_over_as_the_placement_says(strategy: str, job_is: str) -> None:
    there = {MIGRATE.key: live(MIGRATE), CONFIG.key: None}
    (operation,) = (o for o in plan(work(MIGRATE, CONFIG, when_to_take_over=strategy), live=there, now=NOW) if o.step)
    assert as_seen(operation) == job_is


def test_who_foresees_the_end_takes_for_granted_that_steps_succeed() -> None:
    operations = seen(MIGRATE, job("PostSync", "check"), CONFIG, live={**NOTHING_THERE, job(name="check").key: None},
                      foresees=True)  # fmt: skip
    assert operations == {"Job": "Create", "ConfigMap": "Create"}


def test_an_update_of_what_gitfleet_made_and_lost_is_none_of_fields() -> None:
    run, inventory = begun(MIGRATE, CONFIG, live=NOTHING_THERE)
    update = planned(MIGRATE, CONFIG, live={**NOTHING_THERE, MIGRATE.key: made(run)}, inventory=inventory)["Job"]
    assert isinstance(update, Update)
    assert update.removes == {}


@pytest.mark.parametrize("there", [{}, {MIGRATE.key: None}])
def test_nothing_is_recorded_while_the_other_objects_are_not_known(there: dict[ObjectKey, None]) -> None:
    operations = plan(work(MIGRATE, CONFIG), live=there, now=NOW)
    assert [as_seen(operation) for operation in operations] == ["NotObserved", "NotObserved"]
    assert record_intended({}, operations) == {}
