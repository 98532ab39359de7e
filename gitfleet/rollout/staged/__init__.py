"""Staged update runs: stage by stage, cluster by cluster, with approvals and waits between (kubefleet.md §7; decisions
D8 to D14, D24).

    advance_run         what one pass makes of one run
    external            the placement's record, if runs roll it out
    new_run             a run before its first step
    snapshot_for        the resource snapshot that a run rolls out
    waits_of, soak_wait what a run, or a cluster of it, waits for, until when, and what lets it go on
    stages_of, answer_names    which clusters are in which stage, and what approvals answer a run
    phases              the state machines, as tables
"""

from gitfleet.rollout.staged.pace import soaking_since
from gitfleet.rollout.staged.phases import ClusterPhase, RunPhase, StagePhase
from gitfleet.rollout.staged.progress import advance_run
from gitfleet.rollout.staged.requests import RunRequest, RunStep, snapshot_for
from gitfleet.rollout.staged.stages import answer_names, stages_of
from gitfleet.rollout.staged.start import external, new_run
from gitfleet.rollout.staged.steps import cluster_phase, run_phase, stage_phase
from gitfleet.rollout.staged.tasks import asked
from gitfleet.rollout.staged.waits import soak_wait, waits_of

__all__ = [
    "ClusterPhase",
    "RunPhase",
    "RunRequest",
    "RunStep",
    "StagePhase",
    "advance_run",
    "answer_names",
    "asked",
    "cluster_phase",
    "external",
    "new_run",
    "run_phase",
    "snapshot_for",
    "soak_wait",
    "soaking_since",
    "stage_phase",
    "stages_of",
    "waits_of",
]
