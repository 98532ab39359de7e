"""Held removals for people: why they wait, what would go where, and the file that lets them happen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from gitfleet.api.conditions import Condition, Conditions, ConditionType, Status, find_condition, type_of
from gitfleet.api.holds import APPROVED, Hold, RemovalKind
from gitfleet.api.placements import PLACEMENT_GROUP, PlacementKey
from gitfleet.api.staged import DIGEST, SNAPSHOT_INDEX
from gitfleet.api.values import NamespacedName
from gitfleet.approvals import path_of
from gitfleet.formats.sentences import counted, named_briefly
from gitfleet.formats.yaml_writer import yaml_text
from gitfleet.state import StateReader
from gitfleet.status import one_line
from gitfleet.views.texts import ViewsText

_MOST_NAMED: Final = 3
_MOST_CHARACTERS: Final = 300


def hold_state(hold: Hold) -> str:
    """Pending, Approved (its removals are under way) or Rejected."""
    return "Pending" if hold.answer is None else "Approved" if hold.answer is Status.TRUE else "Rejected"


def not_counted(conditions: Conditions) -> str:
    """Why the approvals that are there do not count, "" where there are none or they do."""
    found = find_condition(conditions, APPROVED)
    return found.message if found is not None and found.status is Status.UNKNOWN else ""


def held_condition(key: PlacementKey, conditions: Conditions) -> Condition | None:
    """The condition by which a placement says that removals of it wait."""
    return find_condition(conditions, type_of(key.kind, ConditionType.REMOVALS_HELD))


def held_placements_line(state: StateReader, name: str | None) -> str:
    """Of which placements (all, or those of a name) removals wait, "" for none."""
    pending = [hold for hold in state.holds() if hold.answer is not Status.TRUE]
    every = {one.placement for hold in pending for one in hold.removals}
    every |= {one.placement for hold in pending for one in hold.more}
    names = [str(key) for key in sorted(key for key in every if key) if name in (None, key.name, str(key))]
    what = "removals" if any(map(removes, pending)) else "changes from External"
    return ViewsText.HELD_GITFLEET_GET_HOLDS(what=what, names=named_briefly(names, _MOST_NAMED)) if names else ""


def kept_placements_lines(state: StateReader, name: str | None) -> Iterator[str]:
    """What each of the placements (all, or those of a name) says that is pinned, or kept as it was."""
    for file in state.placements():
        key = file.placement.key
        for type_ in (ConditionType.PINNED, ConditionType.KEPT):
            said = find_condition(file.conditions, type_of(key.kind, type_))
            if said is not None and name in (None, key.name, str(key)):
                yield f"{key}: {said.message}"


def removes(hold: Hold) -> bool:
    """Whether it holds anything back that takes something away; a placement that is to need no run loses nothing."""
    return any(removal.kind is not RemovalKind.STRATEGY for removal in hold.removals)


def hold_document(hold: Hold) -> dict[str, Any]:
    """A hold in a Plan document: what is held, why, and the file that approves it."""
    return {
        "name": hold.name,
        "commit": hold.commit,
        "objects": hold.objects,
        "unmanaged": sum(count.unmanaged for count in hold.clusters),
        "clusters": [{"clusterName": count.cluster, "objects": count.objects} for count in hold.clusters],
        "removes": removes(hold),
        "removals": [str(removal) for removal in hold.listed.removals],
        "removalCount": hold.total,
        "reasons": [
            {"rule": reason.rule.value, "path": reason.path, "line": reason.line, "message": reason.sentence}
            for reason in hold.reasons
        ],
        "rejected": hold.answer is Status.FALSE,
        "approval": {"path": approval_path(hold.name), "content": approval_text(hold.name)},
    }


def approval_path(name: str, namespace: str = "") -> str:
    """Where the file lies that answers a hold or an approval request."""
    return path_of(name, namespace)


def approval_branch(prefix: str, key: NamespacedName) -> str:
    """The branch that asks for the answer. No Kubernetes name has an underscore, so no two requests have one branch."""
    return f"{prefix}{key.namespace}_{key.name}" if key.namespace else f"{prefix}{key.name}"


def approval_text(
    name: str, status: Status = Status.TRUE, digest: str = "", namespace: str = "", snapshot: str = ""
) -> str:
    """The file that approves a request, or rejects it with False; with a digest, and the index of its snapshot, it is
    for that very request alone."""
    place = {"namespace": namespace} if namespace else {}
    bound = {key: value for key, value in ((DIGEST, digest), (SNAPSHOT_INDEX, snapshot)) if value}
    return yaml_text(
        {
            "apiVersion": f"{PLACEMENT_GROUP}/v1beta1",
            "kind": "ApprovalRequest" if namespace else "ClusterApprovalRequest",
            "metadata": {"name": name, **place, **({"annotations": bound} if bound else {})},
            "status": {"conditions": [{"type": APPROVED, "status": status.value}]},
        }
    )


def answering_file(document: Mapping[str, Any]) -> str:
    """Which file approves a hold, or rejects it now; from its document."""
    return f"{document['approval']['path']} {'rejects' if document['rejected'] else 'approves'}"


def how_to_approve(document: Mapping[str, Any]) -> str:
    """What to do so that a hold's removals happen, in front of the file's content; from its document."""
    path, do = document["approval"]["path"], "remove it" if document["removes"] else ViewsText.LET_CHANGE()
    if document["rejected"]:
        return ViewsText.REJECTS_AFTER_ALL(path=path, do=do)
    return ViewsText.ADD_CONFIG_REPO(do=do, path=path)


def hold_sentence(document: Mapping[str, Any]) -> str:
    """What a hold keeps back, in one line, from its document."""
    names = [row["clusterName"] for row in document["clusters"]]
    what = named_briefly(document["removals"], _MOST_NAMED, document["removalCount"])
    if not names:
        return one_line(what, _MOST_CHARACTERS)
    stay = document["unmanaged"]
    left = ViewsText.STAY_CLUSTERS_LEAVE_FLEET(stay=stay) if stay else ""
    gone = f"{counted(document['objects'], 'placed object')} on {named_briefly(names, _MOST_NAMED)}"
    return one_line(f"{what}: {gone}{left}", _MOST_CHARACTERS)


def reason_sentence(reason: Mapping[str, Any]) -> str:
    """`path:line: message`, without a place where there is none."""
    place = f"{reason['path']}:{reason['line']}: " if reason["path"] else ""
    return one_line(f"{place}{reason['message']}", _MOST_CHARACTERS)
