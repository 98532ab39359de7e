"""Rollout and apply strategies in KubeFleet's field names, every default written out as an API server would."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitfleet.model.objects import JsonObject
from gitfleet.model.placements import ApplyStrategy, RollingUpdate, RolloutStrategy
from gitfleet.report.shapes.fields import amount_at, flag_at, int_at, mapping_at, text_at


def apply_strategy_object(strategy: ApplyStrategy) -> JsonObject:
    """ApplyStrategy; `serverSideApplyConfig` only where it means something."""
    fields: dict[str, Any] = {
        "type": strategy.type,
        "comparisonOption": strategy.comparison_option,
        "whenToApply": strategy.when_to_apply,
        "whenToTakeOver": strategy.when_to_take_over,
        "allowCoOwnership": strategy.allow_co_ownership,
    }
    if strategy.type == "ServerSideApply" or strategy.force_conflicts:
        fields["serverSideApplyConfig"] = {"force": strategy.force_conflicts}
    return fields


def read_apply_strategy(source: Mapping[str, Any]) -> ApplyStrategy:
    """ApplyStrategy back; an absent one is the default."""
    default = ApplyStrategy()
    if not source:
        return default
    return ApplyStrategy(
        type=text_at(source, "type", default.type),
        comparison_option=text_at(source, "comparisonOption", default.comparison_option),
        when_to_apply=text_at(source, "whenToApply", default.when_to_apply),
        when_to_take_over=text_at(source, "whenToTakeOver", default.when_to_take_over),
        allow_co_ownership=flag_at(source, "allowCoOwnership"),
        force_conflicts=flag_at(mapping_at(source, "serverSideApplyConfig"), "force"),
    )


def strategy_object(strategy: RolloutStrategy) -> JsonObject:
    """RolloutStrategy; an External one shows no budget unless it carries one."""
    rolling = strategy.rolling_update
    fields: dict[str, Any] = {
        "type": strategy.type,
        "applyStrategy": apply_strategy_object(strategy.apply_strategy),
        "deleteStrategy": {"propagationPolicy": strategy.delete_propagation_policy},
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
    default = RollingUpdate()
    rolling = mapping_at(source, "rollingUpdate")
    return RolloutStrategy(
        type=text_at(source, "type", "RollingUpdate"),
        rolling_update=RollingUpdate(
            max_unavailable=amount_at(rolling, "maxUnavailable", default.max_unavailable),
            max_surge=amount_at(rolling, "maxSurge", default.max_surge),
            unavailable_period_seconds=int_at(rolling, "unavailablePeriodSeconds", default.unavailable_period_seconds),
        ),
        apply_strategy=read_apply_strategy(mapping_at(source, "applyStrategy")),
        delete_propagation_policy=text_at(mapping_at(source, "deleteStrategy"), "propagationPolicy", "Delete"),
    )
