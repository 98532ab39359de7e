"""Worlds with staged update runs: their records, and what they say of themselves in short."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from gitfleet.api.runs import RunRecord, StageStatus
from gitfleet.api.scenarios import ClusterRule, ObjectPattern
from gitfleet.api.values import NamespacedName
from tests import builders
from tests.scenarios.world import World

ROLLING = builders.rolling_update(maxUnavailable=1)
EXTERNAL = {"type": "External"}
QUICK = ClusterRule(available=timedelta(seconds=10))
STARTED = ["Initialized=True UpdateRunInitializedSuccessfully", "Progressing=True UpdateRunStarted"]
SUCCEEDED = [*STARTED, "Succeeded=True UpdateRunSucceeded"]
FAILED = [STARTED[0], "Progressing=False UpdateRunFailed", "Succeeded=False UpdateRunFailed"]


def staged(world: World, *clusters: dict[str, Any], policy: dict[str, Any] | None = None) -> World:
    """The world with clusters and one External placement `web`, with snapshot 0."""
    world.roll_out(
        builders.fleet_config(removals={"approval": "Never"}),
        *clusters,
        builders.namespace("web"),
        builders.deployment("web", "web"),
        builders.placement("web", strategy=EXTERNAL, policy=policy),
    )
    return world


def placing(name: str, *namespaces: str, strategy: dict[str, Any] = ROLLING, **parts: Any) -> dict[str, Any]:
    """A placement of whole namespaces, one cluster at a time."""
    selectors = [builders.select_namespace(one) for one in namespaces]
    return builders.placement(name, selectors=selectors, strategy=strategy, **parts)


def members(*names: str, **labels: str) -> list[dict[str, Any]]:
    """Clusters with the same labels."""
    return [builders.member_cluster(name, labels=labels) for name in names]


def run_named(world: World, name: str) -> RunRecord:
    """A run as the state branch has it."""
    return world.state().runs[NamespacedName("", name)]


def said(world: World, name: str) -> list[str]:
    """A run's conditions in short: `Initialized=True UpdateRunInitializedSuccessfully`."""
    return [f"{c.type}={c.status} {c.reason}" for c in run_named(world, name).status.conditions]


def message(world: World, name: str, type_: str) -> str:
    """The message of one of a run's conditions."""
    return next(c.message for c in run_named(world, name).status.conditions if c.type == type_)


def stage_of(world: World, name: str, stage: str) -> StageStatus:
    """One stage of a run."""
    return next(one for one in run_named(world, name).status.stages if one.name == stage)


def clusters_of(world: World, name: str, stage: str) -> dict[str, str]:
    """The last reason of each cluster of a stage, "" for one that has not started, in the stage's order."""
    found = stage_of(world, name, stage).clusters
    return {c.cluster: c.conditions[-1].reason if c.conditions else "" for c in found}


def rolled_out(world: World) -> dict[str, str | None]:
    """The image that each cluster has."""
    return {name: world.image(name) for name in sorted(world.fleet.clusters)}


def one_stage(**fields: Any) -> dict[str, Any]:
    """A strategy `all` with one stage of every cluster."""
    return builders.staged_strategy("all", builders.stage("all", **fields))


def run(name: str = "go", index: int | None = None, state: str | None = None) -> dict[str, Any]:
    """A run of `web` through the strategy `all`."""
    body = builders.staged_run(name, placement="web", strategy="all", index=index)
    return body if state is None else {**body, "spec": {**body["spec"], "state": state}}


def never(image: str) -> ClusterRule:
    """An image that never gets ready."""
    return ClusterRule(object=ObjectPattern(image=image), available="never")
