"""What clusters are asked for full comparisons: each content of an object once, and what was refused again after a
while."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from gitfleet import reconcile, workload
from gitfleet.api.clusters import MemberCluster
from gitfleet.apply import Pair, PlansMemo, Question
from gitfleet.fleet.fanout import Fanout
from gitfleet.fleet.texts import FleetText
from gitfleet.formats.sentences import named_briefly
from gitfleet.formats.sops import is_sops_encrypted
from gitfleet.model.decisions import Decision, Inputs
from gitfleet.model.observations import ClusterObservation, DryRun, DryRuns
from gitfleet.model.operations import Operation

MOST_AT_ONCE: Final = 100
"""Dry runs of one cluster before deciding, and before planning; the next pass goes on."""
ASKED_AGAIN_AFTER: Final = timedelta(minutes=10)
_ENCRYPTED: Final = FleetText.VALUES_ENCRYPTED_NO_SERVER_ASKED()
_LEFT: Final = FleetText.SERVER_FILLED_NOT_KNOWN_ALL()
_Observations = Mapping[str, ClusterObservation]
_Members = Mapping[str, MemberCluster]
_Questions = Mapping[str, Mapping[Pair, Question]]
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DryRunCache:
    """Deciding with what clusters answered. What is kept only saves requests: the answers by cluster, and since when
    one was refused. `rollouts` has the workload handlers that are installed."""

    rollouts: workload.RolloutsLoader = field(default_factory=workload.RolloutsLoader)
    _answers: dict[str, DryRuns] = field(default_factory=dict)
    _refused: dict[tuple[str, Pair], datetime] = field(default_factory=dict)

    def with_dry_runs(self, observations: _Observations, now: datetime) -> dict[str, ClusterObservation]:
        """The observations with what is known of each cluster."""
        for name, pair in [at for at, since in self._refused.items() if now - since >= ASKED_AGAIN_AFTER]:
            del self._refused[name, pair]
            self._answers[name] = {key: answer for key, answer in self._answers.get(name, {}).items() if key != pair}
        return {
            name: replace(observation, dry_runs=self._answers[name]) if self._answers.get(name) else observation
            for name, observation in observations.items()
        }

    def decide(
        self, fanout: Fanout, inputs: Inputs, memo: reconcile.Memo, plugins: reconcile.Plugins
    ) -> tuple[Decision, reconcile.Memo]:
        """`reconcile.decide`, again where clusters had to be asked."""
        decision, memo = reconcile.decide(inputs, memo, plugins, self.rollouts)
        clusters = {**inputs.before.clusters, **inputs.desired.clusters}
        answered = self._with_answers(fanout, clusters, memo.plans, inputs)
        return (decision, memo) if answered is inputs else reconcile.decide(answered, memo, plugins, self.rollouts)

    def plan_operations(
        self, fanout: Fanout, decision: Decision, newly_observed: _Observations, memo: reconcile.Memo
    ) -> tuple[Decision, tuple[Operation, ...], reconcile.Memo]:
        """`reconcile.plan_operations`, again where clusters had to be asked: these count as observed again. What was
        never asked about waits for the next pass; whatever came of a question, it is asked no more."""
        planned = reconcile.plan_operations(decision, newly_observed, memo, self.rollouts)
        seen, clusters = planned[0].inputs, decision.after.clusters
        answered = self._with_answers(fanout, clusters, planned[2].plans, seen)
        if answered is seen:
            return planned
        inputs = replace(decision.inputs, observations=answered.observations)
        decided, operations, memo = reconcile.plan_operations(
            replace(decision, inputs=inputs), newly_observed, planned[2], self.rollouts
        )
        before, after = decision.inputs.observations, answered.observations
        again = {name for name in after if name not in before or after[name].dry_runs is not before[name].dry_runs}
        unanswered = sorted(
            name
            for name, questions in _questions(clusters, memo.plans, answered).items()
            if not questions.keys() <= self._answers.get(name, {}).keys()
        )
        waiting = (*decided.waiting, *([_LEFT.format(named_briefly(unanswered, 3))] if unanswered else ()))
        decided = replace(decided, observed_again=decided.observed_again | again, waiting=waiting)
        return decided, operations, memo

    def _with_answers(self, fanout: Fanout, clusters: _Members, plans: PlansMemo, inputs: Inputs) -> Inputs:
        """The inputs with the answers to the plans' questions; the very same where there are none."""
        seen, questions = inputs.observations, _questions(clusters, plans, inputs)
        if not questions:
            return inputs
        first = {name: self._first_of(name, of_cluster) for name, of_cluster in questions.items()}
        return replace(inputs, observations=self.answered(fanout, clusters, first, seen, inputs.now))

    def _first_of(self, name: str, questions: Mapping[Pair, Question]) -> Mapping[Pair, Question]:
        """What was never asked about comes first: objects that change in each pass keep no other one waiting."""
        answered = self._answers.get(name, {})
        return dict(sorted(questions.items(), key=lambda question: question[0] in answered)[:MOST_AT_ONCE])

    def answered(
        self, fanout: Fanout, clusters: _Members, questions: _Questions, seen: _Observations, now: datetime
    ) -> dict[str, ClusterObservation]:
        """The observations with the answers to questions by cluster."""
        plain = {name: [q for q in pairs.values() if not _is_encrypted(q)] for name, pairs in questions.items()}
        answers = fanout.dry_run(clusters, {name: asked_of for name, asked_of in plain.items() if asked_of})
        for name, of_cluster in questions.items():
            fresh = iter(answers.get(name, ()))
            new = {
                pair: DryRun(question[1].body, None, _ENCRYPTED) if _is_encrypted(question) else next(fresh)
                for pair, question in of_cluster.items()
            }
            self._note(name, new, seen[name], now)
        return self.with_dry_runs(seen, now)

    def _note(self, name: str, new: DryRuns, observation: ClusterObservation, now: datetime) -> None:
        """Keep the answers, and those before of objects that are still there."""
        uids = {live.uid for live in observation.live.values() if live is not None}
        retained = {pair: answer for pair, answer in self._answers.get(name, {}).items() if pair[0] in uids}
        self._answers[name] = {**retained, **new}
        for pair, answer in new.items():
            self._refused.pop((name, pair), None)
            if answer.body is None:
                self._refused[name, pair] = now
                log.warning("%s: %s", name, answer.error)


def _questions(clusters: _Members, plans: PlansMemo, inputs: Inputs) -> _Questions:
    """What plans ask of each cluster; those that nobody observed are not asked either."""
    observed = {name for name, seen in inputs.observations.items() if seen.observed} & clusters.keys()
    questions = {name: planned.request.compared.questions for name, planned in plans.items() if name in observed}
    return {name: of_cluster for name, of_cluster in questions.items() if of_cluster}


def _is_encrypted(question: Question) -> bool:
    return is_sops_encrypted(question[0].body)
