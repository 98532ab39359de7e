"""What a ClusterClient promises of steps of workload rollouts, and of the pods of workloads; see cluster_contract."""

from __future__ import annotations

from collections.abc import Sequence

from gitfleet.adapters.kube.texts import KubeText
from gitfleet.api.objects import JsonObject, ObjectKey, key_of
from gitfleet.api.values import NamespacedName
from gitfleet.formats.managed_fields import ROLLOUT_MANAGER, managed_entries
from gitfleet.model.observations import LiveObject
from gitfleet.model.operations import DeletePod, Patch, RolloutOutcome
from tests import builders as make
from tests.simulation.cluster_contract import ClusterBench, is_quiet
from tests.texts import part

ONE, TWO = NamespacedName("web", "one"), NamespacedName("web", "two")
NOBODY = "11111111-2222-3333-4444-555555555555"


def patch(live: LiveObject, value: JsonObject, rollout: NamespacedName = ONE, uid: str = "") -> Patch:
    version = live.resource_version
    return Patch(
        cluster="", rollout=rollout, reason="", key=live.key, uid=uid or live.uid, resource_version=version, patch=value
    )


def delete(key: ObjectKey, uid: str, rollout: NamespacedName = ONE) -> DeletePod:
    return DeletePod(cluster="", rollout=rollout, reason="", key=key, uid=uid)


def pod(namespace: str, name: str, app: str, owner: LiveObject | None = None, controller: bool = True) -> JsonObject:
    metadata: dict[str, object] = {"name": name, "namespace": namespace, "labels": {"app": app, "tier": "front"}}
    if owner is not None:
        named = {"apiVersion": "v1", "kind": "ConfigMap", "name": owner.key.name, "uid": owner.uid}
        metadata["ownerReferences"] = [{**named, "controller": controller}]
    containers = [{"name": "c", "image": "c:1"}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": containers}}


def replica_set(name: str, owner: LiveObject, revision: str) -> JsonObject:
    labels, reference = {"app": "web", "set": name}, {"name": owner.key.name, "uid": owner.uid, "controller": True}
    metadata = {
        "name": name,
        "namespace": owner.key.namespace,
        "labels": labels,
        "annotations": {"deployment.kubernetes.io/revision": revision, "more": "x"},
        "ownerReferences": [{"apiVersion": owner.key.api_version, "kind": owner.key.kind, **reference}],
    }
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "c:1"}]}}
    spec = {"replicas": 0, "selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": spec}


def short(outcomes: Sequence[RolloutOutcome]) -> list[tuple[bool, str]]:
    return [(outcome.ok, outcome.code) for outcome in outcomes]


class StepsContract:
    """The promises of `perform_steps` and `pods`, one test each."""

    def test_a_patch_is_for_one_version_of_one_object(self, bench: ClusterBench) -> None:
        home = bench.fresh()
        _, first, other = bench.have(make.namespace(home), make.deployment(home, "web"), make.deployment(home, "other"))
        key = first.key
        bench.eventually(lambda: is_quiet(bench, key))
        live, other = bench.must_see(key), bench.must_see(other.key)
        value = {"spec": {"minReadySeconds": 7, "progressDeadlineSeconds": None}, "metadata": {"labels": {"a": "b"}}}
        assert short(bench.client.perform_steps([patch(live, value)])) == [(True, "Applied")]
        after = bench.must_see(key)
        spec = after.body["spec"]
        assert (spec["minReadySeconds"], after.body["metadata"]["labels"]["a"]) == (7, "b")
        (entry,) = [one for one in managed_entries(after.body) if one["manager"] == ROLLOUT_MANAGER]
        assert entry["operation"] == "Update" and "f:minReadySeconds" in entry["fieldsV1"]["f:spec"]
        # The same version once more, what follows in the same rollout, and what another one does.
        again = {"spec": {"minReadySeconds": 8}}
        newest = bench.must_see(other.key)
        outcomes = bench.client.perform_steps([patch(live, again), patch(newest, again), patch(newest, again, TWO)])
        assert short(outcomes) == [(False, "Conflict"), (False, "NotAsked"), (True, "Applied")]
        assert outcomes[0].message and part(KubeText.LEFT_ALONE_SINCE_EARLIER_STEP) in outcomes[1].message
        assert bench.must_see(key).body["spec"]["minReadySeconds"] == 7
        bench.eventually(lambda: is_quiet(bench, key))
        found = bench.must_see(key)
        assert short(bench.client.perform_steps([patch(found, again, uid=NOBODY)])) == [(False, "Conflict")]
        gone = LiveObject(ObjectKey("apps", "v1", "Deployment", home, "none"), found.body)
        assert short(bench.client.perform_steps([patch(gone, again)])) == [(False, "NotFound")]
        assert bench.must_see(key).body["spec"]["minReadySeconds"] == 7

    def test_a_step_deletes_that_very_pod_and_nothing_else(self, bench: ClusterBench) -> None:
        home = bench.fresh()
        _, live, config = bench.have(make.namespace(home), pod(home, "p", "x"), make.config_map(home, "cm"))
        outcomes = bench.client.perform_steps([delete(live.key, NOBODY), delete(config.key, config.uid, TWO)])
        assert short(outcomes) == [(False, "Conflict"), (False, "Invalid")]
        assert bench.must_see(live.key).uid == live.uid and bench.must_see(config.key).uid == config.uid
        assert short(bench.client.perform_steps([delete(live.key, live.uid)])) == [(True, "Deleting")]
        bench.eventually(lambda: bench.see(live.key) is None)
        assert short(bench.client.perform_steps([delete(live.key, live.uid)])) == [(True, "NotFound")]

    def test_the_pods_of_a_workload_are_those_that_it_controls(self, bench: ClusterBench) -> None:
        home = bench.fresh()
        _, owner = bench.have(make.namespace(home), make.config_map(home, "owner"))
        bodies = (
            pod(home, "b", "x", owner),
            pod(home, "a", "y", owner),
            pod(home, "other-label", "z", owner),
            pod(home, "nobodys", "x"),
            pod(home, "no-controller", "x", owner, controller=False),
        )
        bench.have(*bodies)
        terms = [
            {"key": "app", "operator": "In", "values": ["x", "y"]},
            {"key": "app", "operator": "NotIn", "values": ["z"]},
            {"key": "tier", "operator": "Exists"},
            {"key": "canary", "operator": "DoesNotExist"},
        ]
        selector = {"matchLabels": {"tier": "front"}, "matchExpressions": terms}
        workload = LiveObject(owner.key, {**owner.body, "spec": {"selector": selector}})
        (found,) = bench.client.pods([workload]).values()
        assert [one.key for one in found] == [key_of(bodies[1]), key_of(bodies[0])]
        seen = bench.must_see(found[0].key)
        assert found[0].uid == seen.uid and found[0].body["metadata"]["labels"] == {"app": "y", "tier": "front"}
        assert found[0].body["status"]["phase"] == seen.body["status"]["phase"]
        assert not {"containers", "managedFields"} & {*found[0].body["spec"], *found[0].body["metadata"]}

    def test_the_replica_sets_of_a_deployment_are_those_that_it_controls(self, bench: ClusterBench) -> None:
        home = bench.fresh()
        _, web, config = bench.have(make.namespace(home), make.deployment(home, "web"), make.config_map(home, "other"))
        bodies = [replica_set("b", web, "9"), replica_set("a", web, "7"), replica_set("c", config, "8")]
        bench.have(*bodies)
        (found,) = bench.client.pods([web]).values()
        made = [one for one in found if one.key.name in "abc"]
        assert [one.key for one in made] == [key_of(bodies[1]), key_of(bodies[0])]
        body, seen = made[0].body, bench.must_see(made[0].key)
        assert (made[0].uid, body["spec"]) == (seen.uid, {"replicas": 0})
        assert body["metadata"]["annotations"] == {"deployment.kubernetes.io/revision": "7"}
        assert not {"template", "managedFields"} & {*body["spec"], *body["metadata"]}

    def test_pods_of_what_selects_nothing_are_not_read(self, bench: ClusterBench) -> None:
        home = bench.fresh()
        live = bench.have(make.namespace(home), make.config_map(home, "cm"))[1]
        assert bench.client.pods([live]) == {}

    def test_no_steps_no_outcomes(self, bench: ClusterBench) -> None:
        assert list(bench.client.perform_steps([])) == []
