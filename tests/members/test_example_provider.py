"""The provider of examples/property-provider, installed as a package and run on real API servers."""

from __future__ import annotations

import importlib
import sys
import tomllib
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from kubernetes.client import ApiClient, CoreV1Api

from gitfleet.adapters.kube import KubeDirectory, chosen_providers
from gitfleet.adapters.kube.wire import Timeouts
from gitfleet.api.clusters import Connection, MemberCluster
from gitfleet.api.fleet import ListedProvider
from gitfleet.settings import ConnectionRules
from gitfleet.simulation.clock import ManualClock
from gitfleet.wiring.hub import property_providers
from tests import builders
from tests.members.plays import EXAMPLES, place_role
from tests.members.real_fleet import RealFleet
from tests.members.test_seed_pages import pick, preferred
from tests.realparts.api_server import ApiServer
from tests.scenarios.world import World

PACKAGE = EXAMPLES / "property-provider"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The example as `pip install -e` leaves it: its sources on the path, its metadata beside them."""
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    metadata = tmp_path / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    lines: list[str] = []
    for group, entries in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in entries.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.syspath_prepend(str(PACKAGE / "src"))
    importlib.invalidate_caches()
    yield
    sys.modules.pop("gitfleet_cost", None)


def write_prices(client: ApiClient, namespace: str, prices: dict[str, str]) -> None:
    body: Any = {"metadata": {"name": "prices", "namespace": namespace}, "data": prices}
    core = CoreV1Api(client)
    names = [one.metadata.name for one in core.list_namespaced_config_map(namespace).items if one.metadata]
    if "prices" in names:
        core.replace_namespaced_config_map("prices", namespace, body)
    else:
        core.create_namespaced_config_map(namespace, body)


def member(server: ApiServer) -> MemberCluster:
    return MemberCluster(name=server.name, connection=Connection(context=server.name))


@pytest.mark.usefixtures("installed")
def test_the_example_tells_prices_and_what_is_wrong_with_them(one_cluster: ApiServer, tmp_path: Path) -> None:
    server = one_cluster
    namespace = server.make_namespace("platform")
    listed = [ListedProvider(name="cost", args={"namespace": namespace})]
    clock = ManualClock()
    providers = property_providers()
    assert set(providers) >= {"core", "cost"}
    directory = KubeDirectory(
        ConnectionRules(kubeconfig=server.write_kubeconfig(tmp_path / "kubeconfig")),
        timeouts=Timeouts(connect_seconds=2, read_seconds=5, tries=2, first_pause_seconds=0.05),
        providers=lambda: chosen_providers(listed, providers),
        clock=clock,
    )

    def observe() -> tuple[dict[str, str], dict[str, tuple[str, str]]]:
        answer = directory.client(member(server)).observe([])
        assert answer.reachable, answer.error
        costs = {n.removeprefix("cost.example.com/"): v.value for n, v in answer.properties.items() if "cost" in n}
        return costs, {reported.type: (str(reported.status), reported.reason) for reported in answer.reported}

    def later() -> None:
        clock.advance(timedelta(seconds=60).total_seconds())

    costs, reported = observe()
    assert costs == {}
    assert reported["PricesKnown"] == ("False", "NoPriceList")
    assert reported["ClusterPropertyCollectionSucceeded"] == ("True", "PropertiesCollected")
    with server.client() as client:
        write_prices(client, namespace, {"per-cpu-hour": "0.031", "per-gb-hour": "0.0042"})
        assert observe()[0] == {}  # not asked again before a heartbeat period is over
        later()
        assert observe()[0] == {"per-cpu-hour": "0.031", "per-gb-hour": "0.0042"}
        write_prices(client, namespace, {"per-cpu-hour": "cheap", "per-gb-hour": "1"})
        later()
        costs, reported = observe()
    assert costs == {"per-gb-hour": "1"}
    assert reported["ClusterPropertyCollectionSucceeded"] == ("False", "FailedToCollect")
    assert reported["PricesKnown"] == ("True", "PriceListRead")
    directory.close()


@pytest.mark.usefixtures("installed")
def test_a_placement_goes_where_it_is_cheapest(two_clusters: tuple[ApiServer, ApiServer], tmp_path: Path) -> None:
    """From the ConfigMap on a real cluster to the binding: gitfleet.yaml lists it, a placement sorts by it."""
    namespace = f"platform-{uuid4().hex[:8]}"
    world = World()
    servers = {server.name: server for server in two_clusters}
    for name, price in (("east", "0.02"), ("west", "0.05")):
        with servers[name].client() as client:
            body: Any = {"metadata": {"name": namespace}}
            CoreV1Api(client).create_namespace(body)
            write_prices(client, namespace, {"per-cpu-hour": price, "per-gb-hour": "0"})
    sorter = {"name": "cost.example.com/per-cpu-hour", "sortOrder": "Ascending"}
    policy = pick(1, affinity=preferred((100, {"propertySorter": sorter})))
    with RealFleet(world, two_clusters, tmp_path):
        world.commit(
            builders.fleet_config(propertyProviders=[{"name": "cost", "args": {"namespace": namespace}}]),
            *(builders.member_cluster(name, connection={"context": name}) for name in servers),
            *place_role(f"batch-{namespace}", policy=policy),
        )
        world.rest()
        assert set(world.bindings(f"batch-{namespace}")) == {"east"}
        status = world.state().clusters["west"].status
        assert status.properties["cost.example.com/per-cpu-hour"].value == "0.05"
        assert status.properties["kubernetes-fleet.io/node-count"].value == "0"
        commits = world.state_commits()
        world.advance(seconds=3600)
        world.rest()
        assert world.state_commits() == commits  # nothing changed, and nothing is written
