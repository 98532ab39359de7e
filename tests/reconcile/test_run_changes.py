"""The change that a run rolls out: from which commit to which, and which files."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.conditions import Status
from gitfleet.api.objects import ObjectKey, Origin
from gitfleet.api.runs import ClusterUpdate, RunRecord, RunStatus, StageStatus
from gitfleet.api.snapshots import DocumentRef, ResourceSnapshot
from gitfleet.api.values import NamespacedName
from gitfleet.model.approvals import Change
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.reconcile.run_changes import changes_of
from tests.reconcile.test_runs import WEB, asked, commit, known
from tests.rollout.builders import bound, condition
from tests.rollout.run_trials import record, stage
from tests.works.builders import NAMESPACE, override

KEY = ObjectKey("", "v1", "ConfigMap", "web", "a")


def taken(index: int, *paths: str) -> ResourceSnapshot:
    """A snapshot of the commit `c<index>`; a path that ends with * is of a rendered document."""
    found = tuple(DocumentRef(p.rstrip("*"), "" if p.endswith("*") else "b10b", 0, KEY) for p in paths)
    return replace(record().resource_snapshots[0], index=index, commit=f"c{index}", documents=found)


def has(*clusters: str | None) -> PlacementRecord:
    """A placement with four snapshots, and clusters that have these."""
    every = tuple(taken(index, f"resources/{index}.yaml") for index in range(4))
    bindings = tuple(replace(bound(f"c{n}"), resource_snapshot=name) for n, name in enumerate(clusters))
    return replace(record(*bindings), resource_snapshots=every)


def named(*indexes: int) -> list[str]:
    """The snapshots' names."""
    return [f"web-{index}-snapshot" for index in indexes]


def ended(status: str, index: int, name: str = "old", **more: Any) -> RunRecord:
    """Another run of the placement, that is over or not."""
    done = condition("Succeeded", Status(status), "Ended")
    run = known(name, **more)
    return replace(run, status=RunStatus(conditions=(done,), resource_snapshot_index_used=str(index)))


def changes(run: RunRecord, of: PlacementRecord | None, wanted: Desired, *others: RunRecord) -> tuple[Change, ...]:
    """What the run changes."""
    placements = {WEB: of} if of is not None else {}
    return changes_of(run, FleetState(placements=placements, runs={one.key: one for one in others}), wanted)


@pytest.mark.parametrize(
    ("of", "index", "others", "after", "files"),
    [
        (has(*named(1, 2)), "3", [], "c1", (1, 2, 3)),
        (has(*named(3)), "3", [], "", (0, 1, 2, 3)),
        (has(*named(2, 3)), "3", [], "c2", (2, 3)),
        (has(*named(0, 1, 2, 3)), "3", [], "c0", (0, 1, 2, 3)),
        (has(*named(3)), "3", [ended("True", 3)], "c3", (3,)),
        (has(None), "3", [], "", (0, 1, 2, 3)),
        (has(*named(1, 9)), "3", [], "", (0, 1, 2, 3)),
        (has(None), "3", [ended("True", 1), ended("True", 2, "b")], "c2", (2, 3)),
        (has(None), "1", [ended("True", 2), ended("True", 0, "b")], "c0", (0, 1)),
        (has(None), "3", [ended("False", 1)], "", (0, 1, 2, 3)),
        (has(None), "3", [replace(ended("True", 1), placement_name="shop")], "", (0, 1, 2, 3)),
        (has(None), "3", [known("old", resource_snapshot_index="1")], "", (0, 1, 2, 3)),
        (has(*named(0)), "3", [ended("True", 2)], "c0", (0, 1, 2, 3)),
        (has(), None, [], "", (0, 1, 2, 3)),
    ],
)
def test_a_change_begins_at_what_clusters_had(
    of: PlacementRecord, index: str | None, others: list[RunRecord], after: str, files: tuple[int, ...]
) -> None:
    run = known("a", resource_snapshot_index=index)
    resources, own = changes(run, of, Desired(commit="d"), *others)
    paths = tuple(f"resources/{number}.yaml" for number in files)
    assert resources == Change(commit=f"c{index or 3}", after=after, paths=paths)
    assert own == Change(after=after, paths=())


def test_the_own_files_of_a_run() -> None:
    """Its strategy is part of the change only where an earlier state is known."""
    run = asked("a", origin=Origin("runs/a.yaml", 1))
    placed = replace(has(*named(1)).placement, origin=Origin("placements/web.yaml", 1))
    base = commit(run).objects
    wanted = Desired(commit="d", objects={**base, "placements": {WEB: placed}})
    assert changes(known("a"), has(*named(1)), wanted)[1].paths == ("placements/web.yaml", "runs/a.yaml")
    plan = replace(
        next(iter(commit(strategies=(stage("all"),)).strategies.values())), origin=Origin("strategies/all.yaml", 1)
    )
    wanted = replace(wanted, objects={**wanted.objects, "strategies": {NamespacedName("", "all"): plan}})
    every = ("placements/web.yaml", "runs/a.yaml", "strategies/all.yaml")
    assert changes(known("a"), has(*named(1)), wanted)[1].paths == every
    assert changes(known("a"), has(None), wanted)[1].paths == ("placements/web.yaml", "runs/a.yaml")


def test_the_overrides_that_a_run_pinned_are_its_own_files() -> None:
    """Of any of their snapshots, in either scope; another override is not."""
    every = {
        name: override(name, NAMESPACE, ns=ns, origin=Origin(f"overrides/{name}.yaml", 1))
        for name, ns in (("wide", ""), ("narrow", "web"), ("other", ""))
    }
    wanted = Desired(commit="d", objects={"overrides": {one.override.key: one.override for one in every.values()}})
    known_ones = {one.override.key: (one, replace(one, index=1)) for one in every.values()}
    before = FleetState(placements={WEB: has(*named(1))}, overrides=known_ones)
    pinned = (
        ClusterUpdate(cluster="c0", cluster_resource_overrides=("wide-1",)),
        ClusterUpdate(cluster="c1", resource_overrides=("web/narrow-0",)),
    )
    run = replace(known("a"), status=RunStatus(stages=(StageStatus(name="all", clusters=pinned),)))
    assert changes_of(run, before, wanted)[1].paths == ("overrides/narrow.yaml", "overrides/wide.yaml")


@pytest.mark.parametrize(
    ("documents", "paths"),
    [
        (["b.yaml", "a.yaml", "b.yaml"], ("a.yaml", "b.yaml")),
        (["k/out.yaml*"], ("base/x.yaml", "k/kustomization.yaml")),
        (["k/web/out.yaml*"], ("k/web/kustomization.yaml",)),
        (["other/out.yaml*", "a.yaml"], ()),
        (["d/e/\\303\\244.yaml", "a.yaml"], ("a.yaml", "d/e")),
        (["d\\303/e\\244.yaml"], ()),
        ([f"d/{n}.yaml" for n in range(200)], tuple(sorted(f"d/{n}.yaml" for n in range(200)))),
        ([f"d/e{n}/f/x.yaml" for n in range(201)], ("d",)),
        ([f"d{n}/x.yaml" for n in range(201)], ()),
    ],
)
def test_the_files_as_git_is_asked_for_them(documents: list[str], paths: tuple[str, ...]) -> None:
    wanted = Desired(
        commit="d", sources={"k": ("k/kustomization.yaml", "base/x.yaml"), "k/web": ("k/web/kustomization.yaml",)}
    )
    of = replace(has(None), resource_snapshots=(taken(0, *documents),))
    assert changes(known("a"), of, wanted)[0].paths == paths
