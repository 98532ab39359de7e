"""One repository opened for questions: what is wrong, what would happen, why, and what each cluster is to have.

Everything here reads; only the runner and the commits of a person that it hands out write.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from gitfleet import apply, removals, schedule, snapshots, works
from gitfleet.api.conditions import Status
from gitfleet.api.faults import Fault
from gitfleet.api.objects import JsonObject
from gitfleet.api.placements import PlacementKey
from gitfleet.errors import BadInput
from gitfleet.formats.near_names import did_you_mean
from gitfleet.formats.sops import is_sops_encrypted
from gitfleet.formats.yaml_reader import lines_of
from gitfleet.loop.answer_checks import answer_check
from gitfleet.loop.driver import Driver, Listener
from gitfleet.loop.person_commits import Check, PersonCommits
from gitfleet.loop.planning import Planning
from gitfleet.loop.pulse import Pulse
from gitfleet.loop.rewrites import Rewrite
from gitfleet.loop.runner import Runner, Wake
from gitfleet.loop.texts import LoopText
from gitfleet.loop.whatif import WhatIf
from gitfleet.model.approvals import Asked
from gitfleet.model.decisions import Decision
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Subject
from gitfleet.model.state import FleetState
from gitfleet.model.works import Work
from gitfleet.ports.clock import Clock
from gitfleet.ports.repos import Person
from gitfleet.reconcile.pins import pin_warnings
from gitfleet.reconcile.run_approvals import wrong_approvals
from gitfleet.rendered import file_content, file_path
from gitfleet.views import (
    ClusterSides,
    PlannedReconcile,
    Recorded,
    diff_document,
    explanation,
    held_clusters,
    no_placement,
    plan_document,
    questions_of,
    recorded_plan,
    snapshots_document,
    standing_lines,
    with_evictions,
    with_rollouts,
)

NOTHING = WhatIf()
_SPREAD: Final = (0.9, 1.1)
"""Processes that were started together do not poll together."""


@dataclass(slots=True, kw_only=True)
class Workspace:
    """`clusters` says which observations count: live, simulated, none or recorded (see Planning)."""

    driver: Driver
    clock: Clock
    wake: Wake
    clusters: str
    watch: Callable[[Wake], Callable[[], None]]
    pulse: Pulse = field(default_factory=Pulse)
    _heads: Mapping[str, str] | None = None

    def commit_of(self, revision: str | None) -> str:
        """The commit that a revision names, or the head of the watched branch."""
        heads = self._fetched()
        if revision is not None:
            return self.driver.reader.resolve(revision)
        return self.driver.watched_commit(heads)

    def state_head(self) -> str | None:
        """The head of the state branch, None when there is none yet."""
        heads = self._fetched()
        if self.driver.branches.watch in heads:
            self.driver.watched_commit(heads)  # the FleetConfig there says what the state branch is called
        return heads.get(self.driver.branches.state)

    def _fetched(self) -> Mapping[str, str]:
        """The remote's branches, asked for once: all results of one command are of the same moment."""
        if self._heads is None:
            self._heads = self.driver.reader.fetch(self.driver.needed)
        return self._heads

    def state_file(self, path: str) -> str:
        """One file of the state branch as text, "" when it is not there."""
        self._heads = None  # a runner may have written it since
        head = self.state_head()
        entry = self.driver.reader.list_tree(head).get(path) if head else None
        if entry is None:
            return ""
        return self.driver.reader.read_blobs([entry.oid], limit=1 << 24).get(entry.oid, b"").decode()

    def desired_at(self, commit: str) -> Desired:
        """The fleet as written at a commit."""
        return self.driver.desired_trees.at(commit, self.driver.load_state(self.state_head()))

    def encrypted_at(self, commit: str) -> int:
        """How many Secrets of a commit SOPS encrypted."""
        return sum(is_sops_encrypted(manifest.body) for manifest in self.desired_at(commit).payload)

    def faults_at(self, commit: str) -> tuple[Fault, ...]:
        """All that is wrong in a commit, and with what is installed here: a FleetConfig may name other plug-ins; and
        approvals that miss what waits now, and what is pinned."""
        before = self.driver.load_state(self.state_head())
        wanted = self.driver.desired_trees.at(commit, before)
        known = {*wanted.faults, *wrong_approvals(before.holds.values(), before, wanted)}
        known |= {*pin_warnings(wanted, before.placements)}
        found = schedule.profile_for(wanted.config, self.driver.plugins)[1]
        origin = wanted.config.origin
        if not found or origin is None or not origin.blob:
            return tuple(sorted({*known, *found}))
        content = self.driver.reader.read_blobs([origin.blob], limit=1 << 24).get(origin.blob, b"")
        numbers = [int(fault.field.rpartition("[")[2].rstrip("]")) for fault in found]
        lines = lines_of(content, [(origin.document, ("spec", "scheduler", "plugins", number)) for number in numbers])
        placed = (replace(fault, line=line) for fault, line in zip(found, lines, strict=True))
        return tuple(sorted({*known, *placed}))

    def decide(self, revision: str | None) -> Decision:
        """What a reconcile of a revision would decide now; without one, of the commit that is in force: the head of the
        watched branch, or the one before where the branch was rewritten and nobody has accepted that."""
        rewrite = self.rewrite() if revision is None else None
        commit = rewrite.old if rewrite is not None else self.commit_of(revision)
        return self._planning.decide(self.desired_at(commit), self.driver.load_state(self.state_head()))[0]

    def plan(self, revision: str | None, base: str | None, what_if: WhatIf = NOTHING) -> dict[str, Any]:
        """The Plan document (contracts.md §4)."""
        head, planning = self.state_head(), self._planning
        commit = self.commit_of(revision)
        before = self.driver.load_state(head)
        if base is not None:
            before = planning.as_rolled_out(self.desired_at(self.driver.reader.resolve(base)), before)
        wanted = what_if.applied_to(self.desired_at(commit))
        is_head = commit == self._fetched().get(self.driver.branches.watch)
        rewrite = self.rewrite() if is_head else None
        decision, operations = planning.decide(wanted, before)
        remain, blocked = planning.remaining(decision, operations)
        planned = PlannedReconcile(
            commit=commit,
            state_commit=head,
            decision=decision,
            faults=(
                *wanted.faults,
                *pin_warnings(wanted, decision.after.placements),
                *(rewrite.faults() if rewrite is not None else ()),
            ),
            operations=operations,
            remain=remain,
            blocked=blocked,
            watched=base is None and what_if == NOTHING and is_head,
        )
        return plan_document(planned)

    def explain(self, name: str, revision: str | None) -> tuple[dict[str, str], list[JsonObject]]:
        """What is held of one placement, what pins it and why its last run failed, in a sentence each ("" for nothing);
        and every cluster's part in it, chosen ones first. BadInput for a name that is not there."""
        decision = self.decide(revision)
        after, now = decision.after, decision.inputs.now
        key = _placement_named(name, after)
        profile, _ = schedule.profile_for(decision.inputs.desired.config, self.driver.plugins)
        record = after.placements[key]
        held = held_clusters(after.clusters.values())
        beside = Recorded(
            now=now,
            runs=after.runs.values(),
            requests=after.approvals,
            freezes=after.freezes,
            clusters=after.clusters,
            quarantines=after.quarantines.values(),
        )
        plan = decision.plans.get(key) or recorded_plan(record, beside)
        rows = explanation(record, after.clusters, profile, plan, now, held)
        rows = with_evictions(rows, key, after.evictions.values(), after.faults)
        rows = with_rollouts(rows, record, after.rollouts.values())
        return standing_lines(record, beside), rows

    def diff(self, name: str, cluster: str | None, revision: str | None) -> dict[str, Any]:
        """What the clusters of a placement have against what they are to have when every rollout is through, as a Diff
        document. BadInput for a name that is not there."""
        commit, before, planning = self.commit_of(revision), self.driver.load_state(self.state_head()), self._planning
        decision, _ = planning.decide(self.desired_at(commit), before)
        key = _placement_named(name, decision.after)
        done, seen = planning.rolled_out(decision)
        silent = {n: one for n, one in decision.inputs.observations.items() if not one.reachable}
        sides = []
        for one in sorted({*done.works, *before.inventory}):
            work = next((work for work in done.works.get(one, ()) if work.placement == key), None)
            owned = tuple(entry for entry in before.inventory.get(one, {}).values() if entry.placement == key)
            if work is not None or owned:
                sides.append(
                    ClusterSides(cluster=one, work=work, observation=silent.get(one) or seen.get(one), owned=owned)
                )
        names = [side.cluster for side in sides]
        if cluster is not None and cluster not in names:
            hint = did_you_mean(cluster, names, f"it has: {', '.join(names)}" if names else LoopText.NO_CLUSTERS())
            raise BadInput(LoopText.NOTHING_CLUSTER(name=name, cluster=cluster), hint=hint)
        ignored = decision.inputs.desired.config.ignore_differences
        left_alone = apply.Wanted(decision.works, ignored=ignored, held=decision.held).left_alone
        chosen = [side for side in sides if cluster in (None, side.cluster)]
        asks = ((side.cluster, questions_of(side, left_alone(side.cluster))) for side in chosen)
        if questions := {name: found for name, found in asks if found}:
            asked, now = self.driver.asked_clusters, decision.inputs.now
            seen = asked.answered(self.driver.fanout, decision.after.clusters, questions, seen, now)
            chosen = [replace(s, observation=seen[s.cluster]) if s.cluster in questions else s for s in chosen]
        return diff_document(key, commit, tuple(chosen), left_alone)

    def snapshots_diff(self, name: str, old: int, new: int) -> dict[str, Any]:
        """One resource snapshot of a placement against another, as a SnapshotDiff document. BadInput for one that is
        not there, or whose objects are not kept any more."""
        state = self.driver.load_state(self.state_head())
        record = state.placements[_placement_named(name, state)]
        sides = []
        for index in (old, new):
            snapshot = next((one for one in record.resource_snapshots if one.index == index), None)
            if snapshot is None:
                known = ", ".join(str(one.index) for one in record.resource_snapshots)
                raise BadInput(LoopText.NO_SNAPSHOT(name=name, index=index), hint=f"snapshots: {known}")
            loaded = self.driver.states.trees.loaded(Subject.of_placement(record.placement.key), record, snapshot)
            found = loaded.snapshot_named(snapshot.name)
            if found is None or found.manifests is None:
                raise BadInput(LoopText.OBJECTS_SNAPSHOT_NOT_KEPT_ANY(index=index, name=name))
            sides.append(found)
        return snapshots_document(record.placement.key, *sides)

    def rendered_files(self, revision: str | None) -> tuple[dict[str, bytes], list[str]]:
        """Each picked cluster's manifests with the newest snapshots, by CLUSTER/PLACEMENT/FILE.yaml; and a
        sentence for each placement on a cluster that cannot be rendered."""
        decision = self.decide(revision)
        files: dict[str, bytes] = {}
        errors: list[str] = []
        for name, rendered in _works_when_done(decision).items():
            for work in rendered:
                if work.error is not None:
                    errors.append(f"{work.placement} on {name}: {work.error}")
                    continue
                for manifest in work.manifests:
                    files[file_path(name, work.placement, manifest.key)] = file_content(manifest)
        return dict(sorted(files.items())), errors

    def runner(self, listen: Listener) -> Runner:
        """What reconciles; events go to `listen`. From now on nothing waits for folders that take long to build."""
        self.driver.listen = listen
        if self.driver.desired_trees.slow_builds is not None:
            self.driver.desired_trees.slow_builds.on_done = self.wake.trigger
        self._heads = None
        return Runner(
            driver=self.driver,
            clock=self.clock,
            wake=self.wake,
            interval=lambda: self.driver.interval() * random.uniform(*_SPREAD),
            watch=self.watch,
            pulse=self.pulse,
        )

    def rewrite(self) -> Rewrite | None:
        """How the watched branch was rewritten, None where it was not or a person has accepted it."""
        before = self.driver.load_state(self.state_head())
        return self.driver.rewrite_of(self.desired_at(self.commit_of(None)), before)

    def verifier(self, asked: Asked, status: Status) -> Check:
        """See loop/answer_checks.py; what it needs is fetched now."""
        return answer_check(self.driver, self.driver.load_state(self.state_head()), asked, status)

    def commits(self, person: Person) -> PersonCommits:
        """What commits files to the repository in a person's name."""
        self.commit_of(None)  # the FleetConfig says what the watched branch is called
        driver, self._heads = self.driver, None
        return PersonCommits(
            reader=driver.reader,
            writer=driver.states.writer,
            watched=driver.branches.watch,
            person=person,
            now=self.clock.now,
        )

    @property
    def _planning(self) -> Planning:
        return Planning(driver=self.driver, clusters=self.clusters, now=self.clock.now())


def _placement_named(name: str, state: FleetState) -> PlacementKey:
    """NAME or NAMESPACE/NAME as a key; BadInput where the state has no such placement."""
    key = PlacementKey(*name.split("/", 1)) if "/" in name else PlacementKey("", name)
    if key not in state.placements:
        raise no_placement(name, [str(known) for known in state.placements], state.runs.values())
    return key


def _works_when_done(decision: Decision) -> dict[str, tuple[Work, ...]]:
    """The works of every cluster as they will be when every rollout is through."""
    wanted = decision.inputs.desired
    current = snapshots.current_overrides(wanted.overrides, decision.after.overrides)
    kept = removals.Kept.of(removals.pending(decision.after.holds.values()), wanted.payload)
    return works.works_when_done(decision.after, current, wanted.config.policy, kept.overridden, kept.unwritten)
