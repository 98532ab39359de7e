"""What verifies a person's answer to a request before it is pushed, as a reconcile will afterwards."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from gitfleet import approvals
from gitfleet.api.conditions import Status
from gitfleet.api.holds import REWRITE_PREFIX
from gitfleet.api.values import NamespacedName
from gitfleet.errors import BadInput
from gitfleet.loop.driver import Driver
from gitfleet.loop.person_commits import Check
from gitfleet.loop.texts import LoopText
from gitfleet.model.approvals import ApprovalFacts, Asked
from gitfleet.model.state import FleetState
from gitfleet.reconcile.run_approvals import asked_of_people, meant_for


def answer_check(driver: Driver, before: FleetState, asked: Asked, status: Status) -> Check:
    """Raises BadInput where a commit would not answer what was asked by this status."""
    now, request = driver.clock.now(), before.approvals.get(NamespacedName(asked.namespace, asked.name))

    def check(commit: str, paths: Collection[str]) -> None:
        wanted = driver.desired_trees.at(commit, before)
        every = meant_for(request, wanted) if request else approvals.given(asked, wanted.approvals_by_request)
        ours = [one for one in every if one.origin is not None and one.origin.path in paths]
        if not ours:
            faults = "; ".join(str(fault) for fault in wanted.faults if fault.path in paths)
            raise BadInput(LoopText.ANSWER_NOT_READ(name=asked.name), hint=faults or LoopText.SEE_IGNORE_RULES())
        # With the commits that a stage's approval is for, whose authors must not approve.
        of_stage = {(one.namespace, one.name): one for one in asked_of_people(before, wanted)}
        whole = of_stage.get((asked.namespace, asked.name), asked)
        history, alone = driver.approvals, asked.name.startswith(REWRITE_PREFIX)
        read_at, reconciled = partial(driver.desired_trees.at, state=before), before.observed_commit
        facts = history.facts(wanted, [whole], read_at, reconciled, now, alone=alone) if history is not None else None
        last = [*(one for one in every if one not in ours), *ours]  # it counts beside the others, or not at all
        verdict = approvals.judge(whole, last, facts, wanted.config.approvals, now)
        if verdict.answer is not None and verdict.answer.status is not status:
            raise BadInput(LoopText.ANSWERED_OTHERWISE(name=asked.name), hint=LoopText.REMOVE_THAT_ANSWER())
        if why := "; ".join(fault.message for fault in verdict.faults if fault.path in paths):
            known = (facts or {}).get(ours[0].key, ApprovalFacts())
            unsigned = known.policy.allowed_signers is not None and not any(one.signer for one in known.commits)
            hint = LoopText.SIGN_COMMITS() if unsigned else LoopText.WHO_MAY_APPROVE()
            raise BadInput(LoopText.ANSWER_CANNOT_COUNT(why=why), hint=hint)

    return check
