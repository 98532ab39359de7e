"""A Helm release on real drivers with the real helm: what was rendered is placed, and what cannot be rendered keeps
what was there."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitfleet.adapters.helm import HelmProgram
from gitfleet.api.texts import ApiText
from gitfleet.payload.texts import PayloadText
from tests.builders import member_cluster, namespace, pick_fixed, placement
from tests.payload.test_helm import CHART, CONFIG, CRD, OWN, WIDGET, chart, release
from tests.payload.test_kustomize_rollout import BuiltWorld
from tests.texts import part

VALUES = f"{CHART}/values.yaml"
FAILING = {"config": '{{ fail "size is needed" }}', "more": CONFIG.replace("-settings", "-more")}


@pytest.fixture
def world(helm: Path, monkeypatch: pytest.MonkeyPatch) -> BuiltWorld:
    """A release with two ConfigMaps on one cluster."""
    monkeypatch.setenv("PATH", f"{helm.parent}:/usr/bin:/bin")
    world = BuiltWorld(renderer=HelmProgram())
    world.commit(member_cluster("eu-1"), namespace("shop"), placement("shop", policy=pick_fixed("eu-1")))
    world.roll_out(files={OWN: release(), **chart(config=CONFIG, more=CONFIG.replace("-settings", "-more"))})
    assert sizes(world) == ["small", "small"]
    return world


def sizes(world: BuiltWorld) -> list[str | None]:
    """What the two ConfigMaps say on the cluster."""
    bodies = [world.live("eu-1", "ConfigMap", name) for name in ("web-settings", "web-more")]
    return [body["data"]["size"] if body else None for body in bodies]


BREAKS: dict[str, dict[str, str | None]] = {
    "a template fails": dict(chart(**FAILING)),
    "the chart is gone": {f"{CHART}/Chart.yaml": None},
    "a kind that nobody knows": {VALUES: "size: large\n", f"{CHART}/templates/more.yaml": WIDGET},
    PayloadText.OBJECT_WITHOUT_NAME(): {
        f"{CHART}/templates/more.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n"
    },
}  # fmt: skip


@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.parametrize("broken", BREAKS)
def test_what_cannot_be_rendered_takes_nothing_away_and_goes_on_when_it_is_healed(
    world: BuiltWorld, broken: str, restarts: bool
) -> None:
    with world.nothing_deleted():
        world.write(BREAKS[broken])
        if restarts:
            world.restart()
        world.settle()
        assert sizes(world) == ["small", "small"]
        assert OWN in {fault.path for fault in world.state().faults}
        world.restart()
        world.roll_out(namespace("beside"))
        assert (sizes(world), world.state().holds) == (["small", "small"], {})
    whole = {OWN: release(), **chart(config=CONFIG, more=CONFIG.replace("-settings", "-more"))}
    world.roll_out(files={**whole, VALUES: "size: large\n"})
    assert (sizes(world), world.state().faults) == (["large", "large"], ())


def test_a_new_value_is_rolled_out_and_a_restart_is_not(world: BuiltWorld) -> None:
    world.roll_out(files={VALUES: "size: large\n"})
    assert sizes(world) == ["large", "large"]
    before = world.state_commits()
    world.restart()
    world.settle()
    assert world.state_commits() == before


@pytest.mark.parametrize("name", ["resources/app/gitfleet-helm.yml", "resources/app/release.yaml"])
def test_a_release_file_of_another_name_is_an_error_and_takes_nothing_away(world: BuiltWorld, name: str) -> None:
    with world.nothing_deleted():
        world.roll_out(files={OWN: None, name: release()})
        world.roll_out(files={"docs/a.md": "text"})
        assert sizes(world) == ["small", "small"]
        assert [
            fault.path for fault in world.state().faults if part(ApiText.READ_ONLY_FILE_NAMED_FOLDER) in fault.message
        ] == [name]
        world.roll_out(files={OWN: release(), name: None})
    assert (world.state().faults, world.state().holds) == ((), {})


def test_a_release_beside_a_chart_that_loses_its_file_keeps_what_it_placed(world: BuiltWorld) -> None:
    inside = {OWN: release().replace("../../charts/web", ".")}
    here = {path.replace(CHART, "resources/app"): text for path, text in chart(config=CONFIG).items()}
    world.roll_out(files={**inside, **here, "resources/app/templates/more.yaml": CONFIG.replace("-settings", "-more")})
    with world.nothing_deleted():
        world.roll_out(files={OWN: None})
        world.restart()
        world.settle()
    assert sizes(world) == ["small", "small"]
    assert [fault.path for fault in world.state().faults] == ["resources/app/Chart.yaml"]


def test_crds_that_a_release_begins_to_skip_are_not_deleted_before_a_person_says_so(world: BuiltWorld) -> None:
    by_name = {"group": "apiextensions.k8s.io", "version": "v1", "kind": "CustomResourceDefinition"}
    world.commit(placement("crds", policy=pick_fixed("eu-1"), selectors=[by_name]))
    world.roll_out(
        files={f"{CHART}/crds/w.yaml": CRD.replace("SCOPE", "Namespaced"), f"{CHART}/templates/w.yaml": WIDGET}
    )
    with world.nothing_deleted():
        world.roll_out(files={OWN: release("  skipCrds: true\n")})
    assert len(world.state().holds) == 1
    assert world.live("eu-1", "CustomResourceDefinition", "widgets.acme.example.com", namespace="") is not None
