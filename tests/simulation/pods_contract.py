"""What happens to pods when workloads change: the same on the simulated API server and on a real one whose controllers
run, request by request.

Subclass `PodsContract`, name the class Test..., and give it a `side` fixture.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from gitfleet.api.objects import JsonObject
from gitfleet.ports.transport import Request, Transport
from tests import builders as make

APPLY = {"Content-Type": "application/apply-patch+yaml", "Accept": "application/json"}
MERGE = {"Content-Type": "application/merge-patch+json", "Accept": "application/json"}
NEVER = 2147483646
REVISION = "deployment.kubernetes.io/revision"
PLURALS = {"Deployment": "deployments", "StatefulSet": "statefulsets", "DaemonSet": "daemonsets"}
STATUS = {
    "Deployment": ("updatedReplicas", "readyReplicas", "replicas", "availableReplicas"),
    "StatefulSet": ("updatedReplicas", "readyReplicas", "replicas", "currentReplicas"),
    "DaemonSet": ("updatedNumberScheduled", "numberReady", "currentNumberScheduled", "numberAvailable"),
}
"""The counts that are compared: updated, ready, in all, and one more."""
Counts = tuple[int, ...]


@dataclass
class Side:
    """One of the servers, with the namespace that a test has on it.

    `wait` lets a little time pass; `quiet` is how often it must find nothing new until a workload is at rest. The pods
    of the image `web:bad` are never ready. `nodes` are the cluster's nodes.
    """

    transport: Transport
    namespace: str
    wait: Callable[[], None]
    nodes: int
    quiet: int = 1
    bodies: dict[str, JsonObject] = field(default_factory=dict)

    def send(self, method: str, path: str, **more: Any) -> tuple[int, Any]:
        """Status and body of one request."""
        response = self.transport.request(Request(method=method, path=path, **more))
        return response.status, response.json()

    def apply(self, body: JsonObject) -> None:
        """Server-side apply in the test's namespace."""
        query = {"fieldManager": "gitfleet", "force": "true"}
        status, reported = self.send("PATCH", self.path(body), query=query, body=body, headers=APPLY)
        assert status in (200, 201), reported

    def patch(self, body: JsonObject, patch: JsonObject, **preconditions: str) -> tuple[int, Any]:
        """A merge patch of the spec."""
        content = {"spec": patch, **({"metadata": preconditions} if preconditions else {})}
        query = {"fieldManager": "gitfleet-rollout"}
        return self.send("PATCH", self.path(body), query=query, body=content, headers=MERGE)

    def path(self, body: JsonObject) -> str:
        """Where an object of these kinds is."""
        place = f"/apis/apps/v1/namespaces/{self.namespace}/{PLURALS[body['kind']]}"
        return f"{place}/{body['metadata']['name']}"

    def counts(self, body: JsonObject) -> Counts:
        """The counts of a workload, -1 in front while its controller has not observed it."""
        status, live = self.send("GET", self.path(body))
        assert status == 200, live
        found = live.get("status") or {}
        observed = found.get("observedGeneration") == live["metadata"]["generation"]
        return (*(() if observed else (-1,)), *(int(found.get(name) or 0) for name in STATUS[body["kind"]]))

    def at_rest(self, body: JsonObject) -> Counts:
        """The counts once nothing changes any more."""
        last, same = self.counts(body), 0
        for _ in range(1200):
            self.wait()
            now = self.counts(body)
            same = same + 1 if now == last and now[0] != -1 else 0
            last = now
            if same >= self.quiet:
                return now
        raise AssertionError(f"it does not come to rest: {last}")

    def changed(self, body: JsonObject, patch: JsonObject) -> Counts:
        """The counts at rest after a merge patch of the spec."""
        status, reported = self.patch(body, patch)
        assert status == 200, reported
        return self.at_rest(body)

    def pods(self, selector: str = "app=web") -> list[JsonObject]:
        """The pods with these labels, by name."""
        path = f"/api/v1/namespaces/{self.namespace}/pods"
        status, found = self.send("GET", path, query={"labelSelector": selector})
        assert status == 200, found
        alive = [pod for pod in found["items"] if "deletionTimestamp" not in pod["metadata"]]
        return sorted(alive, key=lambda pod: pod["metadata"]["name"])

    def revisions(self, body: JsonObject) -> tuple[int, list[tuple[int, str, int, int, int]]]:
        """The revision that a Deployment names (0: none), and those of its ReplicaSets that have pods, oldest first:
        number, image, and how many pods it has in all, ready and available."""
        live = self.send("GET", self.path(body))[1]
        path = f"/apis/apps/v1/namespaces/{self.namespace}/replicasets"
        status, found = self.send("GET", path, query={"labelSelector": "app=web"})
        assert status == 200, found
        shown = []
        for one in found["items"]:
            (owner,) = one["metadata"]["ownerReferences"]
            assert (owner["kind"], owner["uid"], owner["controller"]) == ("Deployment", live["metadata"]["uid"], True)
            assert one["metadata"]["name"] == f"web-{one['metadata']['labels']['pod-template-hash']}"
            counted = [int(one["status"].get(name) or 0) for name in ("replicas", "readyReplicas", "availableReplicas")]
            assert one["spec"]["replicas"] == counted[0]
            if counted[0]:
                (container,) = one["spec"]["template"]["spec"]["containers"]
                shown.append((_revision(one), container["image"], *counted))
        return _revision(live), sorted(shown)

    def delete_pod(self, name: str, uid: str = "") -> tuple[int, Any]:
        """Delete one pod."""
        body = {"preconditions": {"uid": uid}} if uid else {}
        return self.send("DELETE", f"/api/v1/namespaces/{self.namespace}/pods/{name}", body=body)


def _revision(body: JsonObject) -> int:
    return int((body["metadata"].get("annotations") or {}).get(REVISION) or 0)


def image_of(pod: JsonObject) -> str:
    return str(pod["spec"]["containers"][0]["image"])


def images(pods: Sequence[JsonObject]) -> list[str]:
    """The images in the order of the pods' names."""
    return [image_of(pod) for pod in pods]


def is_ready(pod: JsonObject) -> bool:
    return any(one["type"] == "Ready" and one["status"] == "True" for one in pod["status"].get("conditions") or ())


def template(image: str) -> JsonObject:
    """A patch of a template's image."""
    return {"template": {"spec": {"containers": [{"name": "web", "image": image}]}}}


def rolling(surge: int | str, unavailable: int | str) -> JsonObject:
    """A patch of the limits of a rolling update."""
    limits = {"maxSurge": surge, "maxUnavailable": unavailable}
    return {"strategy": {"type": "RollingUpdate", "rollingUpdate": limits}}


def partition(ordinal: int) -> dict[str, Any]:
    """A patch of a StatefulSet's partition."""
    return {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": ordinal}}}


HELD = {"paused": False, "minReadySeconds": NEVER, "progressDeadlineSeconds": NEVER + 1}
"""While a batch moves: what is new is Ready, and never available."""
RELEASED = {"paused": False, "minReadySeconds": 0, "progressDeadlineSeconds": 600}

BATCHES = [(5, (1, 2, 2)), (10, (3, 3, 4))]


class PodsContract:
    """One test each."""

    def test_a_paused_deployment_keeps_its_pods(self, side: Side) -> None:
        web = make.deployment(side.namespace, "web", "web:1", 3)
        side.apply(web)
        assert side.at_rest(web) == (3, 3, 3, 3)
        assert side.changed(web, {"paused": True, **template("web:2")}) == (0, 3, 3, 3)
        assert set(images(side.pods())) == {"web:1"}
        assert side.changed(web, {"replicas": 5}) == (0, 5, 5, 5)
        assert side.changed(web, {"replicas": 2}) == (0, 2, 2, 2)
        assert set(images(side.pods())) == {"web:1"}
        assert side.changed(web, {"paused": False}) == (2, 2, 2, 2)
        assert set(images(side.pods())) == {"web:2"}

    def test_a_deployment_that_is_made_paused_has_no_pods(self, side: Side) -> None:
        web = make.deployment(side.namespace, "web", "web:1", 3)
        web["spec"]["paused"] = True
        side.apply(web)
        assert side.at_rest(web) == (0, 0, 0, 0)
        assert side.changed(web, {"replicas": 4}) == (0, 0, 0, 0)
        assert side.changed(web, {"paused": False}) == (4, 4, 4, 4)

    @pytest.mark.parametrize(("size", "batches"), BATCHES)
    def test_batches_of_one_deployment_that_increase_first(
        self, side: Side, size: int, batches: tuple[int, ...]
    ) -> None:
        web = self._paused_with_a_new_template(side, size)
        done = 0
        for batch in batches:
            surged = side.changed(web, {**HELD, **rolling(batch, done)})
            assert surged == (done + batch, size + batch, size + batch, size - done)
            done += batch
            assert side.changed(web, {**HELD, **rolling(0, done)}) == (done, size, size, size - done)
            assert images(side.pods()).count("web:2") == done
        assert side.changed(web, {**RELEASED, **rolling("25%", "25%")}) == (size,) * 4

    @pytest.mark.parametrize(("size", "batches"), BATCHES)
    def test_batches_of_one_deployment_that_decrease_first(
        self, side: Side, size: int, batches: tuple[int, ...]
    ) -> None:
        web = self._paused_with_a_new_template(side, size)
        done = 0
        for batch in batches:
            done += batch
            assert side.changed(web, {**HELD, **rolling(0, done)}) == (done, size, size, size - done)
            assert images(side.pods()).count("web:2") == done
        assert side.changed(web, {**RELEASED, **rolling("25%", "25%")}) == (size,) * 4

    def test_a_batch_that_never_becomes_ready_takes_no_more_of_the_old_pods(self, side: Side) -> None:
        web = self._paused_with_a_new_template(side, 5, "web:bad")
        assert side.changed(web, {**HELD, **rolling(2, 0)}) == (2, 5, 7, 5)
        assert side.changed(web, {"paused": True}) == (2, 5, 7, 5)
        assert side.changed(web, {**RELEASED, **rolling(1, 0), **template("web:1")}) == (5, 5, 5, 5)

    def test_a_release_in_the_middle_with_a_surge_makes_more_pods_though_it_is_paused(self, side: Side) -> None:
        """What is added goes to the older and the newer pods in proportion; without a surge nothing moves."""
        web = self._paused_with_a_new_template(side, 10)
        assert side.changed(web, {**HELD, **rolling(0, 3)}) == (3, 10, 10, 7)
        released = {**RELEASED, "paused": True}
        assert side.changed(web, {**released, **rolling(0, 3)}) == (3, 10, 10, 10)
        assert side.changed(web, {**released, **rolling("25%", "25%")}) == (4, 13, 13, 13)
        assert side.changed(web, {**released, **rolling(0, 3)}) == (3, 10, 10, 10)

    def test_a_deployment_in_the_middle_that_is_scaled_keeps_the_proportion(self, side: Side) -> None:
        web = self._paused_with_a_new_template(side, 10)
        assert side.changed(web, {**HELD, **rolling(0, 3)}) == (3, 10, 10, 7)
        assert side.changed(web, {"paused": True, "replicas": 20}) == (6, 20, 20, 14)
        assert side.changed(web, {"replicas": 5}) == (2, 5, 5, 3)

    def test_a_deployment_in_the_middle_that_is_scaled_to_nothing_comes_back_new(self, side: Side) -> None:
        web = self._paused_with_a_new_template(side, 10)
        assert side.changed(web, {**HELD, **rolling(0, 3)}) == (3, 10, 10, 7)
        assert side.changed(web, {"paused": True, "replicas": 0}) == (0, 0, 0, 0)
        assert side.changed(web, {"replicas": 4}) == (4, 4, 4, 0)
        assert set(images(side.pods())) == {"web:2"}

    def test_a_release_in_the_last_batch_takes_the_old_pods_though_it_is_paused(self, side: Side) -> None:
        """Where all new pods are there and available, the older ones go; while they are held, they stay."""
        web = self._paused_with_a_new_template(side, 5)
        assert side.changed(web, {**HELD, **rolling(0, 3)}) == (3, 5, 5, 2)
        assert side.changed(web, {**HELD, **rolling(2, 3)}) == (5, 7, 7, 2)
        assert side.changed(web, {"paused": True}) == (5, 7, 7, 2)
        assert side.changed(web, {"minReadySeconds": 0}) == (5, 5, 5, 5)

    def test_replica_sets_count_the_pods_of_three_revisions(self, side: Side) -> None:
        web = self._paused_with_a_new_template(side, 5)
        assert side.revisions(web) == (1, [(1, "web:1", 5, 5, 5)])
        assert side.changed(web, {**HELD, **rolling(0, 2)}) == (2, 5, 5, 3)
        assert side.revisions(web) == (2, [(1, "web:1", 3, 3, 3), (2, "web:2", 2, 2, 0)])
        assert side.changed(web, {"paused": True, **template("web:bad")}) == (0, 5, 5, 3)
        assert side.revisions(web) == (2, [(1, "web:1", 3, 3, 3), (2, "web:2", 2, 2, 0)])
        assert side.changed(web, {**HELD, **rolling(1, 0)}) == (1, 5, 6, 3)
        three = [(1, "web:1", 3, 3, 3), (2, "web:2", 2, 2, 0), (3, "web:bad", 1, 0, 0)]
        assert side.revisions(web) == (3, three)
        assert side.changed(web, {"paused": True, **template("web:2")}) == (2, 5, 6, 3)
        back = [(1, "web:1", 3, 3, 3), (3, "web:bad", 1, 0, 0), (4, "web:2", 2, 2, 0)]
        assert side.revisions(web) == (4, back)
        assert side.changed(web, {**RELEASED, **rolling("25%", "25%")}) == (5, 5, 5, 5)
        assert side.revisions(web) == (4, [(4, "web:2", 5, 5, 5)])

    @pytest.mark.parametrize("images_then", ["web:2", "web:3"])
    def test_a_pause_with_the_surge_of_a_batch_adds_no_more_than_the_batch(self, side: Side, images_then: str) -> None:
        """Where it comes before the batch's pods were made, some of the older ones are made instead; what was ready
        stays, and the batch goes on from there. Without the surge, ready pods would go."""
        web = self._paused_with_a_new_template(side, 5)
        assert side.changed(web, {**HELD, **rolling(0, 2)}) == (2, 5, 5, 3)
        paused = {**HELD, "paused": True, **rolling(2, 2), **template(images_then)}
        of_batch = 3 if images_then == "web:2" else 0
        assert side.changed(web, paused) == (of_batch, 7, 7, 4)
        if images_then == "web:2":
            assert side.changed(web, {**HELD, **rolling(2, 2)}) == (4, 7, 7, 3)
            assert side.changed(web, {**HELD, **rolling(0, 4)}) == (4, 5, 5, 1)
        else:
            assert side.changed(web, {**HELD, **rolling(2, 0)}) == (2, 7, 7, 4)

    def test_a_pause_in_the_middle_of_a_batch_keeps_its_surplus_while_the_surge_stays(self, side: Side) -> None:
        web = self._paused_with_a_new_template(side, 5, "web:bad")
        assert side.changed(web, {**HELD, **rolling(2, 0)}) == (2, 5, 7, 5)
        assert side.changed(web, {"paused": True, **template("web:3")}) == (0, 5, 7, 5)
        assert side.changed(web, {**HELD, **rolling(2, 0)}) == (2, 7, 7, 5)
        assert side.changed(web, {**HELD, **rolling(0, 2)}) == (2, 5, 5, 3)
        assert sorted(images(side.pods())) == ["web:1"] * 3 + ["web:3"] * 2

    def test_an_original_template_in_the_middle(self, side: Side) -> None:
        """The older ReplicaSet is the new one again, and what was made goes."""
        web = self._paused_with_a_new_template(side, 5)
        assert side.changed(web, {**HELD, **rolling(0, 2)}) == (2, 5, 5, 3)
        assert side.changed(web, {"paused": True, **template("web:1")}) == (3, 5, 5, 0)
        assert side.changed(web, {**RELEASED, **rolling("25%", "25%")}) == (5, 5, 5, 5)
        assert set(images(side.pods())) == {"web:1"}

    def test_batches_while_old_pods_are_not_ready(self, side: Side) -> None:
        """What is not ready among the older pods goes first, and no more of them than the batch has."""
        web = make.deployment(side.namespace, "web", "web:bad", 4)
        side.apply(web)
        assert side.at_rest(web) == (4, 0, 4, 0)
        assert side.changed(web, {"paused": True, **template("web:2")}) == (0, 0, 4, 0)
        assert side.changed(web, {**HELD, **rolling(0, 1)}) == (1, 1, 4, 0)
        assert side.changed(web, {**HELD, **rolling(0, 3)}) == (3, 3, 4, 0)
        assert side.changed(web, {**HELD, **rolling(1, 3)}) == (4, 4, 5, 0)

    def test_recreate(self, side: Side) -> None:
        web = make.deployment(side.namespace, "web", "web:1", 3)
        web["spec"]["strategy"] = {"type": "Recreate"}
        side.apply(web)
        assert side.at_rest(web) == (3, 3, 3, 3)
        assert side.changed(web, template("web:bad")) == (3, 0, 3, 0)
        assert side.changed(web, template("web:2")) == (3, 3, 3, 3)

    def test_a_rolling_update_stops_at_pods_that_never_become_ready(self, side: Side) -> None:
        web = make.deployment(side.namespace, "web", "web:1", 8)
        side.apply(web)
        assert side.at_rest(web) == (8, 8, 8, 8)
        assert side.changed(web, template("web:bad")) == (4, 6, 10, 6)
        assert side.changed(web, template("web:2")) == (8, 8, 8, 8)

    def test_a_stateful_set_follows_its_partition(self, side: Side) -> None:
        web = make.stateful_set(side.namespace, "web", "web:1", 4)
        side.apply(web)
        assert side.at_rest(web) == (4, 4, 4, 4)
        assert side.changed(web, {**partition(4), **template("web:2")}) == (0, 4, 4, 4)
        for kept in (3, 1):
            assert side.changed(web, partition(kept)) == (4 - kept, 4, 4, kept)
            assert images(side.pods()) == ["web:1"] * kept + ["web:2"] * (4 - kept)
        revisions = self._revisions(side, web)
        assert revisions[0] != revisions[1]
        side.delete_pod("web-0")
        side.delete_pod("web-3")
        assert side.at_rest(web) == (3, 4, 4, 1)
        assert images(side.pods()) == ["web:1"] + ["web:2"] * 3
        assert side.changed(web, partition(0)) == (4, 4, 4, 4)
        assert self._revisions(side, web) == (revisions[1],) * 2

    def test_a_raised_partition_takes_nothing_back(self, side: Side) -> None:
        web = make.stateful_set(side.namespace, "web", "web:1", 3)
        web["spec"] |= partition(1)
        side.apply(web)
        assert side.at_rest(web) == (3, 3, 3, 3)
        assert side.changed(web, template("web:2")) == (2, 3, 3, 1)
        assert side.changed(web, partition(3)) == (2, 3, 3, 1)
        side.delete_pod("web-2")
        assert side.at_rest(web) == (1, 3, 3, 2)
        assert side.changed(web, template("web:1")) == (2, 3, 3, 2)
        assert side.changed(web, partition(0)) == (3, 3, 3, 3)

    def test_a_stateful_set_waits_for_each_pod(self, side: Side) -> None:
        """A pod that never becomes ready is not replaced either when the template is put right, until it is deleted."""
        web = make.stateful_set(side.namespace, "web", "web:1", 3)
        side.apply(web)
        assert side.at_rest(web) == (3, 3, 3, 3)
        assert side.changed(web, template("web:bad")) == (1, 2, 3, 2)
        assert side.changed(web, template("web:2")) == (0, 2, 3, 2)
        assert side.delete_pod("web-2")[0] == 200
        assert side.at_rest(web) == (3, 3, 3, 3)

    def test_a_stateful_set_in_parallel_replaces_what_is_not_ready(self, side: Side) -> None:
        web = make.stateful_set(side.namespace, "web", "web:1", 3)
        web["spec"]["podManagementPolicy"] = "Parallel"
        side.apply(web)
        assert side.at_rest(web) == (3, 3, 3, 3)
        assert side.changed(web, template("web:bad")) == (1, 2, 3, 2)
        assert side.changed(web, template("web:2")) == (3, 3, 3, 3)

    def test_a_stateful_set_with_pods_that_are_never_available(self, side: Side) -> None:
        web = make.stateful_set(side.namespace, "web", "web:1", 3)
        side.apply(web)
        assert side.at_rest(web) == (3, 3, 3, 3)
        assert side.changed(web, {"minReadySeconds": NEVER, **template("web:2")}) == (0, 3, 3, 3)
        assert side.changed(web, {"minReadySeconds": 0}) == (3, 3, 3, 3)

    def test_a_stateful_set_on_delete(self, side: Side) -> None:
        web = make.stateful_set(side.namespace, "web", "web:1", 3)
        web["spec"]["updateStrategy"] = {"type": "OnDelete"}
        side.apply(web)
        assert side.at_rest(web) == (3, 3, 3, 3)
        assert side.changed(web, template("web:2")) == (0, 3, 3, 3)
        assert side.delete_pod("web-1")[0] == 200
        assert side.at_rest(web) == (1, 3, 3, 2)
        assert images(side.pods()) == ["web:1", "web:2", "web:1"]

    def test_a_stateful_set_is_scaled(self, side: Side) -> None:
        web = make.stateful_set(side.namespace, "web", "web:1", 2)
        side.apply(web)
        assert side.at_rest(web) == (2, 2, 2, 2)
        assert side.changed(web, {"replicas": 4}) == (4, 4, 4, 4)
        assert side.changed(web, {"replicas": 1}) == (1, 1, 1, 1)
        assert [pod["metadata"]["name"] for pod in side.pods()] == ["web-0"]

    def test_a_daemon_set_on_delete(self, side: Side) -> None:
        web = make.daemon_set(side.namespace, "web", "web:1")
        web["spec"]["updateStrategy"] = {"type": "OnDelete"}
        side.apply(web)
        nodes = side.nodes
        assert side.at_rest(web) == (nodes,) * 4
        assert side.changed(web, template("web:2")) == (0, nodes, nodes, nodes)
        first = side.pods()[0]
        assert side.delete_pod(first["metadata"]["name"], "11111111-2222-3333-4444-555555555555")[0] == 409
        assert side.delete_pod(first["metadata"]["name"], first["metadata"]["uid"])[0] == 200
        assert side.at_rest(web) == (1, nodes, nodes, nodes)
        assert sorted(images(side.pods())) == ["web:1"] * (nodes - 1) + ["web:2"]
        for pod in side.pods():
            if image_of(pod) == "web:1":
                side.delete_pod(pod["metadata"]["name"])
        assert side.at_rest(web) == (nodes,) * 4

    def test_a_daemon_set_stops_at_a_pod_that_never_becomes_ready(self, side: Side) -> None:
        web = make.daemon_set(side.namespace, "web", "web:1")
        side.apply(web)
        nodes = side.nodes
        assert side.at_rest(web) == (nodes,) * 4
        assert side.changed(web, template("web:bad")) == (1, nodes - 1, nodes, nodes - 1)
        assert side.changed(web, template("web:2")) == (nodes,) * 4

    def test_a_daemon_set_with_a_surge_keeps_the_old_pods(self, side: Side) -> None:
        web = make.daemon_set(side.namespace, "web", "web:1")
        limits = {"maxSurge": 1, "maxUnavailable": 0}
        web["spec"]["updateStrategy"] = {"type": "RollingUpdate", "rollingUpdate": limits}
        side.apply(web)
        nodes = side.nodes
        assert side.at_rest(web) == (nodes,) * 4
        assert side.changed(web, template("web:bad")) == (0, nodes, nodes, nodes)
        assert sorted(images(side.pods())) == ["web:1"] * nodes + ["web:bad"]
        assert side.changed(web, template("web:2")) == (nodes,) * 4
        assert images(side.pods()) == ["web:2"] * nodes

    def test_a_daemon_set_takes_a_share_of_its_pods_at_once(self, side: Side) -> None:
        web = make.daemon_set(side.namespace, "web", "web:1")
        side.apply(web)
        nodes = side.nodes
        assert side.at_rest(web) == (nodes,) * 4
        limits = {"updateStrategy": {"rollingUpdate": {"maxUnavailable": "60%"}}}
        missing = -(-nodes * 60 // 100)
        expected = (missing, nodes - missing, nodes, nodes - missing)
        assert side.changed(web, {**limits, **template("web:bad")}) == expected

    def test_a_pod_that_is_deleted_comes_back_of_the_same_template(self, side: Side) -> None:
        web = self._paused_with_a_new_template(side, 3)
        before = side.pods()
        assert side.delete_pod(before[0]["metadata"]["name"])[0] == 200
        assert side.at_rest(web) == (0, 3, 3, 3)
        after = side.pods()
        assert set(images(after)) == {"web:1"}
        assert len({pod["metadata"]["uid"] for pod in (*before, *after)}) == 4
        assert side.delete_pod(before[0]["metadata"]["name"])[0] == 404

    def test_pods_say_what_they_are(self, side: Side) -> None:
        web = make.deployment(side.namespace, "web", "web:1", 2)
        side.apply(web)
        side.at_rest(web)
        for pod in side.pods():
            metadata = pod["metadata"]
            own = metadata["labels"]["pod-template-hash"]
            assert metadata["name"].startswith(f"web-{own}-")
            (owner,) = metadata["ownerReferences"]
            assert (owner["kind"], owner["name"], owner["controller"]) == ("ReplicaSet", f"web-{own}", True)
            assert is_ready(pod) and pod["spec"]["containers"][0]["image"] == "web:1"
            status, alone = side.send("GET", f"/api/v1/namespaces/{side.namespace}/pods/{metadata['name']}")
            assert (status, alone["metadata"]["uid"]) == (200, metadata["uid"])
        found = [len(side.pods(selector)) for selector in ("app in (web,other),app", "app!=web", "!app", "app=web,x=y")]
        assert found == [2, 0, 0, 0]

    def test_a_merge_patch_keeps_to_the_object_and_its_version(self, side: Side) -> None:
        web = make.deployment(side.namespace, "web", "web:1", 1)
        side.apply(web)
        side.at_rest(web)
        metadata = side.send("GET", side.path(web))[1]["metadata"]
        uid, version = metadata["uid"], metadata["resourceVersion"]
        other = "11111111-2222-3333-4444-555555555555"
        refused = [
            side.patch(web, {"replicas": 2}, uid=other, resourceVersion=version),
            side.patch(web, {"replicas": 2}, uid=uid, resourceVersion="1"),
        ]
        assert [status for status, _ in refused] == [422, 409]
        status, live = side.patch(web, {"replicas": 2, "minReadySeconds": None}, uid=uid, resourceVersion=version)
        assert (status, live["spec"]["replicas"]) == (200, 2)
        owned = {
            one["manager"]: one["fieldsV1"] for one in live["metadata"]["managedFields"] if "status" not in str(one)
        }
        assert owned["gitfleet-rollout"] == {"f:spec": {"f:replicas": {}}}

    def test_fields_at_their_zero_are_left_out_and_strategies_are_filled_in(self, side: Side) -> None:
        web = make.deployment(side.namespace, "web", "web:1", 1)
        side.apply(web)
        side.at_rest(web)
        names = ("paused", "minReadySeconds", "strategy", "progressDeadlineSeconds", "replicas")
        status, live = side.patch(web, {"paused": True, "minReadySeconds": 3})
        assert (status, live["spec"]["paused"], live["spec"]["minReadySeconds"]) == (200, True, 3)
        zero = {"paused": False, "minReadySeconds": 0, "strategy": None, "progressDeadlineSeconds": None, "replicas": 0}
        status, live = side.patch(web, zero)
        assert status == 200
        assert {name: live["spec"][name] for name in names if name in live["spec"]} == {
            **rolling("25%", "25%"),
            "progressDeadlineSeconds": 600,
            "replicas": 0,
        }
        generation = live["metadata"]["generation"]
        status, live = side.patch(web, zero)
        assert (status, live["metadata"]["generation"]) == (200, generation)
        agents, db = make.daemon_set(side.namespace, "agents"), make.stateful_set(side.namespace, "db")
        for body in (agents, db):
            side.apply(body)
        found = [side.send("GET", side.path(body))[1]["spec"]["updateStrategy"] for body in (agents, db)]
        limits = {"maxSurge": 0, "maxUnavailable": 1}
        assert found == [{"type": "RollingUpdate", "rollingUpdate": limits}, partition(0)["updateStrategy"]]

    def _paused_with_a_new_template(self, side: Side, size: int, image: str = "web:2") -> JsonObject:
        web = make.deployment(side.namespace, "web", "web:1", size)
        side.apply(web)
        assert side.at_rest(web) == (size,) * 4
        assert side.changed(web, {"paused": True, **template(image)}) == (0, size, size, size)
        return web

    def _revisions(self, side: Side, body: JsonObject) -> tuple[str, str]:
        status = side.send("GET", side.path(body))[1]["status"]
        return status["currentRevision"], status["updateRevision"]
