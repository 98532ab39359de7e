"""An error stays in its file: whatever happens to one file of a good repo, the objects of all others are the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gitfleet.api.faults import is_error
from gitfleet.api.snapshots import OverrideSnapshot
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState, PlacementRecord
from tests import builders
from tests.desired.commits import read
from tests.profiles import examples

LATER = "2099-01-01T00:00:00Z"
RULE = builders.override_rule({"op": "add", "path": "/data/b", "value": "x"}, labels={"env": "prod"})
METRIC = {"name": "m", "metricsRange": {"max": 1}, "templateRef": {"name": "error-rate"}}
TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "app"}
GOOD = {
    "gitfleet.yaml": builders.to_yaml(builders.fleet_config(interval="90s")),
    "clusters/eu.yaml": builders.to_yaml(builders.member_cluster("eu", labels={"env": "prod"})),
    "clusters/us.yaml": builders.to_yaml(builders.member_cluster("us", labels={"env": "prod"})),
    "placements/web.yaml": builders.to_yaml(
        builders.placement("web", policy={"placementType": "PickFixed", "clusterNames": ["eu", "us"]})
    ),
    "placements/rest.yaml": builders.to_yaml(builders.placement("shop"), builders.placement("tree", "tree")),
    "overrides/all.yaml": builders.to_yaml(builders.override("a", "ConfigMap/a", RULE)),
    "overrides/more.yaml": builders.to_yaml(builders.override("b", "ConfigMap/b", RULE)),
    "strategies/slow.yaml": builders.to_yaml(builders.staged_strategy("slow", builders.stage("canary"))),
    "runs/go.yaml": builders.to_yaml(builders.staged_run("go", placement="web", strategy="slow")),
    "budgets/shop.yaml": builders.to_yaml(builders.placement_budget("shop", minAvailable=1)),
    "freezes/friday.yaml": builders.to_yaml(builders.freeze("friday", LATER, scope={"placements": ["shop"]})),
    "rollouts/app.yaml": builders.to_yaml(
        builders.an_object(
            "standard.oam.dev/v1alpha1",
            "RolloutTrait",
            "app",
            namespace="web",
            spec={"targetRef": TARGET, "rolloutPlan": {"numBatches": 2, "canaryMetric": [METRIC]}},
        )
    ),
    "metrics/errors.yaml": builders.to_yaml(builders.metric_template(query="errors")),
    "resources/app.yaml": builders.to_yaml(builders.deployment("web", "app", replicas=None)),
    "resources/web.yaml": builders.to_yaml(
        builders.namespace("web"), *(builders.config_map("web", name, {"a": name}) for name in "abc")
    ),
    "resources/shop.yaml": builders.to_yaml(builders.namespace("shop"), builders.config_map("shop", "a", {"a": "b"})),
    "resources/custom.yaml": builders.to_yaml(
        builders.namespace("tree"), builders.an_object("t.example/v1", "Tree", "oak", namespace="tree")
    ),
    "resources/more.yaml": builders.to_yaml(
        builders.an_object("t.example/v1", "Tree", "elm", namespace="tree"), builders.config_map("web", "d", {"a": "d"})
    ),
}


def accepted(desired: Desired) -> FleetState:
    """The state after a commit."""
    return FleetState(
        placements={key: PlacementRecord(placement=one) for key, one in desired.placements.items()},
        clusters=desired.clusters,
        overrides={key: (OverrideSnapshot(override=one, index=0, hash=""),) for key, one in desired.overrides.items()},
    )


def objects_of(desired: Desired) -> Mapping[Any, tuple[str, Any]]:
    """Every object, with its file and what it says."""
    found: dict[Any, tuple[str, Any]] = {}
    for kind, values in desired.objects.items():
        for key, value in values.items():
            found[kind, key] = value.origin.path, replace(value, origin=None)
    return found | {one.key.identity: (one.origin.path, one.digest) for one in desired.payload if one.origin}


BEFORE = read(GOOD)
STATE, THERE = accepted(BEFORE), objects_of(BEFORE)
WORDS = ["a", "web", "shop", "eu", "x", "7", "ConfigMap", "Namespace", "null", "[", ": ", "-", "#", "---\n", "\n", "\t"]


@st.composite
def mutations(draw: st.DrawFn) -> tuple[str, str | None]:
    """A file, and what becomes of it; None where it is deleted."""
    path = draw(st.sampled_from(sorted(GOOD)))
    lines = GOOD[path].splitlines(keepends=True)
    at = draw(st.integers(0, len(lines) - 1))
    match draw(st.sampled_from(["delete", "line", "word", "twice", "comment", "end", "copy", "insert"])):
        case "delete":
            return path, None
        case "line":
            lines[at : at + draw(st.integers(1, 3))] = []
        case "word":
            word = draw(st.sampled_from(lines[at].split() or [""]))
            lines[at] = lines[at].replace(word, draw(st.sampled_from(WORDS)), 1)
        case "twice":
            lines = [*lines, "---\n", *lines]
        case "comment":
            lines[at:] = [f"#{line}" for line in lines[at:]]
        case "end":
            del lines[at:]
        case "copy":
            return path, GOOD[draw(st.sampled_from(sorted(GOOD)))]
        case _:
            lines.insert(at, draw(st.sampled_from(WORDS)))
    return path, "".join(lines)


@given(mutations())
@settings(max_examples=examples(150))
def test_a_mutation_of_one_file_changes_at_most_the_objects_of_that_file(mutation: tuple[str, str | None]) -> None:
    path, text = mutation
    files = {**GOOD, path: text} if text is not None else {p: t for p, t in GOOD.items() if p != path}
    found = objects_of(read(files, before=GOOD, accepted=STATE))
    assert {key: one for key, one in found.items() if key in THERE and THERE[key][0] != path} == {
        key: one for key, one in THERE.items() if one[0] != path
    }
    assert {found[key][0] for key in found.keys() - THERE.keys()} <= {path}


def test_the_repo_is_good() -> None:
    assert not [fault for fault in BEFORE.faults if is_error(fault)] and len(THERE) > 20
