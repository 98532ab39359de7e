"""What a decision depends on, and what it is: values that go in and out of the decider."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from gitfleet.api.objects import ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.snapshots import OverrideSnapshot
from gitfleet.api.values import NamespacedName
from gitfleet.model.approvals import FactsByApproval
from gitfleet.model.calls import Answers, Call
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Failure
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.operations import Outcome, RefusedStep, RolloutWrite
from gitfleet.model.removals import RemovalGate
from gitfleet.model.rolling import RolloutPlan
from gitfleet.model.rollout_fields import RolloutFieldsByCluster
from gitfleet.model.state import FleetState
from gitfleet.model.works import Work


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """All that a decision depends on (invariant 6). A cluster without an observation was not observed: nothing is known
    of it."""

    desired: Desired
    before: FleetState
    observations: Mapping[str, ClusterObservation]
    now: datetime
    approvals: FactsByApproval | None = None
    """How the approvals came to the watched branch that may answer a request; None where nobody could look."""
    answers: Answers = field(default_factory=dict)
    """What came of the calls that earlier decisions asked for."""
    refused: tuple[RefusedStep, ...] = ()
    """The steps of workload rollouts that the pass before tried and could not carry out."""

    @property
    def has_news(self) -> bool:
        """Whether anything came of what earlier decisions asked for."""
        return bool(self.answers or self.refused)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The state to be published as intent, the works of each cluster behind it, and the rollout plans that explain it.

    `seen_works` are the works that the observations were compared with, `observed_again` the clusters that were
    observed a second time, for objects that nobody owns yet, or asked what they filled in. `wake_at` is when time
    alone may change the decision, None when time changes nothing. `failures` are what could not be decided;
    `overrides` are the newest snapshots of the commit's overrides that can be read.
    """

    inputs: Inputs
    after: FleetState
    works: Mapping[str, tuple[Work, ...]] = field(default_factory=dict)
    seen_works: Mapping[str, tuple[Work, ...]] = field(default_factory=dict)
    plans: Mapping[PlacementKey, RolloutPlan] = field(default_factory=dict)
    wake_at: datetime | None = None
    observed_again: frozenset[str] = frozenset()
    failures: tuple[Failure, ...] = ()
    overrides: tuple[OverrideSnapshot, ...] = ()
    waiting: tuple[str, ...] = ()
    """What waits beside the rollouts, in a sentence each."""
    asks: tuple[str, ...] = ()
    """What only a person can let go on beside the rollouts of placements, in a sentence each."""
    asking: frozenset[tuple[str, NamespacedName]] = frozenset()
    """The workload rollouts that wait for a person or a gate, each with its cluster."""
    steps: tuple[RolloutWrite, ...] = ()
    """What workload rollouts do on clusters."""
    calls: tuple[Call, ...] = ()
    """What is to be asked of webhooks and metric providers, once this is published."""
    by_rollouts: RolloutFieldsByCluster = field(default_factory=dict)
    """What applying leaves to workload rollouts."""
    gate: RemovalGate = RemovalGate()
    """Which orphans may be deleted."""

    def touched(self, outcomes: Iterable[Outcome]) -> dict[str, ClusterObservation]:
        """The observations of clusters on which something was done or is wanted otherwise than when they were observed,
        and of those where objects were seen that were not there to be judged before."""
        names = {outcome.operation.cluster for outcome in outcomes} | self.observed_again
        names |= {name for name in self.inputs.observations if self.works.get(name) != self.seen_works.get(name)}
        return {name: observation for name, observation in self.inputs.observations.items() if name in names}

    def unseen(self) -> dict[str, tuple[ObjectKey, ...]]:
        """For each cluster that answers, the keys of its works that nobody has observed in this reconcile."""
        unread: dict[str, tuple[ObjectKey, ...]] = {}
        for name, works in self.works.items():
            observation = self.inputs.observations.get(name)
            if observation is None or not observation.reachable:
                continue
            live, unreadable = observation.live, observation.unreadable
            keys = (manifest.key for work in works for manifest in work.manifests)
            missing = {key for key in keys if key not in live and key not in unreadable}
            if missing:
                unread[name] = tuple(sorted(missing))
        return unread
