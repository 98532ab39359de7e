"""Rollout and apply strategies in KubeFleet's field names, every default written out as an API server would."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitfleet.api.objects import JsonObject
from gitfleet.api.placements import (
    ApplyStrategy,
    ApplyStrategyType,
    ComparisonOption,
    DeletePropagation,
    RollingUpdate,
    RolloutStrategy,
    RolloutStrategyType,
    WhenToApply,
    WhenToTakeOver,
)
from gitfleet.state.shapes.fields import amount_at, choice_at, flag_at, int_at, mapping_at


def apply_strategy_object(strategy: ApplyStrategy) -> JsonObject:
    """ApplyStrategy; `serverSideApplyConfig` only where it means something."""
    fields: dict[str, Any] = {
        "type": strategy.type.value,
        "comparisonOption": strategy.comparison_option.value,
        "whenToApply": strategy.when_to_apply.value,
        "whenToTakeOver": strategy.when_to_take_over.value,
        "allowCoOwnership": strategy.allow_co_ownership,
    }
    if strategy.type is ApplyStrategyType.SERVER_SIDE_APPLY or strategy.force_conflicts:
        fields["serverSideApplyConfig"] = {"force": strategy.force_conflicts}
    return fields


def read_apply_strategy(source: Mapping[str, Any]) -> ApplyStrategy:
    """ApplyStrategy back; an absent one is the default."""
    default = ApplyStrategy()
    if not source:
        return default
    return ApplyStrategy(
        type=choice_at(source, "type", ApplyStrategyType, default.type),
        comparison_option=choice_at(source, "comparisonOption", ComparisonOption, default.comparison_option),
        when_to_apply=choice_at(source, "whenToApply", WhenToApply, default.when_to_apply),
        when_to_take_over=choice_at(source, "whenToTakeOver", WhenToTakeOver, default.when_to_take_over),
        allow_co_ownership=flag_at(source, "allowCoOwnership"),
        force_conflicts=flag_at(mapping_at(source, "serverSideApplyConfig"), "force"),
    )


def strategy_object(strategy: RolloutStrategy) -> JsonObject:
    """RolloutStrategy; an External one shows no budget unless it carries one."""
    rolling = strategy.rolling_update
    fields: dict[str, Any] = {
        "type": strategy.type.value,
        "applyStrategy": apply_strategy_object(strategy.apply_strategy),
        "deleteStrategy": {"propagationPolicy": strategy.delete_propagation_policy.value},
    }
    if not strategy.external or rolling != RollingUpdate():
        fields["rollingUpdate"] = {
            "maxSurge": rolling.max_surge,
            "maxUnavailable": rolling.max_unavailable,
            "unavailablePeriodSeconds": rolling.unavailable_period_seconds,
        }
    return fields


def read_strategy(source: Mapping[str, Any]) -> RolloutStrategy:
    """RolloutStrategy back."""
    default = RolloutStrategy()
    limits = default.rolling_update
    rolling = mapping_at(source, "rollingUpdate")
    return RolloutStrategy(
        type=choice_at(source, "type", RolloutStrategyType, default.type),
        rolling_update=RollingUpdate(
            max_unavailable=amount_at(rolling, "maxUnavailable", limits.max_unavailable),
            max_surge=amount_at(rolling, "maxSurge", limits.max_surge),
            unavailable_period_seconds=int_at(rolling, "unavailablePeriodSeconds", limits.unavailable_period_seconds),
        ),
        apply_strategy=read_apply_strategy(mapping_at(source, "applyStrategy")),
        delete_propagation_policy=choice_at(
            mapping_at(source, "deleteStrategy"),
            "propagationPolicy",
            DeletePropagation,
            default.delete_propagation_policy,
        ),
    )
