"""What people must see first of a plan: clusters that leave and what is deleted; and the risk as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from gitfleet.cli.plan_groups import names, operations_of, placement_name
from gitfleet.cli.texts import CliText
from gitfleet.cli.work_trees import uncommitted
from gitfleet.formats.sentences import counted, named_briefly

_MOST_NAMED: Final = 4
_ACTIONS: Final = {"delete": "to delete", "create": "to create", "update": "to update", "refuse": "refused"}
APPROVE_LATER: Final = CliText.MERGE_APPROVE_HOLD_NAME_THEN()
"""How to let a removal happen whose hold has no certain name yet."""


def headlines(document: Mapping[str, Any]) -> Iterator[str]:
    """Renamed placements, leaving clusters, deletions and workloads that are scaled down, each with what explains it
    below; and Namespaces that clusters lack."""
    for placement in document["placements"]:
        if placement["formerName"]:
            yield CliText.RENAMED_NOW_KEEPS(placement=placement["formerName"], placement_name=placement_name(placement))
    for cluster in document["risk"]["leaving"]:
        number = counted(cluster["objects"], "object")
        removal = CliText.ITS_ARE_HELD if cluster["held"] else CliText.ITS_ARE_DELETED
        objects = (CliText.ITS_STAY_THERE if cluster["objectsStay"] else removal)(number=number)
        yield CliText.LEAVES_FLEET(cluster=cluster["clusterName"], what=objects)
    deleted = document["risk"]["delete"]
    if deleted["objects"]:
        yield f"deletes: {_share(deleted, document['risk']['placed'])}: {_when(deleted, document)}"
        for placement in document["placements"]:
            yield from (f"  {line}" for line in _deleted(placement))
    for row in document["risk"]["scaledDown"]:
        body = row["object"]
        yield CliText.SCALES_DOWN(
            kind=body["kind"],
            name=f"{body['namespace']}/{body['name']}",
            pods=counted(row["pods"], "pod"),
            after=row["podsAfter"],
            clusters=names(tuple(row["clusters"])),
            rollout=row["rollout"],
        )
    for row in document["missingNamespaces"]:
        yield CliText.NAMESPACE_MISSING(name=row["name"], clusters=names(tuple(row["clusters"])))


def work_tree_line(document: Mapping[str, Any]) -> str:
    """Whether uncommitted changes are planned, "" where there are none."""
    tree = document["workTree"]
    if tree is None or not tree["changed"]:
        return ""
    changes = uncommitted(tree["changed"])
    if tree["planned"]:
        return CliText.PLANNED_UNCOMMITTED_CHANGES(changes=changes)
    return CliText.NOT_PLANNED_WORK_TREE_UNCOMMITTED(changes=changes)


def later_line(document: Mapping[str, Any]) -> str:
    """How much is left for later steps, "" when nothing is."""
    risk = document["risk"]
    parts = [
        f"{risk[action]['later']} {words} on {counted(len(_clusters(document, 'later', action)), 'cluster')}"
        for action, words in _ACTIONS.items()
        if risk[action]["later"]
    ]
    return f"Later: {', '.join(parts)}." if parts else ""


def risk_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """How much of what is placed is deleted and updated by all steps, on how many clusters; which Namespaces go, and
    what the placements lose. None for a plan that writes nothing to a cluster that has anything."""
    risk = document["risk"]
    parts = [
        f"{word} {_share(risk[action], risk['placed'])}"
        for action, word in (("delete", "deletes"), ("update", "updates"))
        if risk[action]["objects"]
    ]
    if parts:
        yield f"Risk: {' and '.join(parts)}, on {risk['touched']} of {counted(risk['clusters'], 'cluster')}."
    if namespaces := [f"{row['name']} (on {counted(row['clusters'], 'cluster')})" for row in risk["namespaces"]]:
        yield CliText.NAMESPACES_GO_EVERYTHING(namespaces=named_briefly(namespaces, _MOST_NAMED))
    if losses := [f"{row['placement']} {_share(row, row['placed'])}" for row in risk["losses"]]:
        yield CliText.PLACEMENTS_LOSE(losses=named_briefly(losses, _MOST_NAMED))


def blocked_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """The placements whose rollout stops, on which clusters and why."""
    blocked: dict[tuple[str, str], list[str]] = {}
    for row in document["blocked"]:
        blocked.setdefault((row["placement"], row["message"]), []).append(row["clusterName"])
    for (placement, message), clusters in blocked.items():
        yield CliText.BLOCKED_CHANGES_NOTHING(placement=placement, tuple=names(tuple(clusters)), message=message)


def _share(shares: Mapping[str, Any], placed: int) -> str:
    objects = shares["objects"]
    if objects > placed or not placed:  # some are on the clusters without being placed
        return counted(objects, "object")
    return f"{objects} of {counted(placed, 'placed object')} ({shares['percent']:g}%)"


def _when(times: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    parts = [
        f"{times[when]} {when} on {counted(len(_clusters(document, part, 'delete')), 'cluster')}"
        for when, part in (("now", "operations"), ("later", "later"))
        if times[when]
    ]
    return ", ".join(parts)


def _clusters(document: Mapping[str, Any], part: str, action: str) -> set[str]:
    return {row["clusterName"] for p in document["placements"] for row in p[part] if row["action"] == action}


def _deleted(placement: Mapping[str, Any]) -> Iterator[str]:
    """What a placement deletes, the same objects put together."""
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for when, part in (("now", "operations"), ("later", "later")):
        for group in operations_of(placement, part=part):
            if group.word == "delete":
                groups.setdefault((when, group.clusters), []).append(group.object)
    for (when, clusters), objects in groups.items():
        yield f"{placement_name(placement)}, {when} on {names(clusters)}: {named_briefly(objects, _MOST_NAMED)}"
