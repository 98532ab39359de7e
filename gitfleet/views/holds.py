"""Held removals for people: why they wait, what would go where, and the file that lets them happen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from gitfleet.api.conditions import APPROVED, Conditions, ConditionType, Status, find_condition, type_of
from gitfleet.api.holds import Hold
from gitfleet.api.placements import PlacementKey
from gitfleet.approvals import approval_path, approval_text
from gitfleet.formats.sentences import counted, named_briefly
from gitfleet.state import StateReader
from gitfleet.status import one_line
from gitfleet.views.texts import ViewsText

_MOST_NAMED: Final = 3
_MOST_REMOVALS: Final = 1
_MOST_CHARACTERS: Final = 300


def hold_state(hold: Hold) -> str:
    """Whether a person has answered a hold that waits."""
    return "Pending" if hold.answer is None else "Rejected"


def waiting_holds(state: StateReader, name: str | None = None) -> tuple[Hold, ...]:
    """The holds with removals that wait for a person, or the one of a name."""
    return tuple(hold for hold in state.named(Hold, name) if hold.waits)


def holds_of(key: PlacementKey, holds: Iterable[Hold]) -> tuple[Hold, ...]:
    """Those that hold removals of a placement; the hold of a restored state holds all."""
    return tuple(hold for hold in holds if not hold.removals or key in hold.placements)


def not_counted(conditions: Conditions) -> str:
    """Why the approvals that are there do not count, "" where there are none or they do."""
    condition = find_condition(conditions, APPROVED)
    return condition.message if condition is not None and condition.status is Status.UNKNOWN else ""


def held_placements_line(state: StateReader, name: str | None) -> str:
    """Of which placements (all, or those of a name) removals wait, "" for none."""
    waiting = waiting_holds(state)
    if any(not hold.removals for hold in waiting):
        return ViewsText.HELD_GITFLEET_GET_HOLDS(names="all placements")
    keys = sorted({key for hold in waiting for key in hold.placements})
    names = [str(key) for key in keys if name in (None, key.name, str(key))]
    return ViewsText.HELD_GITFLEET_GET_HOLDS(names=named_briefly(names, _MOST_NAMED)) if names else ""


def kept_placements_lines(state: StateReader, name: str | None) -> Iterator[str]:
    """What each of the placements (all, or those of a name) says that is pinned, or kept as it was."""
    for file in state.placements():
        key = file.placement.key
        for type_ in (ConditionType.PINNED, ConditionType.KEPT):
            condition = find_condition(file.conditions, type_of(key.kind, type_))
            if condition is not None and name in (None, key.name, str(key)):
                yield f"{key}: {condition.message}"


def hold_document(hold: Hold) -> dict[str, Any]:
    """A hold in a Plan document: what is held, why, and the file that approves it."""
    return {
        "name": hold.name,
        "commit": hold.commit,
        "objects": hold.objects,
        "clusters": [{"clusterName": count.cluster, "objects": count.objects} for count in hold.clusters],
        "removals": [str(removal) for removal in hold.listed.removals],
        "removalCount": hold.total,
        "reasons": [{"rule": reason.rule.value, "message": reason.message} for reason in hold.reasons],
        "rejected": hold.answer is Status.FALSE,
        "approval": {"path": approval_path(hold.name), "content": approval_text(hold.name)},
    }


def how_to_approve(document: Mapping[str, Any], quoted: Callable[[str], str] = str) -> str:
    """What to do so that a hold's removals happen, in front of the file's content; from its document."""
    path = quoted(document["approval"]["path"])
    if document["rejected"]:
        return ViewsText.REJECTS_AFTER_ALL(path=path)
    return ViewsText.ADD_CONFIG_REPO(path=path)


def hold_sentence(document: Mapping[str, Any]) -> str:
    """What a hold keeps back, in one line, from its document."""
    names = [row["clusterName"] for row in document["clusters"]]
    removals = named_briefly(document["removals"], _MOST_REMOVALS, document["removalCount"]) or ViewsText.ALL_REMOVALS()
    if not names:
        return one_line(removals, _MOST_CHARACTERS)
    objects = f"{counted(document['objects'], 'placed object')} on {named_briefly(names, _MOST_NAMED)}"
    return one_line(f"{removals}: {objects}", _MOST_CHARACTERS)


def held_line(hold: Hold) -> str:
    """A hold in one line: its name, what waits, and by which rules."""
    rules = ", ".join(reason.rule for reason in hold.reasons)
    return f"{hold.name}: {hold_sentence(hold_document(hold))} ({rules})"


def reason_sentence(reason: Mapping[str, Any]) -> str:
    """`Rule: message`."""
    return one_line(f"{reason['rule']}: {reason['message']}", _MOST_CHARACTERS)
