"""invariant 2: a commit with faults takes nothing away, lets its sound changes through, and says what is wrong
where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pytest
import yaml

from gitfleet.api.faults import Fault
from gitfleet.views.texts import ViewsText
from tests import builders
from tests.builders import to_yaml
from tests.scenarios.world import World
from tests.texts import part

CLUSTERS = ("c1", "c2", "c3")
WEB_DEPLOYMENT = "resources/web/deployment-web.yaml"
WEB_PLACEMENT = "placements/web.yaml"
OVERRIDE = "overrides/web-greeting.yaml"


def override(name: str, path: str = "/data/greeting") -> dict[str, object]:
    """A ResourceOverride of the ConfigMap `settings` in `web`, for every cluster."""
    patch = {"op": "replace", "path": path, "value": "hello from ${MEMBER-CLUSTER-NAME}"}
    return builders.override(name, "ConfigMap/settings", builders.override_rule(patch), placement={"name": "web"})


PLACEMENT = builders.placement("web", policy=builders.pick_n(2), strategy=builders.rolling_update(maxUnavailable=1))


def settled_world() -> World:
    """Three clusters; `web` with an override on two of them, `other` on all."""
    world = World()
    world.roll_out(
        *(builders.member_cluster(name) for name in CLUSTERS),
        builders.namespace("web"),
        builders.deployment("web", "web"),
        builders.config_map("web", "settings", {"greeting": "hello"}),
        PLACEMENT,
        override("greeting"),
        builders.namespace("other"),
        builders.config_map("other", "settings", {"version": "1"}),
        builders.placement("other"),
    )
    assert world.state().faults == ()
    return world


def sound_change(version: str) -> dict[str, str]:
    """A change of something else, to be let through."""
    return {
        "resources/other/configmap-settings.yaml": to_yaml(
            builders.config_map("other", "settings", {"version": version})
        )
    }


@dataclass(frozen=True)
class Case:
    """A faulty commit: its files (None: removed), the fault's place and code, and the commit that corrects it."""

    files: Mapping[str, str | None]
    path: str
    line: int
    field: str
    code: str
    correction: Mapping[str, str | None]


def yaml_lines(text: str, needle: str) -> int:
    """The 1-based line on which something stands first."""
    return next(number for number, line in enumerate(text.splitlines(), 1) if needle in line)


_DEPLOYMENT_2 = to_yaml(builders.deployment("web", "web", image="web:2"))
_BAD_YAML = _DEPLOYMENT_2.replace("spec:\n  replicas: 1", "spec:\n  replicas: [1", 1)
_WRONG_TYPE = _DEPLOYMENT_2.replace("  replicas: 1", "  replicas: three", 1)
_UNKNOWN = to_yaml(PLACEMENT).replace("    numberOfClusters: 2", "    numberOfClusters: 2\n    numberOfClustrs: 3")
_FORBIDDEN = to_yaml(override("greeting", path="/metadata/name"))
_SECOND = to_yaml(override("second"))
_HOMELESS = to_yaml(builders.an_object("v1", "ConfigMap", "homeless", data={"a": "b"}))
_TWICE = to_yaml(builders.deployment("web", "web", image="web:9"))
_FIXED = to_yaml(builders.placement("web", policy=builders.pick_fixed("c3")))
_GOOD_PLACEMENT = to_yaml(PLACEMENT)

CASES = {
    "bad YAML": Case(
        files={WEB_DEPLOYMENT: _BAD_YAML},
        path=WEB_DEPLOYMENT,
        line=8,
        field="",
        code="CANNOT_READ_FILE",
        correction={WEB_DEPLOYMENT: _DEPLOYMENT_2},
    ),
    "a field of a wrong type": Case(
        files={WEB_DEPLOYMENT: _WRONG_TYPE},
        path=WEB_DEPLOYMENT,
        line=yaml_lines(_WRONG_TYPE, "replicas"),
        field="spec.replicas",
        code="MUST_INTEGER_BITS",
        correction={WEB_DEPLOYMENT: _DEPLOYMENT_2},
    ),
    "unknown field": Case(
        files={WEB_PLACEMENT: _UNKNOWN},
        path=WEB_PLACEMENT,
        line=yaml_lines(_UNKNOWN, "numberOfClustrs"),
        field="spec.policy.numberOfClustrs",
        code="NOT_KNOWN_FIELD",
        correction={WEB_PLACEMENT: _GOOD_PLACEMENT},
    ),
    "forbidden patch path": Case(
        files={"overrides/web-greeting.yaml": _FORBIDDEN},
        path=OVERRIDE,
        line=yaml_lines(_FORBIDDEN, "/metadata/name"),
        field="spec.policy.overrideRules[0].jsonPatchOverrides[0].path",
        code="NO_PATH_OF_PATCH",
        correction={OVERRIDE: to_yaml(override("greeting"))},
    ),
    "two overrides on one resource": Case(
        files={"overrides/web-second.yaml": _SECOND},
        path="overrides/web-second.yaml",
        line=yaml_lines(_SECOND, "- group:"),
        field="spec.resourceSelectors[0]",
        code="SELECTS_RESOURCE_ALREADY_OVERRIDES",
        correction={"overrides/web-second.yaml": None},
    ),
    "namespaced object without namespace": Case(
        files={"resources/web/homeless.yaml": _HOMELESS},
        path="resources/web/homeless.yaml",
        line=yaml_lines(_HOMELESS, "metadata"),
        field="metadata.namespace",
        code="PAYLOAD_NEEDS_NAMESPACE",
        correction={"resources/web/homeless.yaml": None},
    ),
    "duplicate objects": Case(
        files={"resources/web/again.yaml": _TWICE},
        path="resources/web/again.yaml",
        line=1,
        field="",
        code="DEFINED_SECOND_TIME",
        correction={"resources/web/again.yaml": None},
    ),
    "placementType changed": Case(
        files={WEB_PLACEMENT: _FIXED},
        path=WEB_PLACEMENT,
        line=yaml_lines(_FIXED, "placementType"),
        field="spec.policy.placementType",
        code="CANNOT_CHANGE_FROM",
        correction={WEB_PLACEMENT: _GOOD_PLACEMENT},
    ),
    "a faulty file that is new": Case(
        files={"placements/new.yaml": "kind: ClusterResourcePlacement\nmetadata: {name: new\n"},
        path="placements/new.yaml",
        line=2,
        field="",
        code="CANNOT_READ_FILE",
        correction={"placements/new.yaml": to_yaml(builders.placement("new", "other"))},
    ),
    "a cluster that cannot be read": Case(
        files={"clusters/c1.yaml": f"apiVersion: {builders.CLUSTER_API}\nkind: MemberCluster\nmetadata:\n\tname: c1\n"},
        path="clusters/c1.yaml",
        line=4,
        field="",
        code="CANNOT_READ_FILE",
        correction={"clusters/c1.yaml": to_yaml(builders.member_cluster("c1"))},
    ),
}


@pytest.mark.table("mutations")
@pytest.mark.parametrize("name", CASES)
def test_a_faulty_commit_takes_nothing_away_and_its_sound_part_goes_on(name: str) -> None:
    """The last good version is found by a process that never saw the commit that had it; once the fault is corrected
    all goes on where it stopped."""
    case, world = CASES[name], settled_world()
    before = {cluster: world.live(cluster, "Deployment", "web") for cluster in CLUSTERS}
    placed = world.bindings("web")
    with world.nothing_deleted():
        world.roll_out(files={**case.files, **sound_change("2")})
        (fault,) = errors(world)
        assert (fault.path, fault.line, fault.field, fault.code) == (case.path, case.line, case.field, case.code), fault
        assert str(fault).startswith(f"{case.path}:{fault.line}: ")
        reported = yaml.safe_load(world.state_text("faults.yaml"))["items"]
        assert {one["path"] for one in reported if one.get("severity", "error") == "error"} == {case.path}
        readme = world.state_text("README.md")
        assert f"{case.path}:" in readme and part(ViewsText.ERRORS_WARNINGS) in readme
        assert [e for e in world.events if e.type == "fault" and e.fields["path"] == case.path]
        world.write(sound_change("3"))
        world.restart()
        world.settle()
        assert [one.path for one in errors(world)] == [case.path]
        commits = world.state_commits()
        world.restart()
        world.settle()
        assert world.state_commits() == commits
        for cluster in CLUSTERS:
            assert world.live(cluster, "ConfigMap", "settings") is not None
            after = world.live(cluster, "Deployment", "web")
            assert (after or {}).get("spec") == (before[cluster] or {}).get("spec")
            assert world.body(cluster, "ConfigMap", "settings", "other")["data"] == {"version": "3"}
        assert {c: b.state for c, b in world.bindings("web").items()} == {c: b.state for c, b in placed.items()}
        world.roll_out(files=dict(case.correction))
    assert (world.state().faults, world.state_text("faults.yaml")) == ((), "")
    wanted = "web:2" if _DEPLOYMENT_2 in case.correction.values() else "web:1"
    assert [world.image(c) for c in CLUSTERS if world.image(c) is not None] == [wanted] * 2
    assert all(b.applied_snapshot == b.resource_snapshot for b in world.bindings("web").values())


def errors(world: World) -> list[Fault]:
    return [fault for fault in world.state().faults if fault.severity == "error"]


def test_a_fault_in_the_very_first_commit_lets_the_rest_through() -> None:
    world = World()
    world.commit(
        builders.member_cluster("c1"),
        builders.namespace("web"),
        builders.deployment("web", "web"),
        builders.placement("web"),
    )
    world.roll_out(files={"placements/broken.yaml": "a: [1\n"})
    assert world.image("c1") == "web:1"
    assert [fault.path for fault in world.state().faults] == ["placements/broken.yaml"]


def test_removing_a_broken_file_removes_what_it_held() -> None:
    """A fault protects; a removal that is written down as one is obeyed."""
    world = settled_world()
    world.commit(builders.fleet_config(removals={"approval": "Never"}))
    world.roll_out(files={WEB_PLACEMENT: "a: [1\n"})
    assert set(world.bindings("web"))
    world.roll_out(files={WEB_PLACEMENT: None})
    assert not world.bindings("web")
    assert [world.image(c) for c in CLUSTERS] == [None] * 3
