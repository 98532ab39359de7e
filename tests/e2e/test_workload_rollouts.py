"""The scenarios of seed 004 on a real API server, where real controllers move the pods."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import builders
from tests.adapters.outbound.hook_server import HookServer, hook_server
from tests.e2e.programs import Program, eventually
from tests.e2e.repos import STATE, ConfigRepo, git
from tests.e2e.rollout_watch import RolloutWatch
from tests.realparts.api_server import CONTROLLERS, ApiServer
from tests.realparts.assets import MissingRealPart
from tests.realparts.control_plane import ControlPlanes, PodReadier
from tests.realparts.fixtures import give_up
from tests.realparts.git_http import GitHttpServer
from tests.realparts.metrics_api import metrics_api

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def server(control_planes: ControlPlanes) -> Iterator[ApiServer]:
    """A cluster with the controllers of workloads and their autoscalers, where every pod becomes ready unless its image
    ends in `:bad`."""
    found = control_planes.start("rollouts")
    more = ("horizontal-pod-autoscaler-controller",)
    try:
        found.start_controller_manager((*CONTROLLERS, *more), ("--horizontal-pod-autoscaler-sync-period=1s",))
    except MissingRealPart as missing:
        give_up(missing)
    with PodReadier(found, bad_image="*:bad"):
        yield found


class Fleet:
    """One real cluster, a config repo over HTTP, and gitfleet on both."""

    def __init__(self, server: ApiServer, config: ConfigRepo, program: Program, namespace: str) -> None:
        self.config, self.program, self.namespace = config, program, namespace
        self.watch = RolloutWatch(server, namespace)
        cluster = builders.member_cluster("c1", connection={"context": server.name})
        fleet = builders.fleet_config(interval="1s")
        strategy = builders.rolling_update(unavailablePeriodSeconds=1)  # for autoscalers, whose health nothing tells
        placement = builders.placement("web", namespace, strategy=strategy)
        self.commit(fleet, cluster, builders.namespace(namespace), placement)

    def commit(self, *bodies: dict[str, Any], remove: tuple[dict[str, Any], ...] = ()) -> None:
        """A person commits objects."""
        files: dict[str, str | None] = dict(builders.repo_files_for(*bodies))
        self.config.commit(files | {builders.path_of(one): None for one in remove})

    def start(self, workload: dict[str, Any], **plan: Any) -> None:
        """A workload with all its pods and a rollout that waits for other content; from now on the pods are sampled."""
        self.commit(workload, self.rollout(workload, **plan))
        self.until_there("deployment", _name(workload))
        self.until(rollingState="verifyingSpec")
        self.watch.samples.clear()

    def until(self, **wanted: Any) -> None:
        """Wait until the rollout is so far on the cluster."""
        eventually(lambda: wanted.items() <= self.status().items(), self.why)

    def why(self) -> str:
        """How far it is, for a test that fails."""
        target = self.status().get("target") or {}
        live = self.watch.scale("deployment", target["name"]) if target else {}
        shown = {part: {k: v for k, v in live.get(part, {}).items() if k != "template"} for part in ("spec", "status")}
        return f"{self.status()}\n{shown}"

    def until_there(self, kind: str, name: str) -> None:
        """Wait until a workload has all its pods, before anything is rolled out."""

        def is_there() -> bool:
            found = self.watch.scale(kind, name)
            return bool(found["spec"]) and found["status"].get("readyReplicas") == found["spec"]["replicas"]

        eventually(is_there)

    def status(self) -> dict[str, Any]:
        """How far the rollout is on the cluster, from the state branch; nothing where it is not there."""
        path = f"rollouts/{self.namespace}/web.yaml"
        if path not in git(self.config.hub, "ls-tree", "-r", "--name-only", STATE).splitlines():
            return {}
        clusters: list[dict[str, Any]] = self.config.state(path)["status"].get("clusters") or [{}]
        return clusters[0]

    def deployment(self, name: str, image: str, replicas: int | None = 5) -> dict[str, Any]:
        """A Deployment of this fleet's namespace."""
        return builders.deployment(self.namespace, name, image, replicas)

    def rollout(self, target: dict[str, Any], *sources: dict[str, Any], **plan: Any) -> dict[str, Any]:
        """The RolloutTrait `web`."""
        spec: dict[str, Any] = {"targetRef": _reference(target), "rolloutPlan": plan}
        if sources:
            spec["sourceRef"] = [_reference(one) for one in sources]
        return builders.an_object(
            "standard.oam.dev/v1alpha1", "RolloutTrait", "web", namespace=self.namespace, spec=spec
        )


def _reference(body: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": body["apiVersion"], "kind": body["kind"], "name": _name(body)}


def _name(body: dict[str, Any]) -> str:
    return str(body["metadata"]["name"])


def by_hand(strategy: str) -> dict[str, Any]:
    """A plan for five pods in three batches, of which the first goes out."""
    batches = [{"replicas": 2, "maxUnavailable": 1}, {"replicas": 2, "maxUnavailable": 1}, {"replicas": 1}]
    return {"rolloutStrategy": strategy, "rolloutBatches": batches, "lastBatchToRollout": 0}


@pytest.fixture
def hooks() -> Iterator[HookServer]:
    """A program that is asked between batches, and says yes."""
    with hook_server() as found:
        yield found


@pytest.fixture
def fleet(
    server: ApiServer, git_http: GitHttpServer, hooks: HookServer, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Fleet]:
    """A fleet of its own on the real cluster, on which gitfleet runs."""
    config = ConfigRepo(git_http.create("fleet"), tmp_path / "work")
    kubeconfig = server.write_kubeconfig(tmp_path / "kubeconfig")
    program = Program(repo=git_http.url("fleet"), home=tmp_path / "home", kubeconfig=kubeconfig)
    found = Fleet(server, config, program, f"r-{zlib.crc32(request.node.name.encode()):x}")
    with program.running("--allow-webhooks", hooks.host), found.watch.watching():
        eventually(lambda: STATE in git(config.hub, "branch", "--format=%(refname:short)").split())
        yield found


@pytest.mark.parametrize(
    ("strategy", "most"), [("IncreaseFirst", 8), pytest.param("DecreaseFirst", 5, marks=pytest.mark.soak("real"))]
)
def test_from_source_to_target(fleet: Fleet, strategy: str, most: int) -> None:
    old, new = fleet.deployment("web-1", "web:1"), fleet.deployment("web-2", "web:2")
    fleet.commit(old)
    fleet.until_there("deployment", "web-1")
    batches = [{"replicas": 2, "maxUnavailable": 1}, {"replicas": "60%", "maxUnavailable": 1}]
    fleet.commit(new, fleet.rollout(new, old, rolloutStrategy=strategy, rolloutBatches=batches))
    fleet.until(rollingState="rolloutSucceed")
    source, target = fleet.watch.scale("deployment", "web-1"), fleet.watch.scale("deployment", "web-2")
    assert (source["spec"]["replicas"], target["spec"]["replicas"]) == (0, 5)
    moved = [sample for sample in fleet.watch.samples if dict(sample.images).get("web:2")]
    assert min(sample.ready for sample in moved) >= 4
    assert max(sample.pods for sample in moved) <= most


@pytest.mark.parametrize(
    ("strategy", "most"), [pytest.param("IncreaseFirst", 7, marks=pytest.mark.soak("real")), ("DecreaseFirst", 5)]
)
def test_a_deployment_in_place_by_hand_and_then_to_the_end(fleet: Fleet, strategy: str, most: int) -> None:
    old = fleet.deployment("web", "web:1")
    plan = by_hand(strategy)
    fleet.start(old, **plan)
    fleet.commit(fleet.deployment("web", "web:2"))
    fleet.until(batchRollingState="batchReady", upgradedReadyReplicas=2)
    assert sorted(pod.spec.containers[0].image for pod in fleet.watch.pods()) == ["web:1"] * 3 + ["web:2"] * 2
    fleet.commit(fleet.rollout(old, **{**plan, "lastBatchToRollout": 2}))
    fleet.until(rollingState="rolloutSucceed")
    eventually(lambda: {pod.spec.containers[0].image for pod in fleet.watch.pods()} == {"web:2"})
    spec = fleet.watch.scale("deployment", "web")["spec"]
    assert spec["strategy"]["rollingUpdate"] == {"maxSurge": "25%", "maxUnavailable": "25%"}
    assert (spec.get("minReadySeconds", 0), spec.get("paused", False), spec["replicas"]) == (0, False, 5)
    assert min(sample.ready for sample in fleet.watch.samples) >= 4
    assert max(sample.asked for sample in fleet.watch.samples) <= most


def images_of(fleet: Fleet) -> list[str]:
    return sorted(pod.spec.containers[0].image for pod in fleet.watch.pods())


@pytest.mark.soak("real")
def test_a_deployment_in_place_beside_an_autoscaler_goes_back_when_its_file_goes(fleet: Fleet) -> None:
    old = fleet.deployment("web", "web:1", None)
    old["spec"]["template"]["metadata"]["annotations"] = {"from": "one"}
    spec = {"scaleTargetRef": _reference(old), "minReplicas": 4, "maxReplicas": 9}
    scaler = builders.an_object(
        "autoscaling/v2", "HorizontalPodAutoscaler", "web", namespace=fleet.namespace, spec=spec
    )
    fleet.commit(old, scaler)
    eventually(lambda: fleet.watch.scale("deployment", "web")["spec"].get("replicas") == 4)
    fleet.until_there("deployment", "web")
    plan = {"numBatches": 4, "lastBatchToRollout": 1, "revertOnDelete": True}
    fleet.commit(fleet.rollout(old, **plan))
    fleet.until(rollingState="verifyingSpec")
    fleet.watch.samples.clear()
    fleet.commit(fleet.deployment("web", "web:2", None))
    fleet.until(batchRollingState="batchReady", upgradedReadyReplicas=2)
    assert images_of(fleet) == ["web:1"] * 2 + ["web:2"] * 2
    assert fleet.watch.bounds("web") == (4, 4)
    fleet.commit(remove=(fleet.rollout(old),))
    fleet.until(rollingState="rolloutAbandoned")
    assert images_of(fleet) == ["web:1"] * 4
    eventually(lambda: fleet.watch.bounds("web") == (4, 9))
    template = fleet.watch.scale("deployment", "web")["spec"]["template"]
    assert template["metadata"]["annotations"] == {"from": "one"}
    assert min(sample.ready for sample in fleet.watch.samples) >= 4
    fleet.commit(fleet.deployment("web", "web:3", None))
    eventually(lambda: images_of(fleet) == ["web:3"] * 4)
    assert "annotations" not in fleet.watch.scale("deployment", "web")["spec"]["template"]["metadata"]


def podinfo(namespace: str, image: str = "", **bounds: int) -> list[dict[str, Any]]:
    """The Deployment, the Service and the HorizontalPodAutoscaler of podinfo, with this image and these bounds."""
    deployment, service, scaler = yaml.safe_load_all((Path(__file__).parent / "podinfo.yaml").read_text())
    for one in (deployment, service, scaler):
        one["metadata"]["namespace"] = namespace
    if image:
        deployment["spec"]["template"]["spec"]["containers"][0]["image"] = image
    scaler["spec"].update(bounds)
    return [deployment, service, scaler]


@pytest.mark.soak("real")
def test_podinfo_with_its_autoscaler(fleet: Fleet, server: ApiServer, hooks: HookServer) -> None:
    """A real autoscaler with real metrics wants more pods amid the batches: it is bounded until they are through."""

    def replicas() -> Any:
        return fleet.watch.scale("deployment", "podinfo")["spec"].get("replicas")

    def why() -> str:
        return f"bounds {fleet.watch.bounds('podinfo')}, replicas {replicas()}, {images_of(fleet)}"

    with metrics_api(server) as metrics:
        old = podinfo(fleet.namespace)
        before, after = (f"registry.example.com/podinfo:{number}" for number in (1, 2))
        plan: dict[str, Any] = {
            "rolloutBatches": [{"replicas": "25%"}] * 4,
            "rolloutWebhooks": [{"type": "post-batch-rollout", "name": "smoke-test", "url": hooks.url}],
        }
        fleet.commit(*old, fleet.rollout(old[0], **plan, lastBatchToRollout=0))
        eventually(lambda: replicas() == 2)  # its minReplicas
        metrics.load = 300  # so many millicores are 75 % of what four pods request
        eventually(lambda: replicas() == 4)
        fleet.until_there("deployment", "podinfo")
        fleet.until(rollingState="verifyingSpec")
        fleet.watch.samples.clear()

        fleet.commit(podinfo(fleet.namespace, after)[0])
        for batch in range(3):
            fleet.until(batchRollingState="batchReady", upgradedReadyReplicas=batch + 1, rolloutTargetSize=4)
            assert {json.loads(body)["batch"] for _, _, body in hooks.got} == {*range(batch + 1)}
            assert images_of(fleet) == [before] * (3 - batch) + [after] * (batch + 1)
            metrics.load = 600  # as much for eight pods: from now on it would scale
            eventually(lambda: fleet.watch.why_limited("podinfo") == "TooManyReplicas", why)
            assert (fleet.watch.bounds("podinfo"), replicas()) == ((4, 4), 4)
            assert max(sample.asked for sample in fleet.watch.samples) <= 5
            fleet.commit(fleet.rollout(old[0], **plan, lastBatchToRollout=batch + 1))

        fleet.until(rollingState="rolloutSucceed")
        assert {json.loads(body)["batch"] for _, _, body in hooks.got} == {0, 1, 2, 3}
        eventually(lambda: (fleet.watch.bounds("podinfo"), replicas()) == ((2, 8), 8), why)
        fleet.until_there("deployment", "podinfo")
        assert images_of(fleet) == [after] * 8
        assert min(sample.ready for sample in fleet.watch.samples) >= 4
        spec = fleet.watch.scale("deployment", "podinfo")["spec"]
        assert spec["strategy"] == {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 0}}
        assert (spec["minReadySeconds"], spec.get("paused", False)) == (2, False)
        fleet.commit(podinfo(fleet.namespace, minReplicas=9, maxReplicas=9)[2])
        eventually(lambda: replicas() == 9, why)
