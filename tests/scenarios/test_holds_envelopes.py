"""Objects inside envelopes count as placed objects: what a commit takes out of one may wait for a person too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gitfleet.api.holds import HoldRule
from tests import builders
from tests.scenarios.test_holds import CLUSTERS, answer, only_hold
from tests.scenarios.world import World

INNER = tuple(f"inner-{number}" for number in range(1, 5))
API = "placement.kubernetes-fleet.io/v1beta1"


def objects_named(*names: str) -> list[dict[str, Any]]:
    return [builders.config_map("web", name, {"key": "value"}) for name in names]


def config_map(*names: str) -> dict[str, Any]:
    texts = {f"{found['metadata']['name']}.yaml": builders.to_yaml(found) for found in objects_named(*names)}
    return builders.config_map("web", "bundle", texts, annotations={"kubernetes-fleet.io/envelope-configmap": "true"})


def resource_envelope(*names: str) -> dict[str, Any]:
    data = {f"{found['metadata']['name']}.yaml": found for found in objects_named(*names)}
    return {**builders.an_object(API, "ResourceEnvelope", "bundle", namespace="web"), "data": data}


def settled(envelope: dict[str, Any]) -> World:
    world = World()
    world.commit(
        *(builders.member_cluster(name) for name in CLUSTERS), builders.namespace("web"), envelope,
        builders.placement("web"),
    )  # fmt: skip
    world.settle()
    assert placed(world) == {f"{cluster} {name}" for cluster in CLUSTERS for name in INNER}
    return world


def placed(world: World) -> set[str]:
    clusters = world.fleet.clusters.items()
    return {f"{n} {o.key.name}" for n, cluster in clusters for o in cluster.objects() if o.key.name in INNER}


@pytest.mark.parametrize("envelope", [config_map, resource_envelope])
@pytest.mark.parametrize("left", [INNER[:2], ()], ids=["half", "nothing"])
def test_what_an_envelope_loses_is_held_released_and_taken_back(envelope: Any, left: tuple[str, ...]) -> None:
    world = settled(envelope(*INNER))
    with world.nothing_deleted():
        world.commit(envelope(*left))
        world.settle()
        world.restart()
        world.settle()
        hold = only_hold(world)
    gone = set(INNER) - set(left)
    assert {removal.object.name for removal in hold.removals if removal.object} == gone
    assert hold.objects == len(gone) * len(CLUSTERS)
    assert hold.reasons[0].rule is HoldRule.MASS_DELETION
    assert "bundle" in hold.reasons[0].path
    world.write(answer(hold))
    world.settle()
    assert placed(world) == {f"{cluster} {name}" for cluster in CLUSTERS for name in left}
    world.settle()
    assert not world.state().holds


BUNDLE = "resources/web/%s-bundle.yaml"
LOSSES: dict[str, tuple[Callable[[Any, str], dict[str, str | None]], HoldRule, str, str]] = {
    "half of it": (
        lambda make, path: {path: "# Moved here\n---\n" + builders.to_yaml(make(*INNER[:2]))},
        HoldRule.MASS_DELETION, "{path}:3", "{path} has it no more",
    ),
    "its file is removed": (
        lambda make, path: {path: None}, HoldRule.MASS_DELETION, "{path}:1", "{path} was removed",
    ),
    "its file is hidden": (
        lambda make, path: {".gitfleetignore": f"# old\n{path}\n"},
        HoldRule.IGNORED_FILE, ".gitfleetignore:2", "line 2 hides {path}",
    ),
    "its file is renamed": (
        lambda make, path: {path: None, path + ".old": builders.to_yaml(make(*INNER))},
        HoldRule.IGNORED_FILE, "{path}:1", "{path} is now {path}.old, which gitfleet does not read",
    ),
    "a typing error": (
        lambda make, path: {path: "# Moved here\n---\n" + builders.to_yaml(make(*INNER[:3], "iner-4"))},
        HoldRule.LIKELY_TYPO, "{path}:3", "{path} has ConfigMap/web/iner-4 in its place",
    ),
    "all of it lies in a namespace that no placement selects": (
        lambda make, path: {path: "---\n" + builders.to_yaml(make(*INNER)).replace(": web\n", ": default\n")},
        HoldRule.LIKELY_TYPO, "{path}:2", "{path} has {kind}/default/bundle in its place",
    ),
}  # fmt: skip


@pytest.mark.parametrize("envelope", [config_map, resource_envelope])
@pytest.mark.parametrize(("edit", "rule", "place", "cause"), LOSSES.values(), ids=LOSSES)
@pytest.mark.parametrize("restarts", [False, True])
def test_what_an_envelope_loses_is_held_at_the_envelope(
    envelope: Any, edit: Any, rule: HoldRule, place: str, cause: str, restarts: bool
) -> None:
    world = settled(envelope(*INNER))
    path = BUNDLE % envelope()["kind"].lower()
    if restarts:
        world.restart()
    with world.nothing_deleted():
        world.write(edit(envelope, path))
        world.settle()
    hold = only_hold(world)
    cause = cause.format(path=path, kind=envelope()["kind"])
    assert rule in {reason.rule for reason in hold.reasons}
    assert {f"{reason.path}:{reason.line}" for reason in hold.reasons} == {place.format(path=path)}
    assert {reason.causes for reason in hold.reasons} == {cause}
    assert {removal.cause.text for removal in hold.removals} == {cause}
    for text in (None, builders.to_yaml(envelope(*INNER))):
        world.write({".gitfleetignore": None, path: text} if text else {path + ".old": None})
    world.settle()
    assert not world.state().holds and len(placed(world)) == len(INNER) * len(CLUSTERS)


def test_an_object_that_leaves_an_envelope_for_a_file_is_no_removal() -> None:
    world = settled(config_map(*INNER))
    with world.nothing_deleted():
        world.commit(config_map(), *objects_named(*INNER))
        world.settle()
    assert not world.state().holds
    assert placed(world) == {f"{cluster} {name}" for cluster in CLUSTERS for name in INNER}


def test_a_hold_on_an_envelope_is_gone_when_the_commit_is_taken_back() -> None:
    world = settled(config_map(*INNER))
    with world.nothing_deleted():
        world.commit(config_map())
        world.settle()
        assert world.state().holds
        world.commit(config_map(*INNER))
        world.settle()
    assert not world.state().holds


def test_an_object_that_moves_beside_a_held_envelope_stays_where_it_was() -> None:
    world = settled(config_map(*INNER))
    with world.nothing_deleted():
        world.commit(config_map(), *objects_named(INNER[0]))
        world.settle()
    assert placed(world) == {f"{cluster} {name}" for cluster in CLUSTERS for name in INNER}
    world.write(answer(only_hold(world)))
    world.settle()
    assert placed(world) == {f"{cluster} {INNER[0]}" for cluster in CLUSTERS}
    assert not [fault for fault in world.state().faults if fault.severity == "error"]


def test_an_envelope_that_is_selected_no_more_takes_what_it_carries_along() -> None:
    """The label is the cause for all of it, and the manifests are still there."""
    roles = {f"{name}.yaml": builders.an_object("rbac.authorization.k8s.io/v1", "ClusterRole", name) for name in INNER}
    envelope = {**builders.an_object(API, "ClusterResourceEnvelope", "bundle"), "data": roles}
    selector = {"group": API.partition("/")[0], "version": "v1beta1", "kind": envelope["kind"]}
    selectors = [builders.select_namespace("web"), {**selector, "labelSelector": {"matchLabels": {"team": "web"}}}]
    world = World()
    world.commit(
        *(builders.member_cluster(name) for name in CLUSTERS), builders.namespace("web"),
        labelled(envelope, "web"), builders.placement("web", selectors=selectors),
    )  # fmt: skip
    world.settle()
    assert len(placed(world)) == len(INNER) * len(CLUSTERS)
    with world.nothing_deleted():
        world.commit(labelled(envelope, "wbe"))
        world.settle()
    hold = only_hold(world)
    path = builders.path_of(envelope)
    line = builders.to_yaml(labelled(envelope, "wbe")).splitlines().index("    team: wbe") + 1
    text = f"{selector['kind']}/bundle in {path} has label team=wbe instead of team=web"
    assert {removal.cause.text for removal in hold.removals} == {text}
    assert {(removal.cause.path, removal.cause.line) for removal in hold.removals} == {(path, line)}
    assert HoldRule.LABELS_CHANGED in {reason.rule for reason in hold.reasons}


def labelled(body: dict[str, Any], team: str) -> dict[str, Any]:
    return {**body, "metadata": {**body["metadata"], "labels": {"team": team}}}


def test_a_config_map_that_is_no_envelope_any_more_loses_what_it_carried() -> None:
    world = settled(config_map(*INNER))
    with world.nothing_deleted():
        world.commit({**config_map(*INNER), "metadata": {"name": "bundle", "namespace": "web"}})
        world.settle()
    path = BUNDLE % "configmap"
    assert {reason.causes for reason in only_hold(world).reasons} == {f"{path} has it no more"}
    assert {removal.object.name for removal in only_hold(world).removals if removal.object} == set(INNER)
