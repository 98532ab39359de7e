"""The life of a small fleet, told as it goes: `python -m tests.texts` writes life.txt again; read the diff.

Every kind of decision that a reconcile composes is in it once. The whole telling is compared, so that a step that comes
earlier, later or otherwise is seen, whatever it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gitfleet.api.conditions import Conditions
from gitfleet.api.placements import PlacementKey
from gitfleet.model.events import Event, EventType
from tests import builders
from tests.scenarios.test_planned_steps import plan_of
from tests.scenarios.world import World

TOLD = Path(__file__).parent / "life.txt"
WEB, API = "web", "api"
_COMMITS = (EventType.COMMIT, EventType.COMMIT_READ)
ROLLING = builders.rolling_update(maxUnavailable=1, maxSurge=0)
RUN = builders.staged_strategy(
    "two",
    builders.stage("first", match_labels={"ring": "0"}, approval=True),
    builders.stage("rest", match_labels={"ring": "1"}),
)
ADD_LABEL = {"op": "add", "path": "/metadata/labels", "value": {"tier": "front"}}


def labelled(*operations: dict[str, Any]) -> dict[str, Any]:
    """An override of the placement web's Namespace on every cluster."""
    rule = {"clusterSelector": {"clusterSelectorTerms": []}, "jsonPatchOverrides": list(operations)}
    selector = {"group": "", "version": "v1", "kind": "Namespace", "name": WEB}
    spec = {"clusterResourceSelectors": [selector], "policy": {"overrideRules": [rule]}}
    return builders.an_object("placement.kubernetes-fleet.io/v1", "ClusterResourceOverride", "front", spec=spec)


def in_namespace(name: str) -> dict[str, Any]:
    """A ResourcePlacement of a ConfigMap of the namespace web."""
    spec = {"resourceSelectors": [{"group": "", "version": "v1", "kind": "ConfigMap", "name": name}]}
    return builders.an_object(builders.PLACEMENT_API, "ResourcePlacement", name, namespace=WEB, spec=spec)


class Telling:
    """A world, and what there is to tell of it."""

    def __init__(self) -> None:
        self.world = World()
        self._seen = 0
        self._stood: list[str] = []

    def step(self, title: str, *, passes: int = 40) -> Iterator[str]:
        """Reconcile until the fleet rests and time has nothing to add, or so often; then what stands that did not."""
        yield f"# {title}"
        for _ in range(passes):
            result = self.world.driver.reconcile()
            told = self.world.events
            yield from (_short(event) for event in told[self._seen :] if event.type not in _COMMITS)
            self._seen = len(told)
            if result.changed:
                continue
            yield f"rests, to wake at {result.wake_at:%H:%M:%S}" if result.wake_at else "rests"
            nexts = [m for m in (result.wake_at, self.world.fleet.next_change()) if m and m > self.world.clock.now()]
            if not nexts:
                break
            self.world.move_to(min(nexts))
        standing = list(self._standing())
        yield from (line for line in standing if line not in self._stood)
        self._stood = standing

    def plan(self) -> Iterator[str]:
        """What is planned of the commit: what is done now, and later."""
        for one in plan_of(self.world)["placements"]:
            for part in ("now", "later"):
                for row in one.get(part, ()):
                    yield f"plan: {one['name']} {part} {row['clusterName']} {row['action']} {row['object']['kind']}"

    def _standing(self) -> Iterator[str]:
        state = self.world.state()
        for key, record in state.placements.items():
            yield from _said(str(key), record.conditions)
            for binding in record.bindings:
                has = f"{binding.resource_snapshot} {binding.applied_snapshot}"
                yield f"{key} on {binding.cluster}: {binding.state} {has}"
        for run in state.runs.values():
            yield from _said(f"run {run.key}", run.status.conditions)
        for name, one in state.evictions.items():
            yield from _said(f"eviction {name}", one.conditions)
        yield from (f"asks: {key}" for key in state.approvals)
        yield from (f"holds: {name}: {len(hold.removals)}" for name, hold in state.holds.items())
        yield from (f"{fault.object} {fault.field}: {fault.message}" for fault in state.faults)
        owned = {name: sorted(map(str, found)) for name, found in state.inventory.items()}
        yield from (f"{name} has {', '.join(keys)}" for name, keys in owned.items())


def _short(event: Event) -> str:
    fields = {
        name: value for name, value in event.fields.items() if name not in ("commit", "line", "path", "code", "cause")
    }
    if isinstance(of := fields.get("object"), dict):
        fields["object"] = f"{of['kind']}/{of['name']}"
    return " ".join(filter(None, (event.type, event.placement, event.cluster, *map(str, fields.values()))))


def _said(what: str, conditions: Conditions) -> Iterator[str]:
    yield from (f"{what}: {c.type} {c.status} {c.reason}: {c.message}" for c in conditions)


def tell() -> Iterator[str]:
    """The whole life, line by line."""
    life = Telling()
    world = life.world
    members = {
        name: builders.member_cluster(name, labels={"ring": ring})
        for name, ring in (("c1", "0"), ("c2", "1"), ("c3", "1"))
    }
    world.commit(
        builders.fleet_config(removals={"maxPercent": 100}),
        *members.values(),
        builders.namespace(WEB), builders.config_map(WEB, "settings"), builders.deployment(WEB, WEB, image="web:1"),
        builders.placement(WEB, strategy=ROLLING), labelled(ADD_LABEL), in_namespace("settings"),
    )  # fmt: skip
    yield from life.plan()
    yield from life.step("a fleet begins")
    world.commit(builders.deployment(WEB, WEB, image="web:2"), labelled({**ADD_LABEL, "value": {"tier": "back"}}))
    yield from life.plan()
    yield from life.step("a change goes out, and an override with it", passes=3)
    world.commit(
        builders.namespace(API), builders.deployment(API, API), builders.placement(API, strategy={"type": "External"}),
        RUN, builders.staged_run("go", placement=API, strategy="two"),
    )  # fmt: skip
    yield from life.step("a run begins and asks")
    yield from life.plan()
    world.commit(builders.approval("go", "first"))
    yield from life.step("a person approves")
    record = world.state().placements[PlacementKey("", WEB)]
    digest, *_ = [snapshot.hash for snapshot in record.resource_snapshots]
    world.commit(
        builders.pin(WEB, 0, digest), builders.eviction("out", WEB, "c3"), builders.eviction("none", "no", "c3")
    )
    yield from life.step("a placement is kept at an older snapshot, and evicted")
    world.commit(builders.quarantine("bad", WEB, digest), builders.staged_run("again", placement=API, strategy="two"))
    world.commit(remove=[builders.pin(WEB, 0, digest), members["c2"]])
    yield from life.step("a cluster leaves, the pin goes")
    world.write({"placements/api.yaml": "kind: [\n"})
    yield from life.step("a file cannot be read")
    gone = (
        builders.placement(WEB),
        builders.namespace(WEB),
        builders.config_map(WEB, "settings"),
        builders.deployment(WEB, WEB),
    )
    world.commit(builders.placement(API, strategy={"type": "External"}), remove=gone)
    yield from life.step("what a placement had goes, but for what is held")


def write() -> None:
    TOLD.write_text("".join(f"{line}\n" for line in tell()))
