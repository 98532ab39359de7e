"""One repository opened for questions: what is wrong, what would happen, why, and what each cluster is to have.

Everything here reads; only the runner and the commits of a person that it hands out write.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from gitfleet import apply, approvals, schedule, snapshots, works
from gitfleet.api.conditions import Status
from gitfleet.api.faults import WHOLE_COMMIT, Fault, Severity, is_error
from gitfleet.api.objects import JsonObject
from gitfleet.api.placements import PlacementKey
from gitfleet.api.staged import REWRITE_PREFIX
from gitfleet.branches.approval_history import Rewrite
from gitfleet.branches.desired_trees import WhatIf
from gitfleet.branches.person_commits import Check, PersonCommits
from gitfleet.branches.repository import Repository
from gitfleet.desired import faults_at
from gitfleet.errors import BadInput
from gitfleet.formats.near_names import did_you_mean
from gitfleet.formats.sops import is_sops_encrypted
from gitfleet.formats.yaml_reader import lines_of
from gitfleet.loop.driver import Driver, Listener
from gitfleet.loop.planning import Planning
from gitfleet.loop.pulse import Pulse
from gitfleet.loop.rolled_out import since
from gitfleet.loop.runner import Runner, Wake
from gitfleet.loop.texts import LoopText
from gitfleet.model.approvals import ApprovalFacts, Asked
from gitfleet.model.decisions import Decision
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Subject
from gitfleet.model.renames import renamed_placements
from gitfleet.model.state import FleetState
from gitfleet.ports.clock import Clock
from gitfleet.ports.repos import Person
from gitfleet.reconcile.foreseen import foreseen, unplaced_folders
from gitfleet.reconcile.pins import pin_warnings
from gitfleet.reconcile.run_approvals import asked_of_people, wrong_approvals
from gitfleet.rendered import file_content, file_path
from gitfleet.views.diff_document import ClusterSides, diff_document, questions_of, snapshots_document
from gitfleet.views.explanation import explained, no_placement
from gitfleet.views.plan_document import PlannedReconcile, plan_document

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

    @property
    def repository(self) -> Repository:
        """The repository that was opened."""
        return self.driver.repository

    def commit_of(self, revision: str | None) -> str:
        """The commit that a revision names, or the head of the watched branch."""
        heads = self._fetched()
        if revision is not None:
            return self.repository.reader.resolve(revision)
        return self.repository.watched_commit(heads)

    def state_head(self) -> str | None:
        """The head of the state branch, None when there is none yet."""
        heads = self._fetched()
        if self.repository.branches.watch in heads:
            self.repository.watched_commit(heads)  # the FleetConfig there says what the state branch is called
        return heads.get(self.repository.branches.state)

    def _fetched(self) -> Mapping[str, str]:
        """The remote's branches, asked for once: all results of one command are of the same moment."""
        if self._heads is None:
            self._heads = self.repository.reader.fetch(self.driver.needed)
        return self._heads

    def _state(self) -> FleetState:
        return self.repository.load_state(self.state_head())

    def state_file(self, path: str) -> str:
        """One file of the state branch as text, "" when it is not there."""
        self._heads = None  # a runner may have written it since
        head = self.state_head()
        entry = self.repository.reader.list_tree(head).get(path) if head else None
        if entry is None:
            return ""
        return self.repository.reader.read_blobs([entry.oid], limit=1 << 24).get(entry.oid, b"").decode()

    def desired_at(self, commit: str) -> Desired:
        """The fleet as written at a commit."""
        return self.repository.desired_trees.at(commit, self._state())

    def encrypted_at(self, commit: str) -> int:
        """How many Secrets of a commit SOPS encrypted."""
        return sum(is_sops_encrypted(manifest.body) for manifest in self.desired_at(commit).payload)

    def faults_at(self, commit: str) -> tuple[Fault, ...]:
        """All that is wrong in a commit, and with what is installed here: a FleetConfig may name other plug-ins;
        approvals that miss what waits now, and what is pinned; and what a reconcile will refuse."""
        before = self._state()
        desired = self.repository.desired_trees.at(commit, before)
        faults = {*desired.faults, *wrong_approvals(before.held.values(), before, desired)}
        faults |= {*pin_warnings(desired, before.placements), *self._foreseen(desired, before)}
        if not any(map(is_error, faults)):
            faults |= {*faults_at([*unplaced_folders(desired)], self._content_of, Severity.WARNING)}
        if not (faults or desired.payload or any(desired.objects.values())):
            return (Fault(WHOLE_COMMIT, 1, "", "", LoopText.NOTHING_WRITTEN.coded()),)
        plugin_faults = schedule.profile_for(desired.config, self.driver.plugins)[1]
        origin = desired.config.origin
        if not plugin_faults or origin is None or not origin.blob:
            return tuple(sorted({*faults, *plugin_faults}))
        content = self._content_of(origin.blob)
        numbers = range(len(desired.config.scheduler_plugins))
        lines = lines_of(content, [(origin.document, ("spec", "scheduler", "plugins", number)) for number in numbers])
        by_field = {f"spec.scheduler.plugins[{number}]": line for number, line in enumerate(lines)}
        return tuple(sorted({*faults, *(replace(fault, line=by_field[fault.field]) for fault in plugin_faults)}))

    def _foreseen(self, desired: Desired, before: FleetState) -> Iterator[Fault]:
        """The errors of runs, overrides and dependencies that a decision shows, but of fields that have one already."""
        has_order = any(folder.depends_on for folder in desired.folders.values())
        if desired.refused or not (desired.runs or desired.overrides or has_order):
            return
        decision, _ = self._planning.decide(desired, before)
        had = {(fault.object, fault.field) for fault in desired.faults}
        for fault in faults_at([*foreseen(decision)], self._content_of):
            if (fault.object, fault.field) not in had:
                yield fault

    def _content_of(self, blob: str) -> bytes:
        return self.repository.reader.read_blobs([blob], limit=1 << 24).get(blob, b"")

    def decide(self, revision: str | None) -> Decision:
        """What a reconcile of a revision would decide now; without one, of the commit that is in force: the head of the
        watched branch, or the one before where the branch was rewritten and nobody has accepted that."""
        rewrite = self.rewrite() if revision is None else None
        commit = rewrite.old if rewrite is not None else self.commit_of(revision)
        return self._planning.decide(self.desired_at(commit), self._state())[0]

    def plan(self, revision: str | None, base: str | None, what_if: WhatIf = NOTHING) -> dict[str, Any]:
        """The Plan document (contracts.md §4). With a base no cluster is asked."""
        head, planning = self.state_head(), self._planning
        commit = self.commit_of(revision)
        before, read_at = self.repository.load_state(head), self.repository.desired_trees.at
        if base is None:
            desired = read_at(commit, before)
        else:
            planning, rolled_out = replace(planning, clusters="none"), read_at(self.commit_of(base), before)
            before = planning.as_rolled_out(rolled_out, before)
            desired = since(rolled_out, read_at(commit, before))
        desired = what_if.applied_to(desired)
        is_head = commit == self._fetched().get(self.repository.branches.watch)
        rewrite = self.rewrite() if is_head else None
        decision, operations = planning.decide(desired, before)
        remain, blocked = planning.remaining(decision, operations)
        planned = PlannedReconcile(
            commit=commit,
            state_commit=head,
            decision=decision,
            faults=(
                *desired.faults,
                *pin_warnings(desired, decision.after.placements),
                *(rewrite.faults() if rewrite is not None else ()),
            ),
            operations=operations,
            remain=remain,
            blocked=blocked,
            watched=base is None and what_if == NOTHING and is_head,
            renamed=renamed_placements(before.placements, desired.placements.values()),
        )
        return plan_document(planned)

    def explain(self, name: str, revision: str | None) -> tuple[dict[str, str], list[JsonObject]]:
        """See `views.explained`. BadInput for a name that is not there."""
        decision = self.decide(revision)
        after, key = decision.after, _placement_named(name, decision.after)
        profile, _ = schedule.profile_for(decision.inputs.desired.config, self.driver.plugins)
        return explained(after.placements[key], after, decision.inputs.now, profile, decision.plans.get(key))

    def diff(self, name: str, cluster: str | None, revision: str | None) -> dict[str, Any]:
        """What the clusters of a placement have against what they are to have when every rollout is through, as a Diff
        document. BadInput for a name that is not there."""
        commit, before, planning = self.commit_of(revision), self._state(), self._planning
        decision, _ = planning.decide(self.desired_at(commit), before)
        key = _placement_named(name, decision.after)
        done, seen = planning.rolled_out(decision)
        silent = {member: seen for member, seen in decision.inputs.observations.items() if not seen.reachable}
        sides = []
        for member in sorted({*done.works, *before.inventory}):
            work = next((work for work in done.works.get(member, ()) if work.placement == key), None)
            owned = tuple(entry for entry in before.inventory.get(member, {}).values() if entry.placement == key)
            observation = silent.get(member) or seen.get(member)
            if work is not None or owned:
                sides.append(ClusterSides(cluster=member, work=work, observation=observation, owned=owned))
        names = [side.cluster for side in sides]
        if cluster is not None and cluster not in names:
            hint = did_you_mean(cluster, names, f"it has: {', '.join(names)}" if names else LoopText.NO_CLUSTERS())
            raise BadInput(LoopText.NOTHING_CLUSTER(name=name, cluster=cluster), hint=hint)
        ignored = decision.inputs.desired.config.ignore_differences
        left_alone = apply.Wanted(decision.works, ignored=ignored, by_rollouts=decision.by_rollouts).left_alone
        chosen = [side for side in sides if cluster in (None, side.cluster)]
        asks = ((side.cluster, questions_of(side, left_alone(side.cluster))) for side in chosen)
        if questions := {name: asked_of for name, asked_of in asks if asked_of}:
            dry_runs, now = self.driver.clusters.dry_runs, decision.inputs.now
            seen = dry_runs.answered(self.driver.clusters.fanout, decision.after.clusters, questions, seen, now)
            chosen = [replace(s, observation=seen[s.cluster]) if s.cluster in questions else s for s in chosen]
        return diff_document(key, commit, tuple(chosen), left_alone)

    def snapshots_diff(self, name: str, old: int, new: int) -> dict[str, Any]:
        """One resource snapshot of a placement against another, as a SnapshotDiff document. BadInput for one that is
        not there, or whose objects are not kept any more."""
        state = self._state()
        record = state.placements[_placement_named(name, state)]
        sides = []
        for index in (old, new):
            snapshot = next((candidate for candidate in record.resource_snapshots if candidate.index == index), None)
            if snapshot is None:
                indexes = ", ".join(str(recorded.index) for recorded in record.resource_snapshots)
                raise BadInput(LoopText.NO_SNAPSHOT(name=name, index=index), hint=f"snapshots: {indexes}")
            loaded = self.repository.states.trees.loaded(Subject.of_placement(record.placement.key), record, snapshot)
            restored = loaded.snapshot_named(snapshot.name)
            if restored is None or restored.manifests is None:
                raise BadInput(LoopText.OBJECTS_SNAPSHOT_NOT_KEPT_ANY(index=index, name=name))
            sides.append(restored)
        return snapshots_document(record.placement.key, *sides)

    def rendered_files(self, revision: str | None) -> tuple[dict[str, bytes], list[str]]:
        """Each picked cluster's manifests with the newest snapshots, by CLUSTER/PLACEMENT/FILE.yaml; and a
        sentence for each placement on a cluster that cannot be rendered."""
        decision = self.decide(revision)
        desired, after = decision.inputs.desired, decision.after
        overrides = snapshots.current_overrides(desired.overrides, after.overrides)
        files: dict[str, bytes] = {}
        errors: list[str] = []
        for name, rendered in works.works_when_done(after, overrides, desired.config.policy).items():
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
        if self.repository.desired_trees.slow_builds is not None:
            self.repository.desired_trees.slow_builds.on_done = self.wake.trigger
        self._heads = None
        return Runner(
            driver=self.driver,
            clock=self.clock,
            wake=self.wake,
            interval=lambda: self.repository.config.interval_seconds * random.uniform(*_SPREAD),
            watch=self.watch,
            pulse=self.pulse,
        )

    def rewrite(self) -> Rewrite | None:
        """How the watched branch was rewritten, None where it was not or a person has accepted it."""
        before = self._state()
        return self.repository.rewrite_of(self.desired_at(self.commit_of(None)), before)

    def verifier(self, request: Asked, status: Status) -> Check:
        """What verifies a person's answer before it is pushed, as a reconcile will afterwards: BadInput where a commit
        does not answer the request by this status. What it needs is fetched now."""
        before, now = self._state(), self.clock.now()
        read_at = partial(self.repository.desired_trees.at, state=before)

        def check(commit: str, paths: Collection[str]) -> None:
            desired = read_at(commit)
            answers = approvals.given(request, desired.approvals_by_request)
            own = [answer for answer in answers if answer.origin is not None and answer.origin.path in paths]
            if not own:
                faults = "; ".join(str(fault) for fault in desired.faults if fault.path in paths)
                raise BadInput(LoopText.ANSWER_NOT_READ(name=request.name), hint=faults or LoopText.SEE_IGNORE_RULES())
            # With the commits that a stage's approval is for, whose authors must not approve.
            of_stages = {(staged.namespace, staged.name): staged for staged in asked_of_people(before, desired)}
            whole = of_stages.get((request.namespace, request.name), request)
            history, alone = self.repository.approvals, request.name.startswith(REWRITE_PREFIX)
            reconciled = before.observed_commit
            facts = (
                history.facts(desired, [whole], read_at, reconciled, now, alone=alone) if history is not None else None
            )
            last = [*(answer for answer in answers if answer not in own), *own]  # beside the others, or not at all
            verdict = approvals.judge(whole, last, facts, desired.config.approvals, now)
            if verdict.answer is not None and verdict.answer.status is not status:
                raise BadInput(LoopText.ANSWERED_OTHERWISE(name=request.name), hint=LoopText.REMOVE_THAT_ANSWER())
            if why := "; ".join(fault.message for fault in verdict.faults if fault.path in paths):
                signing = (facts or {}).get(own[0].key, ApprovalFacts())
                signed = signing.policy.allowed_signers is None or any(commit.signer for commit in signing.commits)
                hint = LoopText.WHO_MAY_APPROVE() if signed else LoopText.SIGN_COMMITS()
                raise BadInput(LoopText.ANSWER_CANNOT_COUNT(why=why), hint=hint)

        return check

    def commits(self, person: Person) -> PersonCommits:
        """What commits files to the repository in a person's name."""
        self.commit_of(None)  # the FleetConfig says what the watched branch is called
        driver, self._heads = self.driver, None
        return PersonCommits(
            reader=driver.repository.reader,
            writer=driver.repository.states.writer,
            watched=driver.repository.branches.watch,
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
        raise no_placement(name, [str(key) for key in state.placements], state.runs.values())
    return key
