"""What every ClusterClient promises, as tests for any of them: the simulated cluster and the real adapter run the same.

Subclass `ClusterContract`, name the class Test..., and give it a `bench` fixture.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from gitfleet.adapters.kube.texts import KubeText
from gitfleet.api.objects import JsonObject, ObjectKey, key_of
from gitfleet.api.placements import PlacementKey
from gitfleet.formats.managed_fields import managed_entries
from gitfleet.model.observations import LiveObject
from gitfleet.model.operations import Create, Delete, Outcome, PropagationPolicy, Update
from gitfleet.ports.clusters import ClusterClient
from tests import builders as make
from tests.gates import permit

PLACEMENT = PlacementKey("", "web")
CONTROLLERS = {"kube-controller-manager"}


@dataclass(frozen=True, kw_only=True)
class ClusterBench:
    """A client under test and what a test needs beside it.

    `fresh` gives names that nothing on the cluster has yet; `by_hand(key, patch)` is a JSON patch by somebody else;
    `by_another(body, manager)` a forced server-side apply of a ConfigMap or Deployment by another field manager;
    `wait` lets a little time pass for what a cluster does by itself.
    """

    cluster: str
    client: ClusterClient
    fresh: Callable[[], str]
    by_hand: Callable[[ObjectKey, Sequence[JsonObject]], None]
    by_another: Callable[[JsonObject, str], None]
    wait: Callable[[], None]

    def create(
        self, body: JsonObject, *, wave: int = 0, needs: tuple[ObjectKey, ...] = (), force: bool = True
    ) -> Create:
        manifest = make.manifest_of(body)
        return Create(
            cluster=self.cluster, placement=PLACEMENT, manifest=manifest, wave=wave, reason="", needs=needs, force=force
        )

    def update(
        self,
        body: JsonObject,
        live: LiveObject,
        *,
        force: bool = True,
        version: str | None = None,
        removes: JsonObject | None = None,
    ) -> Update:
        return Update(
            cluster=self.cluster,
            placement=PLACEMENT,
            manifest=make.manifest_of(body),
            wave=0,
            reason="",
            live=live,
            force=force,
            resource_version=version,
            removes=removes or {},
        )

    def delete(self, key: ObjectKey, uid: str, *, wave: int = 0) -> Delete:
        """In the background: in the foreground a real server needs a garbage collector to come to an end."""
        return Delete(
            cluster=self.cluster,
            placement=PLACEMENT,
            key=key,
            uid=uid,
            wave=wave,
            reason="",
            propagation=PropagationPolicy.BACKGROUND,
            permit=permit(self.cluster, key),
        )

    def have(self, *bodies: JsonObject) -> list[LiveObject]:
        """Put objects on the cluster, one wave each."""
        outcomes = self.client.perform([self.create(body, wave=wave) for wave, body in enumerate(bodies)])
        assert all(outcome.ok for outcome in outcomes), outcomes
        return [found for outcome in outcomes if (found := outcome.live) is not None]

    def see(self, key: ObjectKey) -> LiveObject | None:
        answer = self.client.observe([key], probe=False)
        assert answer.reachable and not answer.unreadable, answer
        return answer.live[key]

    def must_see(self, key: ObjectKey) -> LiveObject:
        live = self.see(key)
        assert live is not None, f"{key} is not there"
        return live

    def eventually(self, holds: Callable[[], bool]) -> None:
        for _ in range(1200):  # two minutes where waiting is real
            if holds():
                return
            self.wait()
        assert holds()


def short(outcomes: Sequence[Outcome]) -> list[tuple[bool, str]]:
    return [(outcome.ok, outcome.code) for outcome in outcomes]


class ClusterContract:
    """The promises of gitfleet/ports/clusters.py, one test each."""

    def test_absent_objects_and_kinds_are_none(self, bench: ClusterBench) -> None:
        keys = [
            ObjectKey("", "v1", "ConfigMap", "nowhere", "cm"),
            ObjectKey("", "v1", "Namespace", "", "nowhere"),
            ObjectKey("absent.example.com", "v1", "Gadget", "default", "g"),
        ]
        answer = bench.client.observe(keys, probe=False)
        assert (answer.cluster, answer.reachable, answer.error) == (bench.cluster, True, "")
        assert (dict(answer.live), dict(answer.unreadable)) == (dict.fromkeys(keys), {})

    def test_probe_tells_namespaces(self, bench: ClusterBench) -> None:
        name = bench.fresh()
        bench.have(make.namespace(name))
        answer = bench.client.observe([], probe=True)
        assert answer.healthy and answer.namespaces is not None
        assert {name, "default", "kube-system"} <= set(answer.namespaces)
        assert bench.client.observe([], probe=False).namespaces is None

    def test_waves_order_the_work_and_outcomes_keep_the_order_given(self, bench: ClusterBench) -> None:
        home = bench.fresh()
        data, space = make.config_map(home, "cm", {"k": "v"}), make.namespace(home)
        operations = [bench.create(data, wave=1, needs=(key_of(space),)), bench.create(space, wave=0)]
        outcomes = bench.client.perform(operations)
        assert [outcome.operation for outcome in outcomes] == operations
        assert short(outcomes) == [(True, "Applied"), (True, "Applied")]
        live = outcomes[0].live
        assert live is not None and live.key == key_of(data)
        assert live.body["data"] == {"k": "v"} and live.uid and live.resource_version
        assert bench.must_see(key_of(data)).body == live.body

    def test_applying_again_changes_nothing(self, bench: ClusterBench) -> None:
        home = bench.fresh()
        body = make.deployment(home, "web", replicas=2)
        bench.have(make.namespace(home), body)
        bench.eventually(lambda: is_quiet(bench, key_of(body)))
        before = bench.must_see(key_of(body))
        outcomes = bench.client.perform([bench.create(body), bench.update(body, before)])
        assert short(outcomes) == [(True, "Applied")] * 2
        assert bench.must_see(key_of(body)).resource_version == before.resource_version

    def test_generation_counts_changes_of_the_spec_alone(self, bench: ClusterBench) -> None:
        home = bench.fresh()
        body = make.deployment(home, "web")
        live = bench.have(make.namespace(home), body)[1]
        assert live.generation == 1
        bench.have(make.deployment(home, "web", labels={"team": "a"}))
        assert bench.must_see(live.key).generation == 1
        bench.have(make.deployment(home, "web", image="web:2"))
        after = bench.must_see(live.key)
        assert (after.generation, after.uid) == (2, live.uid)

    def test_dropped_fields_go_and_fields_of_others_stay(self, bench: ClusterBench) -> None:
        home = bench.fresh()
        live = bench.have(make.namespace(home), make.config_map(home, "cm", {"ours": "1", "dropped": "1"}))[1]
        bench.by_hand(live.key, [{"op": "add", "path": "/data/theirs", "value": "1"}])
        bench.have(make.config_map(home, "cm", {"ours": "2"}))
        assert bench.must_see(live.key).body["data"] == {"ours": "2", "theirs": "1"}

    def test_list_items_are_merged_by_name(self, bench: ClusterBench) -> None:
        home = bench.fresh()
        body = make.deployment(home, "web")
        live = bench.have(make.namespace(home), body)[1]
        sidecar = {"name": "proxy", "image": "proxy:1"}
        bench.by_hand(live.key, [{"op": "add", "path": "/spec/template/spec/containers/-", "value": sidecar}])
        bench.have(make.deployment(home, "web", image="web:2"))
        pods = bench.must_see(live.key).body["spec"]["template"]["spec"]
        assert {c["name"]: c["image"] for c in pods["containers"]} == {"web": "web:2", "proxy": "proxy:1"}

    def test_drift_is_undone_by_force_only(self, bench: ClusterBench) -> None:
        home = bench.fresh()
        body = make.config_map(home, "cm", {"k": "wanted"})
        live = bench.have(make.namespace(home), body)[1]
        bench.by_hand(live.key, [{"op": "replace", "path": "/data/k", "value": "drift"}])
        (refused,) = bench.client.perform([bench.update(body, live, force=False)])
        assert (refused.ok, refused.code, refused.live, refused.retry) == (False, "Conflict", None, False)
        assert refused.message
        assert bench.must_see(live.key).body["data"] == {"k": "drift"}
        assert short(bench.client.perform([bench.update(body, live)])) == [(True, "Applied")]
        assert bench.must_see(live.key).body["data"] == {"k": "wanted"}

    def test_a_stale_resource_version_is_a_conflict(self, bench: ClusterBench) -> None:
        home = bench.fresh()
        live = bench.have(make.namespace(home), make.config_map(home, "cm", {"k": "1"}))[1]
        bench.by_hand(live.key, [{"op": "add", "path": "/data/other", "value": "1"}])
        wanted = make.config_map(home, "cm", {"k": "2"})
        (refused,) = bench.client.perform([bench.update(wanted, live, version=live.resource_version)])
        assert (refused.ok, refused.code, refused.retry) == (False, "Conflict", True)
        newest = bench.must_see(live.key)
        (done,) = bench.client.perform([bench.update(wanted, newest, version=newest.resource_version)])
        assert done.ok and bench.must_see(live.key).body["data"] == {"k": "2", "other": "1"}

    def test_an_update_never_makes_or_takes_another_object(self, bench: ClusterBench) -> None:
        home = bench.fresh()
        body = make.config_map(home, "cm", {"k": "1"})
        live = bench.have(make.namespace(home), body)[1]
        bench.client.perform([bench.delete(live.key, live.uid)])
        bench.eventually(lambda: bench.see(live.key) is None)
        (refused,) = bench.client.perform([bench.update(body, live)])
        assert (refused.ok, refused.code, refused.retry) == (False, "Conflict", True)
        assert bench.see(live.key) is None
        bench.have(make.config_map(home, "cm", {"k": "2"}))
        (refused,) = bench.client.perform([bench.update(body, live)])
        # A real server says Invalid (metadata.uid is immutable), the simulated one Conflict.
        assert not refused.ok and refused.live is None
        assert bench.must_see(live.key).body["data"] == {"k": "2"}

    def test_a_create_changes_nothing_of_what_somebody_made_in_between(self, bench: ClusterBench) -> None:
        home = bench.fresh()
        bench.have(make.namespace(home))
        bench.by_another(make.config_map(home, "cm", {"theirs": "1"}), "somebody")
        bench.by_another(make.deployment(home, "web"), "somebody")
        ours = (make.config_map(home, "cm", {"ours": "1"}), make.deployment(home, "web", image="web:2"))
        refused = bench.client.perform([bench.create(body) for body in ours])
        assert [(one.ok, one.code, one.retry, one.message) for one in refused] == [
            (False, "Conflict", True, KubeText.MADE_SOMEBODY_ELSE_BETWEEN()) for body in ours
        ]
        assert bench.must_see(key_of(ours[0])).body["data"] == {"theirs": "1"}
        found = [bench.must_see(key_of(body)).body for body in ours]
        assert [{entry["manager"] for entry in managed_entries(body)} - CONTROLLERS for body in found] == [
            {"somebody"}
        ] * 2
        assert found[1]["spec"]["template"]["spec"]["containers"][0]["image"] == "web:1"

    def test_what_an_update_removes_goes_though_another_applied_it_too(self, bench: ClusterBench) -> None:
        home = bench.fresh()
        bench.have(make.namespace(home), make.config_map(home, "cm", {"kept": "1", "gone": "1"}))
        bench.by_another(make.config_map(home, "cm", {"gone": "1", "theirs": "1"}), "another")
        wanted, gone = make.config_map(home, "cm", {"kept": "1"}), cast(JsonObject, {"f:data": {"f:gone": {}}})
        before = bench.must_see(key_of(wanted))
        bench.by_hand(before.key, [{"op": "add", "path": "/data/later", "value": "1"}])
        changed = bench.must_see(before.key)
        (refused,) = bench.client.perform([bench.update(wanted, before, version=before.resource_version, removes=gone)])
        assert (refused.ok, refused.code, refused.retry) == (False, "Conflict", True)
        assert bench.must_see(before.key) == changed
        (done,) = bench.client.perform([bench.update(wanted, before, removes=gone)])
        assert done.ok and done.operation == bench.update(wanted, before, removes=gone)
        after = bench.must_see(before.key)
        assert after.body["data"] == {"kept": "1", "theirs": "1", "later": "1"}
        assert {entry["manager"]: entry["fieldsV1"] for entry in managed_entries(after.body)} == {
            "gitfleet": {"f:data": {"f:kept": {}}},
            "another": {"f:data": {"f:theirs": {}}},
            "kubectl-edit": {"f:data": {"f:later": {}}},
        }
        locked = bench.update(
            make.config_map(home, "cm", {}), after, version=after.resource_version,
            removes={"f:data": {"f:kept": {}, "f:later": {}}},
        )  # fmt: skip
        assert short(bench.client.perform([locked])) == [(True, "Applied")]
        assert bench.must_see(before.key).body["data"] == {"theirs": "1"}

    def test_what_an_update_removes_of_an_object_that_was_replaced_stays(self, bench: ClusterBench) -> None:
        home = bench.fresh()
        live = bench.have(make.namespace(home), make.config_map(home, "cm", {"k": "1", "gone": "1"}))[1]
        bench.by_hand(live.key, [{"op": "replace", "path": "/data/gone", "value": "2"}])
        seen = bench.must_see(live.key)
        bench.client.perform([bench.delete(live.key, live.uid)])
        bench.eventually(lambda: bench.see(live.key) is None)
        update = bench.update(make.config_map(home, "cm", {"k": "1"}), seen, removes={"f:data": {"f:gone": {}}})
        assert [(one.ok, one.code) for one in bench.client.perform([update])] in (
            [(False, "Conflict")],
            [(False, "NotFound")],
        )
        bench.by_another(make.config_map(home, "cm", {"gone": "3"}), "another")
        assert short(bench.client.perform([update])) == [(False, "Conflict")]
        assert bench.must_see(live.key).body["data"] == {"gone": "3"}

    def test_a_create_that_was_carried_out_before_is_carried_out_again(self, bench: ClusterBench) -> None:
        home = bench.fresh()
        live = bench.have(make.namespace(home), make.config_map(home, "cm", {"k": "1"}))[1]
        (done,) = bench.client.perform([bench.create(make.config_map(home, "cm", {"k": "2"}))])
        assert done.ok and done.live is not None and done.live.uid == live.uid
        assert bench.must_see(live.key).body["data"] == {"k": "2"}

    def test_a_missing_namespace_stops_only_what_needs_it(self, bench: ClusterBench) -> None:
        home, absent = bench.fresh(), bench.fresh()
        bench.have(make.namespace(home))
        missing = key_of(make.namespace(absent))
        outcomes = bench.client.perform(
            [
                bench.create(make.config_map(absent, "cm"), wave=1, needs=(missing,)),
                bench.create(make.config_map(absent, "cm"), wave=1),
                bench.create(make.config_map(home, "cm"), wave=2),
            ]
        )
        assert short(outcomes) == [(False, "NeedsNamespace"), (False, "NeedsNamespace"), (True, "Applied")]
        assert outcomes[0].retry and outcomes[1].retry

    def test_custom_objects_need_their_definition(self, bench: ClusterBench) -> None:
        home = bench.fresh()
        group = f"{bench.fresh()}.example.com"
        definition = make.custom_definition(group, "Widget")
        widget = make.an_object(f"{group}/v1", "Widget", "w", namespace=home, spec={"size": 1})
        bench.have(make.namespace(home))
        early = bench.client.perform([bench.create(widget, wave=2, needs=(key_of(definition),)), bench.create(widget)])
        assert [(outcome.ok, outcome.code, outcome.retry) for outcome in early] == [(False, "NeedsCRD", True)] * 2
        together = [bench.create(widget, wave=2, needs=(key_of(definition),)), bench.create(definition, wave=1)]
        bench.eventually(lambda: all(outcome.ok for outcome in bench.client.perform(together)))
        live = bench.must_see(key_of(widget))
        assert (live.body["spec"], live.generation) == ({"size": 1}, 1)

    def test_what_the_server_refuses_for_good_is_not_retried(self, bench: ClusterBench) -> None:
        home = bench.fresh()
        body = make.deployment(home, "web")
        bench.have(make.namespace(home), body)
        changed: dict[str, Any] = make.deployment(home, "web")
        changed["spec"]["selector"] = {"matchLabels": {"app": "other"}}
        changed["spec"]["template"]["metadata"]["labels"] = {"app": "other"}
        refused, done = bench.client.perform([bench.create(changed), bench.create(make.config_map(home, "cm"), wave=1)])
        assert (refused.ok, refused.code, refused.retry) == (False, "Invalid", False)
        assert done.ok

    def test_delete_keeps_to_the_uid(self, bench: ClusterBench) -> None:
        home = bench.fresh()
        live = bench.have(make.namespace(home), make.config_map(home, "cm"))[1]
        (refused,) = bench.client.perform([bench.delete(live.key, "11111111-2222-3333-4444-555555555555")])
        assert (refused.ok, refused.code) == (False, "Conflict")
        assert bench.must_see(live.key).uid == live.uid
        (done,) = bench.client.perform([bench.delete(live.key, live.uid)])
        assert (done.ok, done.code, done.live) == (True, "Deleted", None)
        bench.eventually(lambda: bench.see(live.key) is None)
        assert short(bench.client.perform([bench.delete(live.key, live.uid)])) == [(True, "NotFound")]

    def test_finalizers_hold_a_deleted_object(self, bench: ClusterBench) -> None:
        home = bench.fresh()
        held = make.config_map(home, "cm")
        held["metadata"]["finalizers"] = ["example.com/hold"]
        live = bench.have(make.namespace(home), held)[1]
        assert short(bench.client.perform([bench.delete(live.key, live.uid)])) == [(True, "Deleting")]
        assert bench.must_see(live.key).body["metadata"]["deletionTimestamp"]
        bench.by_hand(live.key, [{"op": "remove", "path": "/metadata/finalizers"}])
        bench.eventually(lambda: bench.see(live.key) is None)

    def test_a_secret_is_kept_as_data(self, bench: ClusterBench) -> None:
        home = bench.fresh()
        live = bench.have(make.namespace(home), make.secret(home, "s", {"word": "open"}))[1]
        assert live.body["data"] == {"word": "b3Blbg=="}
        assert "stringData" not in bench.must_see(live.key).body
        bench.have(make.secret(home, "s", {"other": "shut"}))
        assert bench.must_see(live.key).body["data"] == {"other": "c2h1dA=="}

    def test_services_get_an_address(self, bench: ClusterBench) -> None:
        home = bench.fresh()
        live = bench.have(make.namespace(home), make.service(home, "web"))[1]
        assert live.body["spec"]["clusterIP"] == live.body["spec"]["clusterIPs"][0] != ""
        bench.have(make.service(home, "web", port=81))
        assert bench.must_see(live.key).body["spec"]["clusterIP"] == live.body["spec"]["clusterIP"]

    def test_no_operations_no_outcomes(self, bench: ClusterBench) -> None:
        assert list(bench.client.perform([])) == []


def is_quiet(bench: ClusterBench, key: ObjectKey) -> bool:
    """Whether controllers have stopped writing to an object, as far as one can see."""
    before = bench.must_see(key).resource_version
    bench.wait()
    return bench.must_see(key).resource_version == before
