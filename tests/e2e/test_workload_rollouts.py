"""The scenarios of seed 004 on a real API server, where real controllers move the pods."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests import builders
from tests.e2e.programs import Program, eventually
from tests.e2e.repos import STATE, ConfigRepo, git
from tests.e2e.rollout_watch import RolloutWatch
from tests.realparts.api_server import CONTROLLERS, ApiServer
from tests.realparts.assets import MissingRealPart
from tests.realparts.control_plane import ControlPlanes, PodReadier
from tests.realparts.fixtures import give_up
from tests.realparts.git_http import GitHttpServer

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def server(control_planes: ControlPlanes) -> Iterator[ApiServer]:
    """A cluster with the controllers of workloads, where every pod becomes ready unless its image ends in `:bad`."""
    found = control_planes.start("rollouts")
    try:
        found.start_controller_manager((*CONTROLLERS, "statefulset-controller", "daemonset-controller"))
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
        self.commit(fleet, cluster, builders.namespace(namespace), builders.placement("web", namespace))

    def commit(self, *bodies: dict[str, Any], remove: tuple[dict[str, Any], ...] = ()) -> None:
        """A person commits objects."""
        files: dict[str, str | None] = dict(builders.repo_files_for(*bodies))
        self.config.commit(files | {builders.path_of(one): None for one in remove})

    def start(self, workload: dict[str, Any], **plan: Any) -> None:
        """A workload with all its pods and a rollout that waits for other content; from now on the pods are sampled."""
        self.commit(workload, self.rollout(workload, **plan))
        self.until_there("deployment" if workload["kind"] == "Deployment" else "stateful_set", _name(workload))
        self.until(rollingState="verifyingSpec")
        self.watch.samples.clear()

    def until(self, **wanted: Any) -> None:
        """Wait until the rollout is so far on the cluster."""
        eventually(lambda: wanted.items() <= self.status().items(), self.why)

    def why(self) -> str:
        """How far it is, for a test that fails."""
        target = self.status().get("target") or {}
        kind = {"Deployment": "deployment", "StatefulSet": "stateful_set"}.get(target.get("kind", ""), "")
        live = self.watch.scale(kind, target["name"]) if kind else {}
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

    def stateful_set(self, image: str, replicas: int = 4) -> dict[str, Any]:
        """The StatefulSet `db`."""
        return builders.stateful_set(self.namespace, "db", image, replicas)

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


def _reference_of(fleet: Fleet, body: dict[str, Any]) -> dict[str, Any]:
    """A Deployment as statuses name it."""
    group, _, version = str(body["apiVersion"]).partition("/")
    return {
        "group": group, "version": version, "kind": body["kind"], "namespace": fleet.namespace, "name": _name(body),
    }  # fmt: skip


def _name(body: dict[str, Any]) -> str:
    return str(body["metadata"]["name"])


def by_hand(strategy: str) -> dict[str, Any]:
    """A plan for five pods in three batches, of which the first goes out."""
    batches = [{"replicas": 2, "maxUnavailable": 1}, {"replicas": 2, "maxUnavailable": 1}, {"replicas": 1}]
    return {"rolloutStrategy": strategy, "rolloutBatches": batches, "lastBatchToRollout": 0}


@pytest.fixture
def fleet(
    server: ApiServer, git_http: GitHttpServer, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Fleet]:
    """A fleet of its own on the real cluster, on which gitfleet runs."""
    config = ConfigRepo(git_http.create("fleet"), tmp_path / "work")
    kubeconfig = server.write_kubeconfig(tmp_path / "kubeconfig")
    program = Program(repo=git_http.url("fleet"), home=tmp_path / "home", kubeconfig=kubeconfig)
    found = Fleet(server, config, program, f"r-{zlib.crc32(request.node.name.encode()):x}")
    with program.running(), found.watch.watching():
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


@pytest.mark.soak("real")
def test_other_content_and_more_pods_in_one_commit(fleet: Fleet) -> None:
    old = fleet.deployment("web", "web:1", 1)
    batches = [{"replicas": 1}, {"replicas": 1}, {"replicas": 2}]
    fleet.start(old, rolloutBatches=batches, lastBatchToRollout=0)
    fleet.commit(fleet.deployment("web", "web:2", 4))
    for batch, new in enumerate((1, 2)):
        fleet.until(batchRollingState="batchReady", upgradedReadyReplicas=new, rolloutTargetSize=4)
        eventually(partial(has_images, fleet, *["web:1"] * (4 - new), *["web:2"] * new))
        assert max(dict(sample.images).get("web:2", 0) for sample in fleet.watch.samples) == new
        fleet.commit(fleet.rollout(old, rolloutBatches=batches, lastBatchToRollout=batch + 1))
    fleet.until(rollingState="rolloutSucceed")
    eventually(lambda: images_of(fleet) == ["web:2"] * 4)
    assert min(sample.ready for sample in fleet.watch.samples) >= 1


def has_images(fleet: Fleet, *wanted: str) -> bool:
    return images_of(fleet) == [*wanted]


def images_of(fleet: Fleet) -> list[str]:
    return sorted(pod.spec.containers[0].image for pod in fleet.watch.pods())


@pytest.mark.soak("real")
@pytest.mark.parametrize("between", [("web:bad",), ("web:2",), ("web:2", "web:bad")])
@pytest.mark.parametrize(("strategy", "most"), [("IncreaseFirst", 7), ("DecreaseFirst", 5)])
def test_another_content_amid_a_batch(fleet: Fleet, strategy: str, most: int, between: tuple[str, ...]) -> None:
    """Pods of three and four revisions are told apart, and those of a bad one hold nothing up and go first."""
    old = fleet.deployment("web", "web:1")
    plan = by_hand(strategy)
    fleet.start(old, **plan)
    for image in between:
        fleet.commit(fleet.deployment("web", image))
        if image == "web:bad":
            eventually(lambda: any(pod.spec.containers[0].image == "web:bad" for pod in fleet.watch.pods()))
        else:
            fleet.until(batchRollingState="batchReady", upgradedReadyReplicas=2)
    fleet.commit(fleet.deployment("web", "web:3"), fleet.rollout(old, **{**plan, "lastBatchToRollout": 2}))
    fleet.until(rollingState="rolloutSucceed")
    eventually(lambda: {pod.spec.containers[0].image for pod in fleet.watch.pods()} == {"web:3"})
    assert min(sample.ready for sample in fleet.watch.samples) >= 4
    assert max(sample.asked for sample in fleet.watch.samples) <= most


@pytest.mark.soak("real")
@pytest.mark.parametrize(("strategy", "most"), [("IncreaseFirst", 7), ("DecreaseFirst", 5)])
def test_a_deployment_is_taken_back_half_way(fleet: Fleet, strategy: str, most: int) -> None:
    old, newer = fleet.deployment("web", "web:1"), fleet.deployment("web", "web:2")
    plan = by_hand(strategy)
    fleet.start(old, **plan)
    fleet.commit(newer)
    fleet.until(batchRollingState="batchReady", upgradedReadyReplicas=2)
    fleet.commit(old)
    fleet.until(batchRollingState="batchReady", upgradedReadyReplicas=3)
    fleet.commit(newer)
    fleet.until(batchRollingState="batchReady", upgradedReadyReplicas=2)
    fleet.commit(old, fleet.rollout(old, **{**plan, "lastBatchToRollout": 2}))
    fleet.until(rollingState="rolloutSucceed")
    eventually(lambda: [pod.spec.containers[0].image for pod in fleet.watch.pods()] == ["web:1"] * 5)
    assert min(sample.ready for sample in fleet.watch.samples) >= 4
    assert max(sample.asked for sample in fleet.watch.samples) <= most


@pytest.mark.soak("real")
@pytest.mark.parametrize("corrected", ["db:1", "db:2"])
def test_a_bad_image_of_a_stateful_set_is_corrected(fleet: Fleet, corrected: str) -> None:
    """Its controller replaces no pod while another one is not ready: the one that never will be is deleted for it."""
    old = fleet.stateful_set("db:1")
    fleet.start(old, numBatches=2)
    fleet.commit(fleet.stateful_set("db:bad"))
    eventually(lambda: any(pod.spec.containers[0].image == "db:bad" for pod in fleet.watch.pods()))
    fleet.commit(fleet.stateful_set(corrected))
    fleet.until(rollingState="rolloutSucceed")
    eventually(lambda: [pod.spec.containers[0].image for pod in fleet.watch.pods()] == [corrected] * 4)
    assert min(sample.ready for sample in fleet.watch.samples) >= 3


def test_a_stateful_set_in_place_batch_by_batch(fleet: Fleet) -> None:
    old = fleet.stateful_set("db:1")
    plan: dict[str, Any] = {"numBatches": 2, "lastBatchToRollout": 0}
    fleet.start(old, **plan)
    fleet.commit(fleet.stateful_set("db:2"))
    fleet.until(batchRollingState="batchReady", upgradedReadyReplicas=2)
    images = {pod.metadata.name: pod.spec.containers[0].image for pod in fleet.watch.pods()}
    assert images == {"db-0": "db:1", "db-1": "db:1", "db-2": "db:2", "db-3": "db:2"}
    fleet.commit(fleet.rollout(old, **{**plan, "lastBatchToRollout": 1}))
    fleet.until(rollingState="rolloutSucceed")
    assert {pod.spec.containers[0].image for pod in fleet.watch.pods()} == {"db:2"}
    assert min(sample.ready for sample in fleet.watch.samples) >= 3


@pytest.mark.soak("real")
def test_a_rollout_that_cannot_go_on_is_reverted_when_its_file_goes(fleet: Fleet) -> None:
    old, new = fleet.deployment("web-1", "web:1"), fleet.deployment("web-2", "web:bad")
    fleet.commit(old)
    fleet.until_there("deployment", "web-1")
    trait = fleet.rollout(new, old, numBatches=2, revertOnDelete=True)
    fleet.commit(new, trait)
    fleet.until(batchRollingState="batchInRolling")
    eventually(lambda: fleet.watch.scale("deployment", "web-2")["spec"].get("replicas") == 2)
    assert fleet.watch.scale("deployment", "web-1")["spec"]["replicas"] == 5
    fleet.commit(remove=(trait,))
    fleet.until(rollingState="rolloutAbandoned")
    assert fleet.watch.scale("deployment", "web-1")["spec"]["replicas"] == 5
    assert fleet.watch.scale("deployment", "web-2")["spec"]["replicas"] == 0


@pytest.mark.soak("real")
def test_a_deployment_in_place_beside_an_autoscaler_goes_back_when_its_file_goes(fleet: Fleet) -> None:
    old = fleet.deployment("web", "web:1", None)
    old["spec"]["template"]["metadata"]["annotations"] = {"from": "one"}
    spec = {"scaleTargetRef": _reference(old), "minReplicas": 4, "maxReplicas": 9}
    scaler = builders.an_object(
        "autoscaling/v2", "HorizontalPodAutoscaler", "web", namespace=fleet.namespace, spec=spec
    )
    fleet.commit(old, scaler)
    fleet.until_there("deployment", "web")
    fleet.watch.set_replicas("web", 4)  # what an autoscaler does
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


@pytest.mark.soak("real")
def test_releases_one_after_another_whose_manifests_go(fleet: Fleet) -> None:
    """The last one is another target half way: the first release's pods and those of the second go to it."""
    one, two, three, four = (fleet.deployment(f"web-{number}", f"web:{number}") for number in range(1, 5))
    fleet.commit(one)
    fleet.until_there("deployment", "web-1")
    fleet.watch.samples.clear()
    fleet.commit(two, fleet.rollout(two, one, numBatches=2), remove=(one,))
    fleet.until(rollingState="rolloutSucceed")
    fleet.commit(three, fleet.rollout(three, two, numBatches=2, lastBatchToRollout=0), remove=(two,))
    fleet.until(batchRollingState="batchReady")
    assert fleet.watch.scale("deployment", "web-2")["spec"]["replicas"] > 0
    fleet.commit(four, fleet.rollout(four, two, three, numBatches=2), remove=(three,))
    fleet.until(rollingState="rolloutSucceed", target=_reference_of(fleet, four))
    eventually(lambda: {pod.spec.containers[0].image for pod in fleet.watch.pods()} == {"web:4"})
    eventually(lambda: not any(fleet.watch.scale("deployment", f"web-{number}")["spec"] for number in (1, 2, 3)))
    assert min(sample.ready for sample in fleet.watch.samples) >= 5


@pytest.mark.soak("real")
def test_paused_and_resumed(fleet: Fleet) -> None:
    old, new = fleet.deployment("web-1", "web:1"), fleet.deployment("web-2", "web:2")
    fleet.commit(old)
    fleet.until_there("deployment", "web-1")
    batches = [{"replicas": 2, "instanceInterval": 3600}, {"replicas": 3}]
    fleet.commit(new, fleet.rollout(new, old, rolloutBatches=batches))
    eventually(lambda: fleet.watch.scale("deployment", "web-2")["spec"].get("replicas") == 1)
    fleet.commit(fleet.rollout(new, old, rolloutBatches=batches, paused=True))
    eventually(lambda: any(c["type"] == "BatchPaused" and c["status"] == "True" for c in fleet.status()["conditions"]))
    assert fleet.watch.scale("deployment", "web-2")["spec"]["replicas"] == 1
    fleet.commit(fleet.rollout(new, old, rolloutBatches=batches))
    eventually(lambda: any(c["type"] == "BatchPaused" and c["status"] == "False" for c in fleet.status()["conditions"]))


@pytest.mark.soak("real")
def test_scaling_in_batches(fleet: Fleet) -> None:
    old = fleet.deployment("web", "web:1", 2)
    fleet.commit(old)
    fleet.until_there("deployment", "web")
    fleet.commit(fleet.rollout(old, targetSize=7, numBatches=2))
    fleet.until(rollingState="rolloutSucceed")
    assert fleet.watch.scale("deployment", "web")["spec"]["replicas"] == 7
