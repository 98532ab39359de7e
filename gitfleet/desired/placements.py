"""Placement files become `gitfleet.api.placements` values; fields left out take the model's defaults."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gitfleet.api.objects import JsonObject, Origin
from gitfleet.api.placements import (
    ApplyStrategy,
    ApplyStrategyType,
    ClusterAffinity,
    ClusterSelectorTerm,
    ComparisonOption,
    DeletePropagation,
    Placement,
    PlacementKey,
    PlacementPolicy,
    PlacementType,
    PreferredTerm,
    PropertyRequirement,
    PropertySorter,
    ResourceSelector,
    RollingUpdate,
    RolloutStrategy,
    RolloutStrategyType,
    SelectionScope,
    Toleration,
    TopologySpreadConstraint,
    WhenToApply,
    WhenToTakeOver,
)
from gitfleet.desired.breaks import Break
from gitfleet.desired.placement_files import PlacementShape, PolicyShape, StrategyShape
from gitfleet.desired.placement_shapes import (
    AffinityShape,
    ClusterSelectorTermShape,
    ResourceSelectorShape,
    RollingUpdateShape,
    TolerationShape,
)


def placement_of(shape: PlacementShape, body: JsonObject, origin: Origin) -> Placement:
    """The placement; `body` is the document without status."""
    spec = shape.spec
    return Placement(
        key=PlacementKey(shape.metadata.namespace or "", shape.metadata.name),
        selectors=tuple(_selector(selector) for selector in spec.resource_selectors),
        policy=policy_of(spec.policy) if spec.policy is not None else None,
        strategy=strategy_of(spec.strategy) if spec.strategy is not None else RolloutStrategy(),
        **_given(
            revision_history_limit=spec.revision_history_limit, status_reporting_scope=spec.status_reporting_scope
        ),
        labels=dict(shape.metadata.labels),
        annotations=dict(shape.metadata.annotations),
        body=body,
        origin=origin,
    )


def policy_of(shape: PolicyShape) -> PlacementPolicy:
    """The scheduling policy."""
    return PlacementPolicy(
        placement_type=PlacementType(shape.placement_type),
        cluster_names=tuple(shape.cluster_names),
        number_of_clusters=shape.number_of_clusters,
        affinity=_affinity(shape.affinity),
        topology_spread_constraints=tuple(
            TopologySpreadConstraint(
                topology_key=spread.topology_key,
                **_given(max_skew=spread.max_skew, when_unsatisfiable=spread.when_unsatisfiable),
            )
            for spread in shape.topology_spread_constraints
        ),
        tolerations=tuple(toleration_of(toleration) for toleration in shape.tolerations),
    )


def toleration_of(shape: TolerationShape) -> Toleration:
    """One toleration; KubeFleet's defaulter fills Equal in where the operator is empty."""
    operator = shape.operator or "Equal"
    return Toleration(key=shape.key, operator=operator, value=shape.value or "", effect=shape.effect)


def strategy_of(shape: StrategyShape) -> RolloutStrategy:
    """The rollout, apply and delete strategy."""
    apply = shape.apply_strategy
    forced = apply.server_side_apply_config.force if apply and apply.server_side_apply_config else False
    return RolloutStrategy(
        type=RolloutStrategyType(shape.type),
        rolling_update=_rolling_update(shape.rolling_update),
        apply_strategy=ApplyStrategy(
            **_given(
                type=apply.type and ApplyStrategyType(apply.type),
                comparison_option=apply.comparison_option and ComparisonOption(apply.comparison_option),
                when_to_apply=apply.when_to_apply and WhenToApply(apply.when_to_apply),
                when_to_take_over=apply.when_to_take_over and WhenToTakeOver(apply.when_to_take_over),
            ),
            allow_co_ownership=apply.allow_co_ownership,
            force_conflicts=forced,
        )
        if apply is not None
        else ApplyStrategy(),
        **_given(
            delete_propagation_policy=DeletePropagation(shape.delete_strategy.propagation_policy)
            if shape.delete_strategy and shape.delete_strategy.propagation_policy
            else None
        ),
    )


def cluster_term_of(shape: ClusterSelectorTermShape) -> ClusterSelectorTerm:
    """One term over labels and properties."""
    requirements = shape.property_selector.match_expressions if shape.property_selector else []
    sorter = shape.property_sorter
    return ClusterSelectorTerm(
        label_selector=shape.label_selector.to_model() if shape.label_selector else None,
        property_requirements=tuple(PropertyRequirement(r.name, r.operator, tuple(r.values)) for r in requirements),
        property_sorter=PropertySorter(sorter.name, sorter.sort_order) if sorter else None,
    )


def placement_warnings(shape: PlacementShape) -> Iterator[Break]:
    """What is allowed but hardly meant (decision D1)."""
    rolling = shape.spec.strategy.rolling_update if shape.spec.strategy else None
    if rolling is not None and rolling.max_surge in (0, "0%", "00%"):
        sentence = "is zero, so a placement leaves a cluster before it reaches the next; raise it unless that is meant"
        yield ("spec", "strategy", "rollingUpdate", "maxSurge"), sentence


def _selector(shape: ResourceSelectorShape) -> ResourceSelector:
    scope = SelectionScope(shape.selection_scope) if shape.selection_scope else None
    return ResourceSelector(
        group=shape.group,
        version=shape.version,
        kind=shape.kind,
        name=shape.name,
        label_selector=shape.label_selector.to_model() if shape.label_selector else None,
        **_given(selection_scope=scope),
    )


def _affinity(shape: AffinityShape | None) -> ClusterAffinity:
    affinity = shape.cluster_affinity if shape else None
    if affinity is None:
        return ClusterAffinity()
    required = affinity.required_during_scheduling_ignored_during_execution
    return ClusterAffinity(
        required=tuple(cluster_term_of(term) for term in (required.cluster_selector_terms if required else [])),
        preferred=tuple(
            PreferredTerm(preferred.weight, cluster_term_of(preferred.preference))
            for preferred in affinity.preferred_during_scheduling_ignored_during_execution
        ),
    )


def _rolling_update(shape: RollingUpdateShape | None) -> RollingUpdate:
    if shape is None:
        return RollingUpdate()
    return RollingUpdate(
        **_given(
            max_unavailable=shape.max_unavailable,
            max_surge=shape.max_surge,
            unavailable_period_seconds=shape.unavailable_period_seconds,
        )
    )


def _given(**fields: Any) -> dict[str, Any]:
    """The fields that were written, so that the model's own defaults fill in the rest."""
    return {name: value for name, value in fields.items() if value is not None}
