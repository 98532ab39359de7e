"""What people say to the approval requests of staged update runs, by the fleet's policy.

asked_of_people   what the requests ask, for whoever looks up how approvals were given
verdict_on        what the approvals of a request come to
uncounted         the warnings of those that do not
wrong_approvals   the warnings of those that answer nothing, of holds too
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from gitfleet import approvals, removals
from gitfleet.api.faults import Fault
from gitfleet.api.holds import Hold
from gitfleet.api.runs import ApprovalRequest, RunRecord
from gitfleet.api.values import NamespacedName
from gitfleet.model.approvals import Asked, Verdict
from gitfleet.model.decisions import Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState
from gitfleet.reconcile.run_changes import changes_of
from gitfleet.rollout import staged


def verdict_on(request: ApprovalRequest, inputs: Inputs) -> Verdict:
    """What the approvals of a request come to together, by the fleet's policy."""
    desired, question = inputs.desired, staged.asked(request)
    answers = approvals.given(question, desired.approvals_by_request)
    return approvals.judge(question, answers, inputs.approvals, desired.config.approvals, inputs.now)


def uncounted(inputs: Inputs, runs: Mapping[NamespacedName, RunRecord]) -> Iterator[Fault]:
    """A warning for each approval of a stage that counts for nothing, while its request waits."""
    for request in inputs.before.approvals.values():
        if _waits(request, runs):
            verdict = verdict_on(request, inputs)
            yield from verdict.faults if verdict.answer is None else ()


def _waits(request: ApprovalRequest, runs: Mapping[NamespacedName, RunRecord]) -> bool:
    run = runs.get(request.run)
    return request.answer is None and run is not None and not run.finished


def wrong_approvals(holds: Iterable[Hold], before: FleetState, desired: Desired) -> Iterator[Fault]:
    """A warning for each approval that answers none of the holds and of the stages' requests, while one waits that it
    may be meant for."""
    questions = [(removals.asked(hold), hold.answer is None) for hold in holds]
    questions += [(staged.asked(request), _waits(request, before.runs)) for request in before.approvals.values()]
    return approvals.wrong_approvals(questions, desired.approvals, desired.approvals_by_request)


def asked_of_people(before: FleetState, desired: Desired) -> Iterator[Asked]:
    """What those requests of runs ask that people have said something to, with the change that is approved."""
    for request in before.approvals.values():
        run, question = before.runs.get(request.run), staged.asked(request)
        if run is not None and not request.accepted and approvals.given(question, desired.approvals_by_request):
            yield replace(question, changes=changes_of(run, before, desired))
