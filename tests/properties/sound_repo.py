"""A config repo with every kind of thing in it, and no error: what `mutations` damages."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from tests import builders
from tests.builders import to_yaml

CLUSTERS: Final = ("c1", "c2", "c3")
CONFIG: Final = "gitfleet.yaml"
RUNS_LATER: Final = "runs/parts-go.yaml"
"""A run that needs its placement's clusters first, which need the namespace."""
BEAT: Final = "resources/beat/configmap-beat.yaml"
"""An object of a placement of its own: whatever is damaged elsewhere, its edits go out at once."""


def beat(value: str) -> str:
    """The text of its file."""
    return to_yaml(builders.config_map("beat", "beat", {"v": value}))


def _selector(group: str, version: str, kind: str, name: str) -> dict[str, str]:
    return {"group": group, "version": version, "kind": kind, "name": name}


def _override(name: str, namespace: str, selector: Mapping[str, str], path: str, value: Any) -> dict[str, Any]:
    term = {"labelSelector": {"matchLabels": {"zone": "a"}}}
    patch = {"op": "add", "path": path, "value": value}
    rule = {"clusterSelector": {"clusterSelectorTerms": [term]}, "jsonPatchOverrides": [patch]}
    field = "resourceSelectors" if namespace else "clusterResourceSelectors"
    spec = {field: [dict(selector)], "policy": {"overrideRules": [rule]}}
    kind = "ResourceOverride" if namespace else "ClusterResourceOverride"
    return builders.an_object(builders.PLACEMENT_API, kind, name, namespace=namespace, spec=spec)


def _shop() -> list[dict[str, Any]]:
    inner = to_yaml(builders.config_map("shop", "carried", {"a": "1"}))
    carrier = builders.config_map("shop", "carrier", {"one.yaml": inner})
    carrier["metadata"]["annotations"] = {"kubernetes-fleet.io/envelope-configmap": "true"}
    quota = builders.an_object("v1", "ResourceQuota", "limit", namespace="shop", spec={"hard": {"pods": "9"}})
    envelope = builders.an_object(
        builders.PLACEMENT_API, "ResourceEnvelope", "wrapped", namespace="shop", data={"quota": quota}
    )
    binary = builders.an_object("v1", "Secret", "keys", namespace="shop", data={"k": "aGVsbG8="}, type="Opaque")
    widget = builders.an_object("example.com/v1", "Widget", "one", namespace="shop", spec={"size": 1})
    return [
        builders.namespace("shop", labels={"team": "a"}), builders.deployment("shop", "web"), carrier, envelope,
        builders.stateful_set("shop", "db"), builders.service("shop", "web"), builders.disruption_budget("shop", "web"),
        builders.secret("shop", "texts", {"password": "hunter2"}), binary, widget, builders.job("shop", "task"),
        builders.config_map("shop", "settings", {"greeting": "hello"}),
    ]  # fmt: skip


def _cluster_wide() -> tuple[list[dict[str, Any]], dict[str, Any]]:
    rbac = "rbac.authorization.k8s.io"
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
    role = builders.an_object(f"{rbac}/v1", "ClusterRole", "reader", rules=rules)
    inner = builders.an_object(f"{rbac}/v1", "ClusterRole", "carried", rules=rules)
    envelope = builders.an_object(builders.PLACEMENT_API, "ClusterResourceEnvelope", "wide", data={"role": inner})
    placed = [builders.custom_definition("example.com", "Widget"), role, envelope]
    selectors = [
        _selector("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "widgets.example.com"),
        _selector(rbac, "v1", "ClusterRole", "reader"),
        _selector("placement.kubernetes-fleet.io", "v1beta1", "ClusterResourceEnvelope", "wide"),
    ]
    return placed, builders.placement("wide", selectors=selectors)


def _parts() -> list[dict[str, Any]]:
    """A namespace without what is in it, and a placement in it of one object, by a run in stages."""
    scoped = {**builders.select_namespace("parts"), "selectionScope": "NamespaceOnly"}
    own = builders.an_object(
        builders.PLACEMENT_API,
        "ResourcePlacement",
        "part",
        namespace="parts",
        spec={"resourceSelectors": [_selector("", "v1", "ConfigMap", "part")], "strategy": {"type": "External"}},
    )
    strategy = builders.an_object(
        builders.PLACEMENT_API,
        "StagedUpdateStrategy",
        "all",
        namespace="parts",
        spec={"stages": [builders.stage("all", approval=True)]},
    )
    run = {"placementName": "part", "stagedRolloutStrategyName": "all"}
    answer = builders.approval("go", "all")
    answer["kind"], answer["metadata"]["namespace"] = "ApprovalRequest", "parts"
    return [
        builders.namespace("parts"), builders.placement("parts", selectors=[scoped]), own, strategy, answer,
        builders.config_map("parts", "part", {"v": "1"}),
        builders.an_object(builders.PLACEMENT_API, "StagedUpdateRun", "go", namespace="parts", spec=run),
    ]  # fmt: skip


def _people() -> list[dict[str, Any]]:
    """What people say about a fleet, and holds nothing here."""
    away = {"placements": ["elsewhere"], "clusters": {"matchLabels": {"zone": "z"}}}
    return [
        builders.freeze("winter", "2027-01-01T00:00:00Z", scope=away),
        builders.freeze_override("thaw", "2027-01-01T00:00:00Z", freezes=["winter"], scope=away),
        builders.quarantine("bad", "other", "0" * 64, reason="it was bad"),
        builders.eviction("go-away", "other", "c9"),
    ]


@cache
def sound_files() -> Mapping[str, str]:
    """A config repo with every kind of thing in it, and no fault."""
    wide, wide_placement = _cluster_wide()
    staged = builders.placement("staged", strategy={"type": "External"})
    bodies = [
        *(builders.member_cluster(name, labels={"zone": "ab"[name == "c2"]}) for name in CLUSTERS),
        *_shop(), *wide, wide_placement, staged,
        builders.placement("shop", policy=builders.pick_n(2, match_labels={"zone": "a"}),
                           strategy=builders.rolling_update(maxUnavailable="50%")),
        builders.namespace("other"), builders.config_map("other", "settings", {"v": "1"}),
        builders.deployment("other", "app"), builders.placement("other"),
        builders.namespace("staged"), builders.config_map("staged", "settings", {"v": "1"}),
        builders.staged_strategy("steps", builders.stage("first", match_labels={"zone": "a"}),
                                 builders.stage("rest", match_labels={"zone": "b"}, wait="1m")),
        builders.staged_run("run-1", placement="staged", strategy="steps"),
        _override("greet", "shop", _selector("", "v1", "ConfigMap", "settings"), "/data/greeting", "hi"),
        _override("label", "", _selector("rbac.authorization.k8s.io", "v1", "ClusterRole", "reader"),
                  "/metadata/labels", {"zone": "a"}),
        builders.an_object(builders.PLACEMENT_API, "ClusterResourcePlacementDisruptionBudget", "shop",
                           spec={"minAvailable": 1}),
        builders.fleet_config(interval="30s", removals={"maxPercent": 30}, rollout={"unreachable": "Skip"}),
        *_parts(), *_people(),
        builders.namespace("beat"), builders.config_map("beat", "beat", {"v": "1"}),
        builders.placement("beat", strategy=builders.rolling_update(maxUnavailable="100%")),
    ]  # fmt: skip
    both = to_yaml(builders.config_map("other", "one", {"v": "1"}), builders.config_map("other", "two", {"v": "1"}))
    return {**builders.repo_files_for(*bodies), "resources/other/both.yaml": both}
