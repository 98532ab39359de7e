"""One failure stays one failure (invariant 9): whatever raises for one placement, override, object or cluster, in any
step of deciding and performing, changes nothing for the others; it is said, saved, tried again, and heals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final, TypeVar

import pytest

from gitfleet.api.objects import JsonObject
from gitfleet.api.placements import PlacementKey
from gitfleet.loop.driver import Driver
from gitfleet.model.failures import Failure
from tests import builders
from tests.scenarios.world import World, end_of

Answer = TypeVar("Answer")
BAD, GOOD = "bad", "good"
CLUSTERS: Final = ("c1", "c2", "c3")


def override(image: str) -> JsonObject:
    """It changes the ConfigMap of the placement `bad`."""
    rule = builders.override_rule({"op": "add", "path": "/data/override", "value": image})
    return builders.override("few", "ConfigMap/settings", rule, namespace=BAD)


def fleet(image: str) -> list[JsonObject]:
    """Two placements on all clusters; `bad` has an envelope, a definition and an override besides."""
    strategy = builders.rolling_update(maxUnavailable="100%", maxSurge=1)
    inner = builders.to_yaml(builders.config_map(BAD, "inner", {"image": image}))
    wrap = {"kubernetes-fleet.io/envelope-configmap": "true"}
    definition = builders.custom_definition("bad.example", "Widget")
    selectors = [builders.select_namespace(BAD), select_definition(definition)]
    return [
        *(
            builders.member_cluster(name, labels={"zone": name, "release": image.replace(":", "-")})
            for name in CLUSTERS
        ),
        *(o for name in (BAD, GOOD) for o in payload(name, image)),
        builders.config_map(BAD, "envelope", {"inner.yaml": inner}, annotations=wrap),
        definition,
        override(image),
        builders.placement(BAD, selectors=selectors, strategy=strategy),
        builders.placement(GOOD, strategy=strategy),
    ]


def payload(name: str, image: str) -> list[JsonObject]:
    """One namespace with a Deployment and a ConfigMap."""
    return [
        builders.namespace(name),
        builders.deployment(name, "web", image=image),
        builders.config_map(name, "settings", {"image": image}),
    ]


def select_definition(definition: JsonObject) -> dict[str, str]:
    """The resource selector of one definition."""
    group, _, version = definition["apiVersion"].partition("/")
    return {"group": group, "version": version, "kind": definition["kind"], "name": definition["metadata"]["name"]}


@dataclass
class Poison:
    """Raises where `hits` says so, as long as it is `armed`."""

    original: Callable[..., Any]
    hits: Callable[..., bool]
    armed: bool = False
    raised: int = 0

    def __call__(self, *args: Any, **named: Any) -> Any:
        if self.armed and self.hits(*args):
            self.raised += 1
            raise ZeroDivisionError("hunter2")
        return self.original(*args, **named)


@dataclass
class Run:
    """A world, and what its driver saved."""

    world: World = field(init=False)
    reports: list[Failure] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.world = World(start_with=self._listen)

    def _listen(self, driver: Driver) -> None:
        driver.failures.save = self.reports.append


def is_placement(*args: Any) -> bool:
    """The first argument is about the placement `bad`."""
    return PlacementKey("", BAD) in (
        args[0],
        getattr(args[0], "key", None),
        getattr(args[0], "placement", None),
        getattr(getattr(args[0], "placement", None), "key", None),
    )


def is_object(*args: Any) -> bool:
    """The first argument is about the ConfigMap `bad/settings`."""
    found = args[0]
    key = getattr(getattr(found, "operation", found), "key", found)
    body = found if isinstance(found, dict) else {}
    named = (getattr(key, "namespace", None), getattr(key, "name", None))
    metadata = body.get("metadata", {})
    return (BAD, "settings") in (named, (metadata.get("namespace"), metadata.get("name")))


def is_event(*args: Any) -> bool:
    """The first argument is an event of the placement `bad`."""
    return bool(args[0].placement == BAD)


def is_cluster(*args: Any) -> bool:
    """The first argument is about the cluster `c1`."""
    found = args[0]
    return "c1" in (getattr(found, "name", None), getattr(found, "cluster", None))


def is_override(*args: Any) -> bool:
    """The first argument is an override, a snapshot of it, or all of them."""
    found: Any = args[0][-1] if isinstance(args[0], tuple) else args[0]
    return bool(getattr(found, "override", found).key.name == "few")


def always(*_: Any) -> bool:
    """What is only ever called for `bad`."""
    return True


def operations_on_c1(*args: Any) -> bool:
    """Operations, in the second argument, on the cluster `c1`."""
    return any(getattr(o, "operation", o).cluster == "c1" for o in args[1])


PLACEMENTS: Final = [
    ("gitfleet.desired.accept", "_placement", is_placement),
    ("gitfleet.reconcile.placements", "decide_placement", is_placement),
    ("gitfleet.reconcile", "settle_placement", is_placement),
    ("gitfleet.rollout", "give_up", is_placement),
    ("gitfleet.schedule", "request_for", is_placement),
    ("gitfleet.snapshots", "take_snapshots", is_placement),
    ("gitfleet.status", "with_conditions", is_placement),
    ("gitfleet.works", "target_contents", is_placement),
    ("gitfleet.observe.fleet", "observe_binding", is_placement),
    ("gitfleet.rollout.leaving", "_bound_clusters", is_placement),
    ("gitfleet.works.fleet", "_works_of", is_placement),
    ("gitfleet.works.fleet", "render_work", is_placement),
    ("gitfleet.works.render", "unwrap", always),
    ("gitfleet.snapshots.override_snapshots", "_with", is_override),
    ("gitfleet.snapshots.index", "is_propagated", is_object),
    ("gitfleet.apply.plan", "operation_for", is_object),
    ("gitfleet.apply.ledgers", "_settle_one", is_object),
    ("gitfleet.observe.results", "availability_of", is_object),
    ("gitfleet.status.events", "_placement_events", is_placement),
    ("gitfleet.status.commit_messages", "sentence", is_event),
    ("gitfleet.rollout", "waiting_for", is_placement),
]
"""Steps that raise for something of the placement `bad`."""
ON_A_CLUSTER: Final = [
    ("gitfleet.observe.fleet", "observe_cluster", is_cluster),
    ("gitfleet.apply.fleet", "plan_apply", is_cluster),
    ("gitfleet.apply.fleet", "record_intended", operations_on_c1),
    ("gitfleet.apply.fleet", "settle_inventory", operations_on_c1),
    ("gitfleet.schedule.fleet", "eligibility_of", is_cluster),
]
"""Steps that raise for the cluster `c1`."""


def play(poison: Poison | None) -> tuple[Run, dict[str, Any]]:
    """A settled fleet, and a change of everything; what came of it at that moment, with the poison in it."""
    run = Run()
    run.world.roll_out(*fleet("app:1"))
    run.world.advance(minutes=1)
    if poison is not None:
        poison.armed = True
    with run.world.nothing_deleted():
        run.world.commit(*fleet("app:2"))
        run.world.rest()
    return run, seen(run.world)


def seen(world: World) -> dict[str, Any]:
    """What the state branch and the clusters say, apart by placement and by cluster."""
    state = world.state()
    end = end_of(world)
    return {
        "placements": state.placements,
        "bindings": {(b.cluster, str(k)): b for k, r in state.placements.items() for b in r.bindings},
        "objects": end["objects"],
        "inventory": end["inventory"],
    }


def of_good(found: dict[str, Any]) -> dict[str, Any]:
    """What concerns the placement `good` alone."""
    return {
        "record": found["placements"][PlacementKey("", GOOD)],
        "objects": {
            cluster: {key: body for key, body in objects.items() if f"/{GOOD}" in key}
            for cluster, objects in found["objects"].items()
        },
    }


def of_other_clusters(found: dict[str, Any]) -> dict[str, Any]:
    """What concerns all clusters but c1."""
    return {
        "bindings": {pair: binding for pair, binding in found["bindings"].items() if pair[0] != "c1"},
        "objects": {cluster: objects for cluster, objects in found["objects"].items() if cluster != "c1"},
    }


def poisoned(monkeypatch: pytest.MonkeyPatch, module: str, name: str, hits: Callable[..., bool]) -> Poison:
    """The step, which raises once the poison is armed."""
    found = import_module(module)
    poison = Poison(getattr(found, name), hits)
    monkeypatch.setattr(found, name, poison)
    return poison


def heals(run: Run, poison: Poison, clean: Run) -> None:
    """Without the poison it ends where it would have ended without it ever."""
    assert poison.raised, "the step was never asked"
    assert run.reports, "the failure was not saved"
    assert not any("hunter2" in failure.report for failure in run.reports)
    commits = run.world.state_commits()
    for _ in range(3):
        commits = run.world.state_commits()
        run.world.advance(seconds=30)
        run.world.rest()
    assert run.world.state_commits() == commits, "a failure that lasts is no news"
    poison.armed = False
    for world in (run.world, clean.world):
        world.advance(seconds=30)
        world.settle()
    assert end_of(run.world) == end_of(clean.world)


def _name(value: object) -> str:
    """A name that is the same in every process: tests are shared out by it."""
    return getattr(value, "__name__", str(value).rpartition(".")[2])


@pytest.mark.table("mutations")
@pytest.mark.parametrize(("module", "name", "hits"), PLACEMENTS, ids=_name)
def test_what_fails_for_one_placement_changes_nothing_for_the_other(
    module: str, name: str, hits: Callable[..., bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    clean, expected = play(None)
    poison = poisoned(monkeypatch, module, name, hits)
    run, found = play(poison)
    assert of_good(found) == of_good(expected)
    heals(run, poison, clean)


@pytest.mark.table("mutations")
@pytest.mark.parametrize(("module", "name", "hits"), ON_A_CLUSTER, ids=_name)
def test_what_fails_for_one_cluster_changes_nothing_on_the_others(
    module: str, name: str, hits: Callable[..., bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    clean, expected = play(None)
    poison = poisoned(monkeypatch, module, name, hits)
    run, found = play(poison)
    assert of_other_clusters(found) == of_other_clusters(expected)
    heals(run, poison, clean)


def test_a_placement_of_which_nobody_can_say_what_it_wants_keeps_all_and_ends_no_removal_beside_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    poison = poisoned(monkeypatch, "gitfleet.reconcile.wanted", "content_of", lambda one: one.name.startswith(BAD))
    run, retired = Run(), [builders.config_map(name, "retired", {"k": "1"}) for name in (GOOD, BAD)]
    run.world.roll_out(*fleet("app:1"), *retired)
    poison.armed = True
    run.world.commit(*fleet("app:1"), remove=retired)
    run.world.rest()
    assert poison.raised and run.reports
    assert not any(run.world.live(name, "ConfigMap", "retired", GOOD) for name in CLUSTERS)
    assert all(run.world.live(name, "ConfigMap", "retired", BAD) for name in CLUSTERS)
    poison.armed = False
    run.world.advance(seconds=30)
    run.world.settle()
    assert not any(run.world.live(name, "ConfigMap", "retired", BAD) for name in CLUSTERS)
