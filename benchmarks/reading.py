"""What reading the state branch costs: a generated state of many bindings, and commands as processes of their own.

    python -m benchmarks.reading [PLACEMENTS] [CLUSTERS_EACH]

1000 placements on 100 clusters each where nothing is said: 100,000 bindings. Goal: reading a binding by its declaration
costs at most 20 times what orjson takes, which checks nothing.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import timeit
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import orjson

from benchmarks.generated import commit_files
from benchmarks.goals import Goals
from gitfleet.api import read_state, write
from gitfleet.api.bindings import Binding, BindingState, ClusterDecision, ClusterScore, binding_name
from gitfleet.api.clusters import AgentStatus, ClusterStatus, MemberCluster
from gitfleet.api.conditions import Condition, Status
from gitfleet.api.objects import ObjectKey
from gitfleet.api.placements import Placement, PlacementKey, ResourceSelector
from gitfleet.api.snapshots import DocumentRef, PolicySnapshot, ResourceSnapshot
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.state import assemble_state, compose_state, parse_state_file, state_file_kind

NOW = datetime(2026, 1, 1, tzinfo=UTC)
NAMESPACE = ObjectKey("", "v1", "Namespace", "", "app")
TYPES = ("RolloutStarted", "Overridden", "WorkSynchronized", "Applied", "Available")
ONE = "app-0007"
COMMANDS = (
    ("get", "crp"), ("get", "crp", ONE, "-o", "yaml"), ("describe", "crp", ONE), ("explain", ONE), ("get", "mc"),
    ("get", "holds"), ("get", "snapshots"), ("get", "policies"), ("get", "bindings"),
    ("get", "bindings", binding_name(PlacementKey("", ONE), "c00049")),
)  # fmt: skip


def condition(type_: str, message: str = "all of it is as it should be") -> Condition:
    """A condition that is True."""
    return Condition(
        type=type_,
        status=Status.TRUE,
        reason=type_,
        message=message,
        last_transition_time=NOW,
        observed_generation=1,
    )


def record(number: int, each: int, clusters: int) -> PlacementRecord:
    """A settled placement on `each` of the clusters."""
    key = PlacementKey("", f"app-{number:04}")
    placement = Placement(key=key, selectors=(ResourceSelector(group="", version="v1", kind="Namespace", name="app"),))
    names = sorted(f"c{(number * 7 + at) % clusters:05}" for at in range(each))
    decisions = tuple(ClusterDecision(cluster=n, selected=True, score=ClusterScore(), reason="picked") for n in names)
    conditions = tuple(map(condition, TYPES))
    document = DocumentRef("app.yaml", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", 0, NAMESPACE)
    snapshot = ResourceSnapshot(
        placement=key, index=0, hash="0" * 64, commit="0" * 40, created=NOW, documents=(document,)
    )
    bindings = tuple(
        Binding(
            placement=key, cluster=d.cluster, state=BindingState.BOUND, policy_snapshot=f"{key.name}-0",
            resource_snapshot=snapshot.name, applied_snapshot=snapshot.name, decision=d, conditions=conditions,
        )
        for d in decisions
    )  # fmt: skip
    policy = PolicySnapshot(
        placement=key, index=0, hash="0" * 64, policy=placement.effective_policy, number_of_clusters=None,
        placement_generation=1,
    )  # fmt: skip
    own = tuple(condition(f"{key.kind}{type_}") for type_ in ("Scheduled", *TYPES))
    return PlacementRecord(
        placement=placement, resource_snapshots=(snapshot,), policy_snapshots=(policy,), bindings=bindings,
        decisions=decisions, conditions=own,
    )  # fmt: skip


def state_of(placements: int, each: int, observed: str | None = None) -> FleetState:
    """A settled fleet."""
    clusters = max(each, 1000)
    names = [f"c{number:05}" for number in range(clusters)]
    agent = AgentStatus(conditions=(condition("Joined"), condition("Healthy")), last_received_heartbeat=NOW)
    status = ClusterStatus(conditions=(condition("Joined"),), agent=agent)
    records = (record(number, each, clusters) for number in range(placements))
    return FleetState(
        observed_commit=observed,
        clusters={name: MemberCluster(name=name, status=status) for name in names},
        placements={one.placement.key: one for one in records},
    )


def timed(what: str, count: int, begin: float) -> None:
    """One line about a step in this process."""
    used = time.process_time() - begin
    print(f"{what:<40}{used:7.2f} s CPU  {used / count * 1e6:6.1f} us a binding", flush=True)


def compare_one(state: FleetState, goals: Goals) -> None:
    """What reading and writing one binding by its declaration costs beside orjson, which checks nothing."""
    binding = next(iter(state.placements.values())).bindings[0]
    body = write(binding)
    text = orjson.dumps(body)
    steps: dict[str, Callable[[], object]] = {
        "orjson reads": lambda: orjson.loads(text),
        "orjson writes": lambda: orjson.dumps(body),
        "read by declaration": lambda: read_state(Binding, body),
        "write by declaration": lambda: write(binding),
    }
    costs = dict[str, float]()
    for name, step in steps.items():
        costs[name] = min(timeit.repeat(step, number=5000, repeat=5, timer=time.process_time)) / 5000
        print(f"one binding, {name:<27}{costs[name] * 1e6:6.1f} us CPU")
    goals.at_most("read by declaration, times orjson", costs["read by declaration"] / costs["orjson reads"], 20)


def main(arguments: list[str]) -> None:
    """The command."""
    placements, each = (int(text) for text in [*arguments, *("1000", "100")[len(arguments) :]])
    goals = Goals()
    with tempfile.TemporaryDirectory(prefix="gitfleet-reading-") as folder:
        repo = Path(folder) / "fleet.git"
        subprocess.run(["git", "init", "-q", "--bare", "--initial-branch=main", str(repo)], check=True)
        commit_files(repo, {"README.md": "A fleet\n"})
        head = subprocess.run(["git", "-C", str(repo), "rev-parse", "main"], check=True, capture_output=True, text=True)
        state = state_of(placements, each, head.stdout.strip())
        count = placements * each
        compare_one(state, goals)
        begin = time.process_time()
        change = compose_state(FleetState(), state, version="0")
        timed("compose everything", count, begin)
        begin = time.process_time()
        parsed = {
            path: parse_state_file(path, content) for path, content in change.write.items() if state_file_kind(path)
        }
        timed("parse everything", count, begin)
        begin = time.process_time()
        assembled = assemble_state({}, parsed)
        timed("assemble", count, begin)
        if assembled.placements.keys() != state.placements.keys():
            raise SystemExit("what was read is not what was written")
        files = {path: content.decode() for path, content in change.write.items()}
        print(f"{len(files)} files, {sum(map(len, files.values())) / 2**20:.0f} MiB")
        commit_files(repo, files, branch="gitfleet/state")
        for command in COMMANDS:
            for turn in ("first", "again"):
                measured(command, turn, repo, Path(folder) / "cache")
    goals.end()


MEASURE = """
import os, subprocess, sys, time
begin = time.perf_counter()
with open(os.devnull, "w") as out:
    child = subprocess.Popen(sys.argv[1:], stdout=out)
    _, status, used = os.wait4(child.pid, 0)
wall = time.perf_counter() - begin
print(f"{used.ru_utime + used.ru_stime:7.2f} s CPU {wall:7.2f} s {used.ru_maxrss / 1024:6.0f} MiB")
sys.exit(status != 0)
"""
"""Measures one command from a small process: a child's peak is never less than that of the process that started it."""


def measured(command: tuple[str, ...], turn: str, repo: Path, cache: Path) -> None:
    """One command in a process of its own."""
    words = [sys.executable, "-m", "gitfleet", *command, "-C", str(repo), "--cache-dir", str(cache)]
    print(f"gitfleet {' '.join(command)} ({turn})".ljust(50), end="", flush=True)
    subprocess.run([sys.executable, "-c", MEASURE, *words], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
