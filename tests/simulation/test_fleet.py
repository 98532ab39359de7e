"""Fleets: clusters on demand, described by their files, kept between runs."""

from __future__ import annotations

import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest

from gitfleet.api.conditions import Status
from gitfleet.api.objects import key_of
from gitfleet.api.scenarios import ClusterRule
from gitfleet.errors import BadInput
from gitfleet.ports.clusters import ClusterDirectory
from gitfleet.simulation.clock import ManualClock
from gitfleet.simulation.cluster import SimulatedCluster
from gitfleet.simulation.fleet import SimulatedFleet
from gitfleet.wiring.hub import simulated_clusters
from tests import builders as make
from tests.simulation.cluster_contract import ClusterBench
from tests.simulation.test_simulated_cluster import bench_on


def bench_of(fleet: SimulatedFleet, name: str, clock: ManualClock) -> ClusterBench:
    return bench_on(fleet.cluster(name), clock)


def test_the_directory_tells_clusters_what_their_files_say() -> None:
    clock = ManualClock()
    fleet = SimulatedFleet(clock, rules=[ClusterRule(match_labels={"env": "prod"}, available=timedelta(seconds=30))])
    directory: ClusterDirectory = simulated_clusters(fleet, clock)
    properties = {"kubernetes-fleet.io/node-count": "3", "k8s.io/k8s-version": "v1.30.0"}
    member = make.member_of(make.member_cluster("c1", labels={"env": "prod"}, properties=properties))
    answer = directory.reader(member).observe([])
    assert {name: value.value for name, value in answer.properties.items()} == properties
    assert {value.observed for value in answer.properties.values()} == {clock.now()}
    assert answer.resource_usage is None

    bench = bench_of(fleet, "c1", clock)
    live = bench.have(make.namespace("app"), make.daemon_set("app", "agent"))[1]
    assert live.body["status"]["desiredNumberScheduled"] == 3
    assert fleet.next_change() == clock.now() + timedelta(seconds=30)
    assert list(fleet.clusters) == ["c1"]


def test_a_cluster_that_says_nothing_of_itself() -> None:
    clock = ManualClock()
    directory = simulated_clusters(SimulatedFleet(clock), clock)
    answer = directory.reader(make.member_of(make.member_cluster("c1"))).observe([])
    assert list(answer.properties) == ["k8s.io/k8s-version"]
    assert {reported.type: reported.status for reported in answer.reported} == {
        "ClusterPropertyProviderStarted": Status.TRUE,
        "ClusterPropertyCollectionSucceeded": Status.TRUE,
    }


def test_a_simulation_never_imports_the_official_client() -> None:
    program = """
import sys
from gitfleet.wiring import hub
from gitfleet.api.clusters import MemberCluster
from gitfleet.simulation.clock import ManualClock
from gitfleet.simulation.fleet import SimulatedFleet
clock = ManualClock()
seen = hub.simulated_clusters(SimulatedFleet(clock), clock).reader(MemberCluster(name="c1")).observe([])
assert seen.reachable and seen.properties, seen
assert not {"kubernetes", "urllib3"} & set(sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def filled(clock: ManualClock) -> SimulatedFleet:
    fleet = SimulatedFleet(clock)
    for name in ("c1", "c2"):
        bench = bench_of(fleet, name, clock)
        definition = make.custom_definition("example.com", "Widget")
        bench.have(make.namespace("app"), definition, make.config_map("app", "cm"), make.deployment("app", "old"))
        clock.advance(10)
        bench.have(make.deployment("app", "web"), make.an_object("example.com/v1", "Widget", "w", namespace="app"))
    fleet.cluster("c2").reachable = False
    return fleet


def state_of(cluster: SimulatedCluster) -> tuple[object, ...]:
    return (cluster.reachable, cluster.objects(), cluster.unavailable(), cluster.next_change())


def test_a_saved_fleet_goes_on_where_it_was(tmp_path: Path) -> None:
    clock = ManualClock()
    fleet = filled(clock)
    fleet.save(tmp_path / "clusters")
    clock.advance(3)
    loaded = SimulatedFleet.load(tmp_path / "clusters", clock)
    for _ in range(2):
        assert {name: state_of(c) for name, c in loaded.clusters.items()} == {
            name: state_of(c) for name, c in fleet.clusters.items()
        }
        clock.advance(60)
    bench, original = bench_of(loaded, "c1", clock), bench_of(fleet, "c1", clock)
    widget = make.an_object("example.com/v1", "Widget", "x", namespace="app", spec={})
    assert [live.body for live in bench.have(widget)] == [live.body for live in original.have(widget)]


def test_saving_writes_only_what_changed(tmp_path: Path) -> None:
    clock = ManualClock()
    fleet = filled(clock)
    clock.advance(60)
    fleet.save(tmp_path)
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    fleet.save(tmp_path)
    fleet.cluster("c1").delete_by_hand(key_of(make.config_map("app", "cm")))
    time.sleep(0.01)
    fleet.save(tmp_path)
    after = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert set(before) == set(after) == {"c1.json", "c2.json"}
    assert (before["c1.json"] != after["c1.json"], before["c2.json"] != after["c2.json"]) == (True, False)


def test_no_folder_is_an_empty_fleet(tmp_path: Path) -> None:
    assert not SimulatedFleet.load(tmp_path / "none", ManualClock()).clusters


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 99}', '{"format": 1, "cluster": "c1", "objects": [1]}'])
def test_a_damaged_file_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "c1.json").write_text(text)
    with pytest.raises(BadInput, match=r"c1\.json does not hold a simulated cluster") as caught:
        SimulatedFleet.load(tmp_path, ManualClock())
    assert caught.value.hint


def test_a_name_never_leaves_the_folder(tmp_path: Path) -> None:
    fleet = SimulatedFleet(ManualClock())
    fleet.cluster("../../evil")
    fleet.save(tmp_path / "a" / "b")
    assert [path.name for path in (tmp_path / "a" / "b").iterdir()] == ["..%2F..%2Fevil.json"]
