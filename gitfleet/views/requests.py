"""What waits for a person's approval, as requests that a person can read and answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gitfleet.api.holds import Hold
from gitfleet.model.approvals import ApprovalRequest
from gitfleet.model.state import FleetState
from gitfleet.status import one_line
from gitfleet.views.holds import approval_path, hold_document, hold_sentence, reason_sentence

_MOST_LISTED: Final = 100
_LINE_CHARACTERS: Final = 300


def approval_requests(state: FleetState) -> Iterator[ApprovalRequest]:
    """The requests that nobody has answered yet."""
    for hold in state.holds.values():
        if hold.answer is None:
            yield _of_hold(hold)


def _of_hold(hold: Hold) -> ApprovalRequest:
    document = hold_document(hold)
    sections = {
        "What happened": [
            f"Commit {hold.commit} no longer asks for what is listed below. As this may be an accident, it is held:",
            *(f"- {reason_sentence(reason)}" for reason in document["reasons"]),
        ],
        f"What goes: {hold.objects} placed objects": _listed(document["removals"]),
        "From where": _listed(
            f"{count.cluster}: {count.objects} deleted"
            + (f", {count.unmanaged} stay unmanaged" if count.unmanaged else "")
            for count in hold.clusters
        ),
        "What comes next": [
            "Once this is on the watched branch, the next reconcile removes it, cluster by cluster as far as the",
            "placements' budgets allow. Until then it stays as it is, and all other changes go out.",
            *(["What stays unmanaged is deleted by nobody."] if document["unmanaged"] else []),
        ],
    }
    return ApprovalRequest(
        name=hold.name,
        subject="Hold",
        digest=hold.digest,
        commit=hold.commit,
        after=hold.after,
        title=one_line(f"Approve {hold.name}: {hold_sentence(document)}", _LINE_CHARACTERS),
        body="\n\n".join([_how_to_answer(hold.name), *(_section(*section) for section in sections.items())]),
    )


def _how_to_answer(name: str) -> str:
    return (
        "Merge this (merge, squash or rebase) to approve what is listed below. Closing or deleting the branch\n"
        f'does not reject it: gitfleet reject {name}, or {approval_path(name)} with status "False", does.'
    )


def _section(title: str, lines: list[str]) -> str:
    return "\n".join([title, "", *(one_line(line, _LINE_CHARACTERS) for line in lines)])


def _listed(names: Iterator[str] | list[str]) -> list[str]:
    found = list(names)
    more = [f"- and {len(found) - _MOST_LISTED} more"] if len(found) > _MOST_LISTED else []
    return [*(f"- {name}" for name in found[:_MOST_LISTED]), *more]
