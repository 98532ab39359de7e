"""ResourcePlacement (namespaced) beside ClusterResourcePlacement, through the whole decider (kubefleet.md §1, §2, §4).

The pattern: a ClusterResourcePlacement with selectionScope NamespaceOnly brings the namespace to clusters, and its
people place what is in it by ResourcePlacements of their own.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from gitfleet.api.placements import REMOVALS, PlacementKey
from gitfleet.api.scenarios import ClusterRule, ObjectPattern
from tests import builders
from tests.members.plays import Played, condition_in, member, pick_all, play_bodies, remove, write

TEAM = "team-a"


def content(name: str, kind: str = "ConfigMap", *, namespace: str = TEAM, **parts: Any) -> dict[str, Any]:
    """A ResourcePlacement of one object (or by other selectors)."""
    group = {"Deployment": "apps"}.get(kind, "")
    selectors = parts.pop("selectors", [{"group": group, "version": "v1", "kind": kind, "name": name}])
    return builders.an_object(
        builders.PLACEMENT_API,
        "ResourcePlacement",
        name,
        namespace=namespace,
        spec={"resourceSelectors": selectors, **parts},
    )


def space(scope: str = "NamespaceOnly", policy: dict[str, Any] | None = None, **parts: Any) -> list[dict[str, Any]]:
    """The namespace, and the ClusterResourcePlacement of its administrators."""
    selector = {**builders.select_namespace(TEAM), "selectionScope": scope}
    return [builders.namespace(TEAM), builders.placement("spaces", selectors=[selector], policy=policy, **parts)]


def config(name: str, value: str = "1", **parts: Any) -> dict[str, Any]:
    return builders.config_map(TEAM, name, {"k": value}, **parts)


FLEET = [member("a", env="prod"), member("b", env="prod"), member("c", env="test")]


def test_the_namespace_comes_first_and_its_content_follows() -> None:
    played = play_bodies([*FLEET, *space(), config("one"), config("two"), content("one")])
    assert played.placed("spaces") == played.placed(f"{TEAM}/one") == {"a", "b", "c"}
    for cluster in "abc":
        assert played.live(cluster, "Namespace", TEAM) is not None
        assert played.live(cluster, "ConfigMap", "one") is not None
        assert played.live(cluster, "ConfigMap", "two") is None  # NamespaceOnly: not selected by anybody
        owners = {str(e.placement) for e in played.state.inventory[cluster].values()}
        assert owners == {"spaces", f"{TEAM}/one"}


def test_its_status_has_a_file_and_words_of_its_own() -> None:
    played = play_bodies([*FLEET, *space(), config("one"), content("one")])
    assert f"placements/{TEAM}/one.yaml" in played.play.repo.files("gitfleet/state")
    document = played.shown(f"{TEAM}/one")
    assert (document["kind"], document["metadata"]["namespace"]) == ("ResourcePlacement", TEAM)
    status = document["status"]
    assert [(c["type"], c["status"]) for c in status["conditions"]] == [
        (f"ResourcePlacement{type_}", "True")
        for type_ in ("Scheduled", "RolloutStarted", "Overridden", "WorkSynchronized", "Applied", "Available")
    ]
    assert [(s["kind"], s["namespace"], s["name"]) for s in status["selectedResources"]] == [("ConfigMap", TEAM, "one")]
    assert [s["clusterName"] for s in status["placementStatuses"]] == ["a", "b", "c"]
    assert "placements/spaces.yaml" in played.play.repo.files("gitfleet/state")


def test_pick_n_looks_on_until_its_namespace_is_somewhere() -> None:
    two = {"placementType": "PickN", "numberOfClusters": 2}
    bodies = [*FLEET, builders.namespace(TEAM), config("one"), content("one", policy=two)]
    before = play_bodies(bodies)
    assert before.placed(f"{TEAM}/one") == set()
    assert before.condition(f"{TEAM}/one")[:2] == ("False", "SchedulingPolicyUnfulfilled")
    after = play_bodies(bodies, *write(60, space()[1]))
    assert after.placed(f"{TEAM}/one") == {"b", "c"}
    assert after.condition(f"{TEAM}/one")[:2] == ("True", "SchedulingPolicyFulfilled")


def test_pick_fixed_does_not_ask_for_the_namespace_and_waits_for_it() -> None:
    fixed = {"placementType": "PickFixed", "clusterNames": ["c"]}
    bodies = [*FLEET, *space(policy=pick_all(env="prod")), config("one"), content("one", policy=fixed)]
    waiting = play_bodies(bodies, max_time=timedelta(minutes=5))
    assert waiting.placed(f"{TEAM}/one") == {"c"}
    assert waiting.live("c", "ConfigMap", "one") is None
    assert waiting.condition(f"{TEAM}/one", "Applied")[0] == "False"
    came = play_bodies(bodies, *write(60, member("c", env="prod")), max_time=timedelta(minutes=5))
    assert came.live("c", "ConfigMap", "one") is not None


def test_two_of_one_name_in_two_namespaces_are_two() -> None:
    other = builders.namespace("team-b")
    theirs = builders.config_map("team-b", "one", {"k": "b"})
    both = builders.placement(
        "both",
        selectors=[{**builders.select_namespace(n), "selectionScope": "NamespaceOnly"} for n in (TEAM, "team-b")],
    )
    policy = {"placementType": "PickFixed", "clusterNames": ["a"]}
    mine = content("one", policy=policy)
    mine["metadata"]["annotations"] = {REMOVALS: "Never"}
    bodies = [*FLEET, builders.namespace(TEAM), other, both, config("one"), theirs, mine]
    played = play_bodies([*bodies, content("one", namespace="team-b")])
    assert played.placed(f"{TEAM}/one") == {"a"}
    assert played.placed("team-b/one") == {"a", "b", "c"}
    assert {key for key in played.state.placements if key.namespace} == {
        PlacementKey(TEAM, "one"),
        PlacementKey("team-b", "one"),
    }
    gone = play_bodies([*bodies, content("one", namespace="team-b")], remove(60, mine))
    assert gone.live("a", "ConfigMap", "one") is not None
    assert {e.key.namespace for e in gone.state.inventory["a"].values() if e.key.kind == "ConfigMap"} == {"team-b"}


# Rollout and overrides


def override(name: str, value: str, *, placement: dict[str, str] | None = None, **labels: str) -> dict[str, Any]:
    rule = builders.override_rule({"op": "replace", "path": "/data/k", "value": value}, labels=labels)
    spec = {} if placement is None else {"placement": placement}
    return builders.override(name, "ConfigMap/one", rule, namespace=TEAM, **spec)


def values(played: Played) -> dict[str, str | None]:
    found = {cluster: played.live(cluster, "ConfigMap", "one") for cluster in "abc"}
    return {cluster: body["data"]["k"] if body else None for cluster, body in found.items()}


def test_a_resource_override_changes_it_on_some_clusters() -> None:
    played = play_bodies([*FLEET, *space(), config("one"), content("one"), override("o", "prod", env="prod")])
    assert values(played) == {"a": "prod", "b": "prod", "c": "1"}
    bindings = played.bindings(f"{TEAM}/one")
    assert bindings["a"].resource_overrides == (f"{TEAM}/o-0",)
    assert bindings["c"].resource_overrides == ()
    status = played.shown(f"{TEAM}/one")["status"]["placementStatuses"]
    reasons = {s["clusterName"]: condition_in(s["conditions"], "Overridden")[1] for s in status}
    assert reasons == {"a": "OverriddenSucceeded", "b": "OverriddenSucceeded", "c": "NoOverrideSpecified"}


def test_it_is_rolled_out_under_its_own_budget() -> None:
    strategy = builders.rolling_update(maxUnavailable=1, unavailablePeriodSeconds=5)
    web = builders.deployment(TEAM, "web", "web:1")
    bad = builders.deployment(TEAM, "web", "web:bad")
    rules = [ClusterRule(object=ObjectPattern(kind="Deployment", image="*:bad"), available="never")]
    bodies = [*FLEET, *space(), web, content("web", "Deployment", strategy=strategy), config("one"), content("one")]
    played = play_bodies(bodies, *write(60, bad), *write(300, config("one", "2")), rules=rules)
    images = [
        body["spec"]["template"]["spec"]["containers"][0]["image"]
        for body in (played.live(c, "Deployment", "web") for c in "abc")
        if body
    ]
    assert sorted(images) == ["web:1", "web:1", "web:bad"]
    assert values(played) == {"a": "2", "b": "2", "c": "2"}  # another placement's trouble is not its own
    assert played.condition(f"{TEAM}/web", "RolloutStarted")[:2] == ("False", "RolloutNotStartedYet")
