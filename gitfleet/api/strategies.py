"""Rollout and apply strategies of a placement (kubefleet.md §1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from annotated_types import Interval

from gitfleet.api.annotations import At, Break, OneOf
from gitfleet.api.objects import JsonObject
from gitfleet.api.texts import ApiText
from gitfleet.api.values import IntOrPercent, above_zero

_NO_BUDGET = ApiText.MUST_LEAST_ZERO_NO_CLUSTER()
"""Decision D1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RollingUpdate:
    """How many clusters may change at a time.

    maxUnavailable: how many clusters may be without available objects, as number or percentage
    maxSurge: how many clusters beyond the wanted number may have the objects, as number or percentage
    unavailablePeriodSeconds: how long objects whose availability cannot be seen count as unavailable
    """

    max_unavailable: Annotated[IntOrPercent, above_zero(_NO_BUDGET)] = "25%"
    max_surge: IntOrPercent = "25%"
    unavailable_period_seconds: Annotated[int, Interval(ge=0)] = 60


class ApplyStrategyType(StrEnum):
    """How a manifest reaches the member; ReportDiff compares and never writes."""

    CLIENT_SIDE_APPLY = "ClientSideApply"
    SERVER_SIDE_APPLY = "ServerSideApply"
    REPORT_DIFF = "ReportDiff"

    @property
    def only_reports(self) -> bool:
        """Whether objects are compared and never written."""
        return self is ApplyStrategyType.REPORT_DIFF

    @property
    def minds_conflicts(self) -> bool:
        """Whether fields that somebody else owns stop the apply unless it is forced."""
        return self is ApplyStrategyType.SERVER_SIDE_APPLY


class ComparisonOption(StrEnum):
    """Which fields count as a difference: those the manifest has, or all that the live object has."""

    PARTIAL = "PartialComparison"
    FULL = "FullComparison"

    @property
    def counts_every_field(self) -> bool:
        """Whether a field that only the live object has is a difference."""
        return self is ComparisonOption.FULL


class WhenToApply(StrEnum):
    """Whether drift on the member is overwritten or stops the apply."""

    ALWAYS = "Always"
    IF_NOT_DRIFTED = "IfNotDrifted"

    @property
    def stops_at_drift(self) -> bool:
        """Whether an object that drifted is left as it is."""
        return self is WhenToApply.IF_NOT_DRIFTED


class WhenToTakeOver(StrEnum):
    """What becomes of an object that was on the member before gitfleet applied it."""

    ALWAYS = "Always"
    IF_NO_DIFF = "IfNoDiff"
    NEVER = "Never"


class RolloutStrategyType(StrEnum):
    """Who moves the bindings: gitfleet by a budget, or a staged update run."""

    ROLLING_UPDATE = "RollingUpdate"
    EXTERNAL = "External"


class DeletePropagation(StrEnum):
    """What becomes of placed objects when their placement or their cluster goes (decision D15)."""

    DELETE = "Delete"
    ABANDON = "Abandon"

    @property
    def keeps_objects(self) -> bool:
        """Whether objects stay on the cluster when gitfleet lets go of them."""
        return self is DeletePropagation.ABANDON


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyStrategy:
    """How objects are applied on a cluster.

    Source: kubefleet.md §1, §6.

    type: ClientSideApply, ServerSideApply, or ReportDiff, which compares and never writes
    comparisonOption: which fields count as a difference: those of the manifest, or all that the live object has
    whenToApply: IfNotDrifted leaves an object alone that was changed on the cluster
    whenToTakeOver: what becomes of objects that were on the cluster before
    allowCoOwnership: whether other owners may own the object too
    serverSideApplyConfig.force: whether fields that somebody else owns are taken over
    """

    type: ApplyStrategyType = ApplyStrategyType.CLIENT_SIDE_APPLY
    comparison_option: ComparisonOption = ComparisonOption.PARTIAL
    when_to_apply: WhenToApply = WhenToApply.ALWAYS
    when_to_take_over: WhenToTakeOver = WhenToTakeOver.ALWAYS
    allow_co_ownership: bool = False
    force_conflicts: Annotated[bool, At("serverSideApplyConfig", "force")] = False

    def breaks_as_written(self, body: JsonObject) -> Iterator[Break]:
        """Settings of server-side apply only go with it."""
        if body.get("serverSideApplyConfig") is not None and not self.type.minds_conflicts:
            sentence = ApiText.ONLY_GOES_APPLYSTRATEGY_TYPE_SERVERSIDEAPPLY()
            yield ("serverSideApplyConfig",), sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportBackStrategy:
    """Accepted as KubeFleet declares it; it does nothing.

    type: Disabled or Mirror
    destination: where the status would be mirrored to
    """

    type: Annotated[str, OneOf("Disabled", "Mirror")] = "Disabled"
    destination: Annotated[str, OneOf("OriginalResource", "WorkAPI")] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutStrategy:
    """How changes reach the clusters, and how objects are applied and removed.

    type: RollingUpdate keeps to a budget; External leaves the rollout to staged update runs
    rollingUpdate: the budget, with RollingUpdate
    applyStrategy: how objects are applied on a cluster
    deleteStrategy.propagationPolicy: whether placed objects are deleted or kept (Abandon) when the placement ends
    reportBackStrategy: has no effect
    """

    type: RolloutStrategyType = RolloutStrategyType.ROLLING_UPDATE
    rolling_update: RollingUpdate = RollingUpdate()
    apply_strategy: ApplyStrategy = ApplyStrategy()
    delete_propagation_policy: Annotated[DeletePropagation, At("deleteStrategy", "propagationPolicy")] = (
        DeletePropagation.DELETE
    )
    report_back_strategy: ReportBackStrategy | None = None

    def breaks_as_written(self, body: JsonObject) -> Iterator[Break]:
        """External has no budget of its own."""
        if self.external and body.get("rollingUpdate") is not None:
            sentence = ApiText.NOT_GO_STRATEGY_TYPE_EXTERNAL()
            yield ("rollingUpdate",), sentence

    @property
    def external(self) -> bool:
        """Whether only a staged update run may move bindings."""
        return self.type is RolloutStrategyType.EXTERNAL
