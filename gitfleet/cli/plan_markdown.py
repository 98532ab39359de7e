"""A plan as a comment for a pull request. Every text of the repo stands in a code span or a code block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from gitfleet.api.faults import by_cause, fault_from
from gitfleet.cli.plan_groups import Group, moves_of, names, operations_of, placement_name, unpicked_of
from gitfleet.cli.plan_headlines import APPROVE_LATER, blocked_lines, headlines, later_line, risk_lines, work_tree_line
from gitfleet.cli.plan_text import summary_line
from gitfleet.cli.texts import CliText
from gitfleet.formats.sentences import agreeing, counted
from gitfleet.views import (
    code_span,
    eviction_sentence,
    fault_line,
    fenced,
    hold_sentence,
    how_to_approve,
    moves_sentence,
    reason_sentence,
    rollout_sentences,
    run_sentences,
    table_lines,
)

MOST_DIFF_CHARACTERS: Final = 40_000
"""Forges cut a comment at 64 KiB; the diffs are what can be long."""
_MOST_ROWS: Final = 50


def lines_of(document: Mapping[str, Any]) -> Iterator[str]:
    """The lines of a Plan document as Markdown."""
    yield "### gitfleet plan"
    yield ""
    uncommitted = work_tree_line(document)
    if uncommitted:
        yield code_span(uncommitted, 300)
        yield ""
    for hold in document["holds"]:
        yield from _hold_lines(hold)
        yield ""
    touched = {o["clusterName"] for p in document["placements"] for o in p["operations"] if o["action"] in _WRITES}
    where = f" {counted(len(touched), 'cluster')} {agreeing(len(touched), 'is', 'are')} touched." if touched else ""
    yield summary_line(document) + where
    later, risks = later_line(document), list(risk_lines(document))
    if later or risks:
        yield ""
        yield " ".join(filter(None, (later, *risks)))
    alone = (*map(eviction_sentence, document["evictions"]), *blocked_lines(document))
    lines = [*((line, False) for line in alone), *headlines(document)]
    if lines:
        yield ""
    for line, below in lines:
        yield f"{'  ' if below else ''}- {code_span(line, 300)}"
    yield from _fault_lines(document["faults"], document.get("unreachable", ()))
    for placement in document["placements"]:
        yield from _placement_lines(placement)
    for sentences in (*map(run_sentences, document["runs"]), *map(rollout_sentences, document["rollouts"])):
        first, *more = sentences
        yield from ("", f"- {code_span(first, 300)}", *(f"  - {code_span(line.strip(), 1000)}" for line in more))
    yield from _diff_lines(document)


def _fault_lines(faults: Sequence[Mapping[str, Any]], silent: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if faults or silent:
        yield ""
    yield from (f"- {fault_line(group)}" for group in by_cause(map(fault_from, faults)))
    for cluster in silent:
        yield CliText.NOT_ANSWER_2(
            code_span=code_span(cluster["clusterName"]), code_span_2=code_span(cluster["message"], 300)
        )


def _hold_lines(hold: Mapping[str, Any]) -> Iterator[str]:
    not_yet = CliText.NOT_REMOVED()
    yield CliText.HELD_UNTIL_SOMEBODY_APPROVES(code_span=code_span(hold_sentence(hold)), not_yet=not_yet)
    yield ""
    yield from (f"- {code_span(reason_sentence(reason))}" for reason in hold["reasons"])
    yield ""
    if not hold["nameIsFinal"]:
        yield APPROVE_LATER
        return
    yield how_to_approve(hold, code_span)
    yield ""
    yield from fenced(hold["approval"]["content"].splitlines(), "yaml")


_WRITES: Final = ("create", "update", "delete")


def _placement_lines(placement: Mapping[str, Any]) -> Iterator[str]:
    snapshot = placement["resourceSnapshotIndex"]
    yield ""
    yield (
        f"#### {code_span(placement_name(placement))} ({placement['placementType']}), "
        f"{'no snapshot' if snapshot is None else f'snapshot {snapshot}'}"
    )
    scheduled = placement["scheduled"]
    if scheduled["status"] != "True":
        yield ""
        yield CliText.NOT_SCHEDULED_POLICY_DEMANDS(
            code_span=code_span(scheduled["message"] or scheduled["reason"], 300)
        )
    moves, operations = moves_of(placement), operations_of(placement, diffs_of=())
    later = operations_of(placement, part="later", diffs_of=())
    moved = moves_sentence(placement["moves"])
    if moved:
        yield ""
        yield code_span(moved, 300)
    yield ""
    if not (moved or moves or operations or later):
        yield CliText.NOTHING_CHANGES_BUT_REMOVALS_HELD() if placement["removalsHeld"] else "Nothing changes."
        return
    rows = [(group.word, "", *_sentence_of(group)) for group in moves]
    rows += [("not picked", "", *_sentence_of(group)) for group in unpicked_of(placement)]
    rows += [(group.word, code_span(group.object), *_sentence_of(group)) for group in operations]
    rows += [(f"later {group.word}", code_span(group.object), *_sentence_of(group)) for group in later]
    yield from table_lines(("what", "object", "clusters", "reason"), rows[:_MOST_ROWS])
    if len(rows) > _MOST_ROWS:
        yield ""
        yield CliText.MORE_ROWS(count=len(rows) - _MOST_ROWS)
    lost = [group for group in operations if group.removed]
    if lost:
        yield from ("", CliText.FIELDS_GO(), "")
    for group in lost[:_MOST_ROWS]:
        yield f"- {code_span(group.object)} on {code_span(names(group.clusters))}"
        yield from (f"  - {code_span(sentence, 300)}" for sentence in group.removed)
    if len(lost) > _MOST_ROWS:
        yield f"- and {len(lost) - _MOST_ROWS} more"  # an object may stand there several times


def _sentence_of(group: Group) -> tuple[str, str]:
    return code_span(names(group.clusters)), code_span(group.reason, 300)


def _diff_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """Every diff once, folded away, until the limit of characters is reached."""
    diffs = [
        (f"{placement_name(placement)}: {group.word} {group.object} on {names(group.clusters)}", group.diff)
        for placement in document["placements"]
        for group in operations_of(placement, diffs_of=_WRITES)
        if group.diff
    ]
    remaining = MOST_DIFF_CHARACTERS
    for shown, (title, diff) in enumerate(diffs):
        remaining -= len(diff)
        if remaining < 0:
            yield ""
            yield CliText.MORE_DIFFS_GITFLEET_PLAN_O(count=len(diffs) - shown)
            return
        yield ""
        yield f"<details><summary>{_html(title)}</summary>"
        yield ""
        yield from fenced(diff.splitlines())
        yield ""
        yield "</details>"


def _html(title: str) -> str:
    """A code element that no text can leave; Markdown and mentions do nothing inside it."""
    return f"<code>{code_span(title)[1:-1].replace('&', '&amp;').replace('@', '&#64;')}</code>"
