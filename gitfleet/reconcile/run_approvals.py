"""What people say to the approval requests of staged update runs, by the fleet's policy.

asked_of_people   what the requests ask, for whoever looks up how approvals were given
answers_to        the answers that count, and why others do not
meant_for         the approvals that are meant for a request
uncounted         the warnings of those that do not
wrong_approvals   the warnings of those that answer nothing, of holds too
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from gitfleet import approvals, removals
from gitfleet.api.conditions import APPROVED, Condition, Reason, Status
from gitfleet.api.faults import Fault
from gitfleet.api.holds import Hold
from gitfleet.api.runs import ApprovalRequest, RunRecord
from gitfleet.api.staged import Approval
from gitfleet.api.values import NamespacedName
from gitfleet.model.approvals import Asked, Verdict
from gitfleet.model.decisions import Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState
from gitfleet.reconcile.run_changes import changes_of
from gitfleet.rollout import staged


def answers_to(
    requests: Iterable[ApprovalRequest], inputs: Inputs, unmeant: Iterable[Approval]
) -> Mapping[NamespacedName, Approval]:
    """What people's approvals come to by the fleet's policy (who, how many), or why they do not count yet.
    `unmeant` are those for no request."""
    answers: dict[NamespacedName, Approval] = {}
    for request in requests:
        verdict, question = _verdict(request, inputs), staged.asked(request)
        names = [NamespacedName(question.namespace, name) for name in (question.name, *question.aliases)]
        named = {name: inputs.desired.approvals[name] for name in names if name in inputs.desired.approvals}
        wrong = approvals.wrong_approvals([question], unmeant) if not named else ()
        answer, waits = verdict.answer, verdict.waits or "; ".join(map(str, wrong))
        if answer is None and waits:
            answer = Condition(
                type=APPROVED,
                status=Status.UNKNOWN,
                reason=Reason.APPROVAL_NOT_COUNTED.value,
                message=waits,
                last_transition_time=request.created,
            )
        if answer is not None:
            named = {request.key: Approval(key=request.key, conditions=(answer,))}
        answers |= named
    return answers


def _verdict(request: ApprovalRequest, inputs: Inputs) -> Verdict:
    """What the approvals of a request come to together."""
    desired, meant = inputs.desired, meant_for(request, inputs.desired)
    return approvals.judge(staged.asked(request), meant, inputs.approvals, desired.config.approvals, inputs.now)


def meant_for(request: ApprovalRequest, desired: Desired) -> Sequence[Approval]:
    """The approvals under all names of a request; one that says it is for another is left out."""
    own = (request.parent_run, request.target_stage)
    candidates = approvals.given(staged.asked(request), desired.approvals_by_request)
    return [approval for approval in candidates if (approval.parent_run, approval.target_stage) in (own, (None, None))]


def uncounted(inputs: Inputs, runs: Mapping[NamespacedName, RunRecord]) -> Iterator[Fault]:
    """A warning for each approval of a stage that counts for nothing, while its request waits."""
    for request in inputs.before.approvals.values():
        if _waits(request, runs):
            verdict = _verdict(request, inputs)
            yield from verdict.faults if verdict.answer is None else ()


def _waits(request: ApprovalRequest, runs: Mapping[NamespacedName, RunRecord]) -> bool:
    run = runs.get(request.run)
    return request.answer is None and run is not None and not run.finished


def wrong_approvals(holds: Iterable[Hold], before: FleetState, desired: Desired) -> Iterator[Fault]:
    """A warning for each approval that answers none of the holds and of the stages' requests, while one waits that it
    may be meant for."""
    questions = [(removals.asked(hold), hold.answer is None) for hold in holds]
    questions += [(staged.asked(request), _waits(request, before.runs)) for request in before.approvals.values()]
    every_question = (question for question, _ in questions)
    unmeant = approvals.unasked(every_question, desired.approvals, desired.approvals_by_request)
    return approvals.wrong_approvals([question for question, waits in questions if waits], unmeant)


def asked_of_people(before: FleetState, desired: Desired) -> Iterator[Asked]:
    """What those requests of runs ask that people have said something to, with the change that is approved."""
    for request in before.approvals.values():
        run, question = before.runs.get(request.run), staged.asked(request)
        if run is not None and not request.accepted and approvals.given(question, desired.approvals_by_request):
            yield replace(question, changes=changes_of(run, before, desired))
