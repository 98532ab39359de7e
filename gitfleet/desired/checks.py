"""The single rules of this package, each on the raw part of a file that it judges: what the conformance runner calls.

Each gives the sentences of what is wrong, none when the part is sound. They are the rules of `read_desired`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from gitfleet.api.objects import JsonObject, JsonValue
from gitfleet.api.placements import PlacementPolicy, PlacementType, Toleration
from gitfleet.desired.breaks import dotted, read_shape
from gitfleet.desired.clusters import MemberClusterSpecShape
from gitfleet.desired.overrides import OverridePolicyShape, patch_path_break
from gitfleet.desired.placement_files import PolicyShape, StrategyShape
from gitfleet.desired.placement_shapes import TolerationShape
from gitfleet.desired.placements import toleration_of
from gitfleet.desired.staged import BudgetSpecShape, budget_breaks
from gitfleet.desired.updates import policy_update_break, removed_tolerations


def check_policy(policy: JsonObject) -> list[str]:
    """A placement's `spec.policy`."""
    return _sentences(PolicyShape, policy)


def check_strategy(strategy: JsonObject) -> list[str]:
    """A placement's `spec.strategy` (decision D1: a budget of zero is a fault)."""
    return _sentences(StrategyShape, strategy)


def check_override_policy(policy: JsonObject) -> list[str]:
    """An override's `spec.policy`."""
    return _sentences(OverridePolicyShape, policy)


def check_patch_path(path: str) -> list[str]:
    """The path of one patch of an override."""
    sentence = patch_path_break(path)
    return [sentence] if sentence else []


def check_taints(taints: Sequence[JsonObject]) -> list[str]:
    """A MemberCluster's `spec.taints`."""
    return _sentences(MemberClusterSpecShape, {"taints": list(taints)})


def check_disruption_budget(placement_type: str, budget: JsonObject) -> list[str]:
    """A disruption budget's `spec`, beside the type of the placement that it protects."""
    shape, breaks = read_shape(BudgetSpecShape, dict(budget))
    if shape is not None:
        breaks = budget_breaks(placement_type, shape)
    return [f"{dotted(location)}: {sentence}" for location, sentence in breaks]


def check_tolerations_update(old: Sequence[JsonObject], new: Sequence[JsonObject]) -> list[str]:
    """An edit of tolerations, which may only be added."""
    gone = removed_tolerations([_toleration(item) for item in old], [_toleration(item) for item in new])
    return [f"the toleration of {toleration.key or 'every key'} is gone or changed" for toleration in gone]


def check_policy_type_update(old: JsonObject | None, new: JsonObject | None) -> list[str]:
    """An edit of the policy's type or presence; only `placementType` of each is looked at."""
    sentence = policy_update_break(_typed(old), _typed(new))
    return [sentence] if sentence else []


def _sentences(shape: type[BaseModel], raw: JsonValue) -> list[str]:
    _, breaks = read_shape(shape, raw)
    return [f"{dotted(location)}: {sentence}" for location, sentence in breaks]


def _toleration(raw: JsonObject) -> Toleration:
    return toleration_of(TolerationShape.model_validate(dict(raw)))


def _typed(policy: Any) -> PlacementPolicy | None:
    if policy is None:
        return None
    return PlacementPolicy(placement_type=PlacementType(policy.get("placementType") or "PickAll"))
