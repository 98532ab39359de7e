"""The removal gate: which orphans are held by which rules, and which may be deleted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from itertools import chain
from typing import Final

from gitfleet.api.conditions import Status
from gitfleet.api.holds import (
    ClusterCount,
    Hold,
    HoldReason,
    HoldRule,
    Removal,
    RemovalKind,
    removals_digest,
)
from gitfleet.api.objects import Identity
from gitfleet.api.placements import PlacementKey
from gitfleet.api.staged import HOLD_PREFIX
from gitfleet.formats.int_or_percent import scaled
from gitfleet.formats.sentences import and_more, named_briefly
from gitfleet.model.approvals import Asked, Verdict
from gitfleet.model.desired import Desired
from gitfleet.model.removals import RemovalGate
from gitfleet.model.rolling import Frozen
from gitfleet.model.state import FleetState
from gitfleet.model.works import Work
from gitfleet.removals.orphans import Orphan, OrphanKind, entries_of, removal_of
from gitfleet.removals.rules import CommitErrors, Counts, Repo, Settings, judged_once
from gitfleet.removals.texts import RemovalsText

_LONGEST_SUBJECT: Final = 60
_DIGITS: Final = 10


def asked(hold: Hold) -> Asked:
    """What a hold asks of people."""
    return Asked(name=hold.name, digest=hold.digest, commit=hold.commit, after=hold.after, since=hold.since)


def answered(hold: Hold, verdict: Verdict) -> Hold:
    """The hold with what the watched branch says about it now, whatever was recorded: who may write the state branch
    alone approves nothing. Answers that do not count are a condition of the hold."""
    condition = verdict.condition(hold.since)
    return replace(hold, conditions=(condition,) if condition is not None else ())


def new_lists(removals: Iterable[Removal], commit: str, after: str, now: datetime) -> list[Hold]:
    """The lists of a commit: one for the dropped objects of each placement, one for its withdrawn clusters, and one for
    each cluster that leaves. The name ends with the beginning of the digest, so that an approval of that name answers
    this list and no other."""
    groups: dict[tuple[str, str, RemovalKind], list[Removal]] = {}
    for removal in removals:
        placement, cluster = removal.placement, removal.cluster
        group = (cluster, cluster) if placement is None else (str(placement), "")
        groups.setdefault((*group, removal.kind), []).append(removal)
    lists = []
    for (subject, _, _), entries in sorted(groups.items()):
        digest = removals_digest(commit, entries)
        name = f"{HOLD_PREFIX}{subject.replace('/', '-')[:_LONGEST_SUBJECT].rstrip('-.')}-{digest[:_DIGITS]}"
        entries.sort(key=lambda removal: removal.id)
        lists.append(Hold(name=name, commit=commit, after=after, since=now, digest=digest, removals=tuple(entries)))
    return lists


def restored_hold(restored: str, commit: str, after: str, now: datetime) -> Hold:
    """The hold of the whole fleet after the state was restored from a commit of the state branch."""
    digest = sha256(restored.encode()).hexdigest()
    reason = HoldReason(rule=HoldRule.STATE_RESTORED, message=RemovalsText.STATE_RESTORED(commit=restored[:_DIGITS]))
    name = f"{HOLD_PREFIX}state-{digest[:_DIGITS]}"
    return Hold(name=name, commit=commit, after=after, since=now, digest=digest, reasons=(reason,))


REQUESTED: Final = "requested"
"""What lets a requested orphan go."""
_MOST_NAMED: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRequest:
    """A decision on `desired` that leads from `before` to `after`, with the orphans of `after`, the works of clusters,
    the objects `written` in the repo, what people said to the holds of `before`, and the `frozen` ones of some clusters
    of a placement."""

    desired: Desired
    before: FleetState
    after: FleetState
    orphans: Collection[Orphan]
    works: Mapping[str, tuple[Work, ...]] = field(default_factory=dict)
    written: Collection[Identity] = frozenset()
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    frozen: Callable[[PlacementKey, Collection[str]], Mapping[str, Frozen]] = lambda _key, _clusters: {}
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The lists of what is still to go, held or not, the gate that follows, and the commit from which the state was
    restored while nobody has approved that ("": none)."""

    holds: Mapping[str, Hold] = field(default_factory=dict)
    gate: RemovalGate = RemovalGate()
    restored: str = ""


@dataclass(frozen=True, slots=True)
class _Listed:
    """A list, and its orphans by entry."""

    hold: Hold
    entries: Mapping[str, Collection[Orphan]]

    @property
    def orphans(self) -> list[Orphan]:
        return [*chain.from_iterable(self.entries.values())]


Lists = dict[str, _Listed]
"""By the name of the list."""


def judge(request: JudgeRequest) -> Judgement:
    """Judge every orphan: first by the lists of before, then, what is new, by all rules."""
    restored = _restored(request)
    if not request.orphans and restored is None:
        return Judgement()
    by_entry: dict[str, list[Orphan]] = {}
    is_wanted = request.after.wanted.has_anywhere
    for orphan, entry in entries_of(request.orphans, request.before.holds.values(), is_wanted):
        if orphan.kind is not OrphanKind.REQUESTED:
            by_entry.setdefault(entry, []).append(orphan)
    lists = _of_before(request, by_entry)
    claimed = set[str]().union(*(listed.entries for listed in lists.values()))
    fresh = {entry: by_entry[entry] for entry in sorted(by_entry.keys() - claimed)}
    for hold in _new(request, fresh, lists):
        lists[hold.name] = _Listed(hold, {removal.id: fresh[removal.id] for removal in hold.removals})
    errors = CommitErrors.of(request.desired.faults, request.after)
    repo, counts = Repo(request.written, request.desired.blobs), _counts(request, lists)
    judged = {
        name: replace(listed, hold=_explained(_judged_now(listed, errors, repo), listed, errors, counts))
        for name, listed in sorted(lists.items())
    }
    holds = {name: listed.hold for name, listed in judged.items()}
    unapproved = everything = ""
    if restored is not None:
        holds, unapproved = dict(sorted({**holds, restored.name: restored}.items())), request.after.restored
        everything = RemovalsText.WAITS_FOR_APPROVAL(hold=restored.name, rules=HoldRule.STATE_RESTORED)
    gate, before = _gate_of(_answers(request, judged, errors, everything)), request.before.holds
    gate = replace(gate, steps_held=everything)
    return Judgement(holds=before if holds == before else holds, gate=gate, restored=unapproved)


def _restored(request: JudgeRequest) -> Hold | None:
    """The hold after a restored state; None where there is none, or it is approved."""
    commit, before = request.after.restored, request.before
    if not commit:
        return None
    hold = restored_hold(commit, request.desired.commit, before.observed_commit or "", request.now)
    previous = before.holds.get(hold.name)
    if previous is not None:
        hold = replace(hold, commit=previous.commit, after=previous.after, since=previous.since)
    hold = answered(hold, request.verdicts.get(hold.name, Verdict()))
    return None if hold.answer is Status.TRUE else hold


def _of_before(request: JudgeRequest, by_entry: Mapping[str, Collection[Orphan]]) -> Lists:
    """The lists of before with the entries that are still to go: objects that are wanted again leave their list."""
    lists: Lists = {}
    claimed: set[str] = set()
    for hold in sorted(request.before.holds.values(), key=lambda hold: (hold.since, hold.name)):
        removals: list[Removal] = []
        entries: dict[str, Collection[Orphan]] = {}
        for removal in hold.removals:
            ids = _entries_of(removal, by_entry) - claimed
            if ids:
                removals.append(removal)
                claimed |= ids
                entries |= {entry: by_entry[entry] for entry in ids}
        if removals:
            hold = replace(hold, removals=tuple(removals))
            lists[hold.name] = _Listed(answered(hold, request.verdicts.get(hold.name, Verdict())), entries)
    return lists


def _entries_of(removal: Removal, by_entry: Mapping[str, Collection[Orphan]]) -> set[str]:
    if removal.kind is RemovalKind.OVERRIDDEN:
        removal = replace(removal, kind=RemovalKind.OBJECT)
    if removal.kind is not RemovalKind.PLACEMENT:
        return {removal.id} & by_entry.keys()
    return {
        entry for entry, orphans in by_entry.items() if any(orphan.placement == removal.placement for orphan in orphans)
    }


def _new(request: JudgeRequest, fresh: Mapping[str, Collection[Orphan]], lists: Lists) -> Iterator[Hold]:
    """The lists of what is to go since this commit, judged by the rules that are judged once."""
    before, after = request.before, request.after
    settings = Settings(before, request.desired)
    counts = _counts(request, lists, chain.from_iterable(fresh.values()))
    removals = []
    for orphans in fresh.values():
        orphan = next(iter(orphans))
        removal = replace(removal_of(orphan), blob=_blob_of(orphan, after))
        removals.append(replace(removal, judged=tuple(judged_once(removal, settings, counts, after))))
    for hold in new_lists(removals, request.desired.commit, before.observed_commit or "", request.now):
        yield replace(hold, guarded=settings.guards(hold.removals[0].placement))


def _counts(request: JudgeRequest, lists: Lists, fresh: Iterable[Orphan] = ()) -> Counts:
    going = [*fresh]
    for listed in lists.values():
        if listed.hold.answer is not Status.TRUE:
            going += listed.orphans
    return Counts(request.after, Settings(request.before, request.desired).fleet, going)


def _blob_of(orphan: Orphan, state: FleetState) -> str:
    """The blob of the file that an object was read from; "" where it was built, or is not known."""
    if orphan.kind is not OrphanKind.DROPPED:
        return ""
    snapshots = reversed(state.placements[orphan.placement].resource_snapshots)
    documents = (document for snapshot in snapshots for document in snapshot.documents)
    blobs = ("" if d.rendered else d.blob for d in documents if d.key.identity == orphan.key.identity)
    return next(blobs, "")


def _judged_now(listed: _Listed, errors: CommitErrors, repo: Repo) -> Hold:
    """The list with the rules that hold each entry now."""
    hold, entries = listed.hold, listed.entries
    removals = tuple(_with_rules(r, hold, entries.get(r.id, ()), errors, repo) for r in hold.removals)
    counts = Counter(orphan.cluster for orphan in listed.orphans)
    clusters = tuple(ClusterCount(cluster=name, objects=count) for name, count in sorted(counts.items()))
    return replace(hold, removals=removals, objects=counts.total(), clusters=clusters)


def _with_rules(removal: Removal, hold: Hold, orphans: Collection[Orphan], errors: CommitErrors, repo: Repo) -> Removal:
    rules: list[HoldRule] = []
    if any(map(errors.about, orphans)):
        rules.append(HoldRule.COMMIT_HAS_ERRORS)
    if hold.guarded and repo.has(removal):
        rules.append(HoldRule.STILL_IN_REPO)
    return replace(removal, rules=(*rules, *removal.judged))


def _explained(hold: Hold, listed: _Listed, errors: CommitErrors, counts: Counts) -> Hold:
    """The list with a sentence for each rule that holds something of it."""
    messages = {reason.rule: reason.message for reason in hold.reasons if reason.rule in _ONCE}
    reasons = []
    for rule in HoldRule:
        removals = [removal for removal in hold.removals if rule in removal.rules]
        if removals:
            message = messages.get(rule) or _sentence(rule, removals, listed.entries, errors, counts)
            reasons.append(HoldReason(rule=rule, message=message))
    return replace(hold, reasons=tuple(reasons), paced=hold.paced or bool(reasons))


_ONCE: Final = frozenset((HoldRule.EMPTIED, HoldRule.MASS_REMOVAL, HoldRule.PROTECTED_KIND, HoldRule.APPROVAL_REQUIRED))


def _sentence(
    rule: HoldRule,
    removals: list[Removal],
    entries: Mapping[str, Collection[Orphan]],
    errors: CommitErrors,
    counts: Counts,
) -> str:
    first = removals[0]
    match rule:
        case HoldRule.COMMIT_HAS_ERRORS:
            faults = (errors.about(orphan) for removal in removals for orphan in entries.get(removal.id, ()))
            fault = next(filter(None, faults))
            return RemovalsText.COMMIT_HAS_ERRORS(place=f"{fault.path}:{fault.line}")
        case HoldRule.STILL_IN_REPO:
            return RemovalsText.STILL_IN_REPO(objects=f"{first.object}{and_more(len(removals) - 1)}")
        case HoldRule.EMPTIED:
            if first.kind is RemovalKind.CLUSTER:
                return RemovalsText.CLUSTER_LEAVES(cluster=first.cluster)
            return RemovalsText.PLACEMENT_WANTS_NOTHING(placement=first.placement)
        case HoldRule.MASS_REMOVAL:
            return counts.too_much(first)
        case HoldRule.PROTECTED_KIND:
            kinds = sorted({removal.object.kind for removal in removals if removal.object is not None})
            return RemovalsText.KIND_IS_PROTECTED(kinds=named_briefly(kinds, _MOST_NAMED))
        case HoldRule.APPROVAL_REQUIRED | HoldRule.STATE_RESTORED:
            return RemovalsText.APPROVAL_REQUIRED()


Answer = tuple[Orphan, str, str, str]
"""An orphan, what lets it be deleted, why it must not be ("": it may), and why it may only after other clusters."""


def _gate_of(answers: Iterable[Answer]) -> RemovalGate:
    let_go: dict[str, dict[Identity, str]] = {}
    held: dict[str, dict[Identity, str]] = {}
    paced: dict[str, dict[Identity, str]] = {}
    for orphan, by_name, why, not_yet in answers:
        identity, is_held = orphan.key.identity, why or not_yet
        gate, text = (held, is_held) if is_held else (let_go, by_name)
        gate.setdefault(orphan.cluster, {})[identity] = text
        if not_yet and not why:
            paced.setdefault(orphan.cluster, {})[identity] = by_name
    return RemovalGate(let_go=let_go, held=held, paced=paced)


def _answers(request: JudgeRequest, judged: Lists, errors: CommitErrors, everything: str) -> Iterator[Answer]:
    """`everything` is why all orphans stay."""
    for orphan in request.orphans:
        if orphan.kind is OrphanKind.REQUESTED:
            yield orphan, REQUESTED, everything, ""
    for name, listed in judged.items():
        hold = listed.hold
        rules = {removal.id: removal.rules for removal in hold.removals}
        first = hold.removals[0].rules  # in a hold of release 2 an entry may stand for others
        not_yet = _not_yet(request, listed) if hold.paced and not hold.waits else {}
        for entry, orphans in listed.entries.items():
            for orphan in orphans:
                why = everything or _why_held(hold, rules.get(entry, first), orphan, errors)
                yield orphan, name, why, not_yet.get(orphan.cluster, "")


def recorded_gate(holds: Mapping[str, Hold], orphans: Collection[Orphan]) -> RemovalGate:
    """The gate by the rules that a state has recorded; what is in none of its lists was requested."""
    entries = {removal.id: (hold, removal) for hold in holds.values() for removal in hold.removals}
    wholes = {entry[1].placement: entry for entry in entries.values() if entry[1].kind is RemovalKind.PLACEMENT}

    def answer(orphan: Orphan, name: str) -> Answer:
        entry = entries.get(name) or wholes.get(orphan.placement)
        if entry is None:
            return orphan, REQUESTED, "", ""
        hold, removal = entry
        if not hold.waits or not removal.rules:
            return orphan, hold.name, "", ""
        why = RemovalsText.WAITS_FOR_APPROVAL(hold=hold.name, rules=", ".join(removal.rules))
        return orphan, hold.name, why, ""

    return _gate_of(answer(orphan, name) for orphan, name in entries_of(orphans, holds.values()))


def _why_held(hold: Hold, rules: tuple[HoldRule, ...], orphan: Orphan, errors: CommitErrors) -> str:
    """Why an object stays; "" where it may go."""
    if errors.about(orphan) is None:
        rules = tuple(rule for rule in rules if rule is not HoldRule.COMMIT_HAS_ERRORS)
    if hold.answer is Status.TRUE or not rules:
        return ""
    sentence = RemovalsText.WAS_REJECTED if hold.answer is Status.FALSE else RemovalsText.WAITS_FOR_APPROVAL
    return sentence(hold=hold.name, rules=", ".join(rules))


def _not_yet(request: JudgeRequest, listed: _Listed) -> Mapping[str, str]:
    """Why a list that was held is not carried out yet, by cluster: it is on at most maxUnavailable of those whose turn
    has come, and on no frozen one. A cluster that leaves goes as a whole."""
    placement = listed.hold.removals[0].placement
    if placement is None:
        return {}
    record, clusters = request.after.placements[placement], {orphan.cluster for orphan in listed.orphans}
    frozen = request.frozen(placement, clusters)
    due = {orphan.cluster for orphan in listed.orphans if _has_its_turn(orphan, request)}
    due -= {*request.after.left_out, *frozen}
    size = len(request.after.wanted.placements.get(placement, ())) or len(record.bindings)
    first = sorted(due)[: max(1, scaled(record.placement.strategy.rolling_update.max_unavailable, size))]
    later = dict.fromkeys(clusters.difference(first), RemovalsText.NEXT_CLUSTERS())
    return {**later, **{name: why.reason for name, why in frozen.items()}}


def _has_its_turn(orphan: Orphan, request: JudgeRequest) -> bool:
    """Whether the cluster has the content that leaves an object out."""
    works = (work for work in request.works.get(orphan.cluster, ()) if work.placement == orphan.placement)
    return not any(manifest.key.identity == orphan.key.identity for work in works for manifest in work.manifests)
