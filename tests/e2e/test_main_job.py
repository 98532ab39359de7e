"""The main job on real parts: a commit arrives on the clusters, and its status in git."""

from __future__ import annotations

import json

import pytest

from tests.e2e.manifests import (
    asks_nobody,
    config_map,
    deployment,
    member,
    namespace_file,
    override,
    placement,
    service,
)
from tests.e2e.members import Members
from tests.e2e.programs import Program, eventually
from tests.e2e.repos import ConfigRepo

pytestmark = pytest.mark.real


def fleet_files(namespace: str) -> dict[str, str | None]:
    """Two clusters, a namespace with one of each kind, an override for the west, and nobody asked for removals."""
    return {
        "gitfleet.yaml": asks_nobody(),
        "clusters/cluster-1.yaml": member("cluster-1", region="west"),
        "clusters/cluster-2.yaml": member("cluster-2", region="east"),
        "placements/web.yaml": placement(namespace),
        "overrides/west.yaml": override(namespace, "settings", "/data/greeting", "Howdy", {"region": "west"}),
        "resources/web/namespace.yaml": namespace_file(namespace),
        "resources/web/settings.yaml": config_map(namespace, greeting="Hello"),
        "resources/web/extra.yaml": config_map(namespace, "extra", k="v"),
        "resources/web/service.yaml": service(namespace),
        "resources/web/deployment.yaml": deployment(namespace, "web:1"),
    }


def test_from_the_first_commit_to_the_removal_of_the_placement(
    config: ConfigRepo, program: Program, members: Members
) -> None:
    namespace = members.namespace("main-job")
    west, east = members.by_name["cluster-1"], members.by_name["cluster-2"]
    both = (west, east)

    # A first reconcile alone: what it decides is pushed before and after the operations, with trailers.
    first = config.commit(fleet_files(namespace), "The fleet")
    once = program.run("--once", "-o", "jsonl")
    events = [json.loads(line) for line in once.output.splitlines()]
    assert {e["cluster"] for e in events if e["type"] == "scheduled"} == {"cluster-1", "cluster-2"}
    phases = [message.split("Gitfleet-Phase: ")[1].splitlines()[0] for message in config.messages()]
    assert phases == ["intent", "report"]
    assert all(f"Gitfleet-Commit: {first}" in message for message in config.messages())

    # Everything arrives, with the override where it belongs, and the status says so.
    program.settle()
    assert west.config_map(namespace) == {"greeting": "Howdy"}
    assert east.config_map(namespace) == {"greeting": "Hello"}
    assert all(m.has_service(namespace) and m.is_available(namespace) for m in both)
    assert not members.by_name["cluster-3"].has_namespace(namespace)
    assert config.condition("web", "ClusterResourcePlacementAvailable")["status"] == "True"
    inventory = config.text("inventory/cluster-1/all.yaml")
    assert all(name in inventory for name in ("settings", "extra", "web", namespace))

    # Nothing changed: no commit.
    head = config.head()
    program.settle()
    assert config.head() == head

    # A removed file prunes exactly that object, a changed one is changed, the others stay as they are.
    kept = {m.name: m.objects(namespace) for m in both}
    config.commit({"resources/web/extra.yaml": None, "resources/web/deployment.yaml": deployment(namespace, "web:2")})
    program.settle()
    for m in both:
        want = {**kept[m.name], "Deployment/web": "web:2"}
        del want["ConfigMap/extra"]
        assert m.objects(namespace) == want
    assert "extra" not in config.text("inventory/cluster-1/all.yaml")

    # A fault takes nothing away, and says where it is; sound changes of the same commit go out.
    kept = {m.name: m.objects(namespace) for m in both}
    config.commit(
        {
            "resources/web/deployment.yaml": "kind: [Deployment\n",
            "placements/web.yaml": placement(namespace).replace('"PickAll"', '"PickSome"'),
            "resources/web/settings.yaml": config_map(namespace, greeting="Hello again"),
        }
    )
    faulty = program.settle()
    assert "resources/web/deployment.yaml" in faulty.talk and "placements/web.yaml" in faulty.talk
    assert "resources/web/deployment.yaml" in config.text("faults.yaml")
    assert east.objects(namespace) == {**kept["cluster-2"], "ConfigMap/settings": {"greeting": "Hello again"}}
    assert west.objects(namespace) == kept["cluster-1"]

    # The placement goes: all that it brought goes, from the clusters and from the state.
    config.commit(
        {"placements/web.yaml": None, "resources/web/deployment.yaml": deployment(namespace, "web:2")},
        "No web any more",
    )
    program.settle()
    eventually(lambda: not any(m.has_namespace(namespace) for m in both))
    left = [path for path in config.paths() if "web" in path or path.startswith("inventory/")]
    assert left == [] or all(namespace not in config.text(path) for path in left), left
    assert "faults.yaml" not in config.paths()
    assert config.parents()[1:] == [1] * (len(config.parents()) - 1)
