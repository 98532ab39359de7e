"""The single rules of this package, each on the raw part of a file that it judges: what the conformance runner calls.

Each gives the sentences of what is wrong, none when the part is sound. They are the rules of `read_desired`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gitfleet.api import dotted, read, read_state
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.objects import JsonObject, JsonValue
from gitfleet.api.overrides import ClusterResourceOverride, patch_path_break
from gitfleet.api.placements import PlacementPolicy, PlacementType, Toleration
from gitfleet.api.staged import DisruptionBudget
from gitfleet.api.strategies import RolloutStrategy
from gitfleet.desired.updates import policy_update_break, removed_tolerations


def check_policy(policy: JsonObject) -> list[str]:
    """A placement's `spec.policy`."""
    return _sentences(PlacementPolicy, policy)


def check_strategy(strategy: JsonObject) -> list[str]:
    """A placement's `spec.strategy` (decision D1: a budget of zero is a fault)."""
    return _sentences(RolloutStrategy, strategy)


def check_override_policy(policy: JsonObject) -> list[str]:
    """An override's `spec.policy`."""
    spec = {"clusterResourceSelectors": [{"group": "", "version": "v1", "kind": "Namespace", "name": "any"}]}
    return _sentences_of_spec(ClusterResourceOverride, {**spec, "policy": policy})


def check_patch_path(path: str) -> list[str]:
    """The path of one patch of an override."""
    sentence = patch_path_break(path)
    return [sentence] if sentence else []


def check_taints(taints: Sequence[JsonObject]) -> list[str]:
    """A MemberCluster's `spec.taints`."""
    return _sentences_of_spec(MemberCluster, {"taints": list(taints)})


def check_disruption_budget(placement_type: str, budget: JsonObject) -> list[str]:
    """A disruption budget's `spec`, beside the type of the placement that it protects."""
    value, breaks = read(DisruptionBudget, _document(budget))
    if value is not None:
        breaks = list(value.breaks_beside(placement_type))
    return [f"{dotted(location)}: {sentence}" for location, sentence in breaks]


def check_tolerations_update(old: Sequence[JsonObject], new: Sequence[JsonObject]) -> list[str]:
    """An edit of tolerations, which may only be added."""
    gone = removed_tolerations([_toleration(item) for item in old], [_toleration(item) for item in new])
    return [f"the toleration of {toleration.key or 'every key'} is gone or changed" for toleration in gone]


def check_policy_type_update(old: JsonObject | None, new: JsonObject | None) -> list[str]:
    """An edit of the policy's type or presence; only `placementType` of each is looked at."""
    sentence = policy_update_break(_typed(old), _typed(new))
    return [sentence] if sentence else []


def _sentences(declaration: type, raw: JsonValue) -> list[str]:
    _, breaks = read(declaration, raw)
    return [f"{dotted(location)}: {sentence}" for location, sentence in breaks]


def _sentences_of_spec(declaration: type, spec: JsonObject) -> list[str]:
    return _sentences(declaration, _document(spec))


def _document(spec: JsonObject) -> JsonObject:
    return {"apiVersion": "", "kind": "", "metadata": {"name": "any"}, "spec": spec}


def _toleration(raw: JsonObject) -> Toleration:
    return read_state(Toleration, dict(raw))


def _typed(policy: Any) -> PlacementPolicy | None:
    if policy is None:
        return None
    return PlacementPolicy(placement_type=PlacementType(policy.get("placementType") or "PickAll"))
