"""A plan in lines: what is wrong, then each placement with its moves and operations, then the counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from gitfleet.api.faults import by_cause, fault_from
from gitfleet.cli.output import printable
from gitfleet.cli.plan_groups import moves_of, names, operations_of, placement_name, unpicked_of
from gitfleet.cli.plan_headlines import APPROVE_LATER, blocked_lines, headlines, later_line, risk_lines, work_tree_line
from gitfleet.cli.texts import CliText
from gitfleet.formats.sentences import counted
from gitfleet.views.evictions import eviction_sentence
from gitfleet.views.holds import hold_sentence, how_to_approve, reason_sentence
from gitfleet.views.markdown import fenced
from gitfleet.views.plan_moves import moves_sentence
from gitfleet.views.plan_runs import run_sentences
from gitfleet.views.rollout_documents import rollout_sentences

_SIGNS: Final = {"create": "+", "update": "~", "delete": "-", "refuse": "!", "keep": "="}


def lines_of(document: Mapping[str, Any]) -> Iterator[str]:
    """The lines of a Plan document; further lines of a folded one stand six to the right."""
    uncommitted = work_tree_line(document)
    if uncommitted:
        yield uncommitted
    for hold in document["holds"]:
        yield from _hold_lines(hold)
    for eviction in document["evictions"]:
        yield eviction_sentence(eviction)
    yield from headlines(document)
    yield from _fault_lines(document["faults"])
    for unreachable in document.get("unreachable", ()):
        yield f"unreachable: {unreachable['clusterName']}: {unreachable['message']}"
    for placement in document["placements"]:
        yield from _placement_lines(placement)
    for run in document["runs"]:
        yield from run_sentences(run)
    for rollout in document["rollouts"]:
        yield from rollout_sentences(rollout)
    yield from closing_lines(document)


def markdown_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """The same lines as a comment for a pull request: in a code block, which no text of the repo can leave."""
    yield from ("### gitfleet plan", "", summary_line(document), "")
    yield from fenced([printable(line) for line in lines_of(document)], "text")


def _fault_lines(faults: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield from (f"{group.first.severity.value}: {group}" for group in by_cause(map(fault_from, faults)))
    if any(fault["severity"] == "error" for fault in faults):
        yield CliText.ERRORS_KEEPS_LAST_GOOD_VERSION()


def _hold_lines(hold: Mapping[str, Any]) -> Iterator[str]:
    """What is not removed, why, and how to let it happen."""
    yield f"held: {hold_sentence(hold)}"
    for reason in hold["reasons"]:
        yield f"  because {reason_sentence(reason)}"
    yield CliText.REST_COMMIT_GOES_OUT()
    if not hold["nameIsFinal"]:
        yield f"  {APPROVE_LATER}"
        return
    yield f"  {how_to_approve(hold)}"
    yield from (f"      {line}" for line in hold["approval"]["content"].splitlines())


def _placement_lines(placement: Mapping[str, Any]) -> Iterator[str]:
    moves, operations = moves_of(placement), operations_of(placement)
    later = operations_of(placement, part="later")
    met = placement["scheduled"]["status"] == "True"
    moved = moves_sentence(placement["moves"])
    nowhere = unpicked_of(placement) and not any(row["selected"] for row in placement["clusters"])
    still = not (moved or moves or operations or later or nowhere) and met
    snapshot = placement["resourceSnapshotIndex"]
    yield (
        f"{placement_name(placement)} ({placement['placementType']}): {_where(placement, still)}, "
        f"{counted(len(placement['selectedResources']), 'object')}, "
        f"{'no snapshot' if snapshot is None else f'snapshot {snapshot}'}"
    )
    if still:
        return
    if not met:
        scheduled = placement["scheduled"]
        yield f"  ! {': '.join(filter(None, (scheduled['reason'], scheduled['message'])))}"
    if moved:
        yield f"  {moved}"
    for group in moves:
        yield f"  {group.word:<6} {names(group.clusters)}: {group.reason}"
    for group in unpicked_of(placement):
        yield f"  not    {names(group.clusters)}: {group.reason}"
    for group in operations:
        yield f"  {_SIGNS[group.word]} {group.object} on {names(group.clusters)}: {group.reason}"
        yield from (f"      {line}" for line in group.removed)
        # The first two lines of a unified diff only say live and desired.
        yield from (f"      {line}" for line in group.diff.splitlines()[2:])
    for group in later:
        yield f"  later {_SIGNS[group.word]} {group.object} on {names(group.clusters)}: {group.reason}"


def _where(placement: Mapping[str, Any], still: bool) -> str:
    """On how many clusters a placement is, whether something of it is held, and whether it is up to date (`still`)."""
    where = counted(sum(row["selected"] for row in placement["clusters"]), "cluster")
    if placement["removalsHeld"]:
        return f"{(CliText.UP_DATE_BUT_HELD_REMOVALS() if still else 'removals held,')} on {where}"
    return CliText.UP_DATE_2(where=where) if still else where


def closing_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """The counts: of this reconcile, of later steps and what they take for granted, the risk, and what is blocked."""
    yield summary_line(document)
    later = later_line(document)
    if later:
        yield later
    yield from risk_lines(document)
    if later:
        yield document["risk"]["assumes"]
    yield from blocked_lines(document)
    if document["folderOrder"]:
        yield CliText.FOLDER_ORDER(folders=", ".join(document["folderOrder"]))


def summary_line(document: Mapping[str, Any]) -> str:
    """One line of counts."""
    summary = document["summary"]
    changed = any(summary[action] for action in ("create", "update", "delete", "wait", "refuse"))
    if not changed and document["risk"]["scaledDown"]:
        return CliText.NO_MANIFEST_CHANGES(count=counted(len(document["risk"]["scaledDown"]), "workload"))
    if not changed:
        return CliText.NO_OBJECT_CHANGES(count=counted(summary["keep"], "object"))
    words = {
        "create": "to create",
        "update": "to update",
        "delete": "to delete",
        "wait": "waiting",
        "keep": "in place",
        "refuse": "refused",
    }
    return "Plan: " + ", ".join(f"{summary[action]} {word}" for action, word in words.items() if summary[action]) + "."
