"""The composition root: it builds and hands over; it decides nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path

from gitfleet import __version__, rollout
from gitfleet.adapters.blob_cache import SqliteBlobCache
from gitfleet.adapters.clock import SystemClock
from gitfleet.adapters.git import GitRemote
from gitfleet.adapters.git.signing import person_of
from gitfleet.adapters.git_setup import make_repository, open_repository, work_tree_of
from gitfleet.adapters.helm import HelmProgram
from gitfleet.adapters.kube import KubeDirectory, Provider, Rests, Timeouts, chosen_providers
from gitfleet.adapters.kustomize import KUSTOMIZE, KustomizeProgram
from gitfleet.adapters.programs import end_programs, fingerprint
from gitfleet.adapters.ref_watch import watcher_of
from gitfleet.adapters.report_files import save_report
from gitfleet.adapters.sops import AgeDecryptor
from gitfleet.adapters.state_dir import StateDirectory
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.fleet import Branches, FleetConfig, ListedProvider
from gitfleet.api.scenarios import Scenario
from gitfleet.branches.approval_history import ApprovalHistory, own_policy
from gitfleet.branches.desired_trees import ClusterReading, DesiredTrees, WhatIf
from gitfleet.branches.log_once import ReportOnce
from gitfleet.branches.repository import Repository
from gitfleet.branches.state_branch import StateBranch
from gitfleet.branches.state_trees import StateTrees
from gitfleet.branches.steps import SteppedCache
from gitfleet.branches.work_tree import WithWorkTree, commit_id_of
from gitfleet.fleet.clusters import ByConnection, Clusters
from gitfleet.fleet.fanout import Fanout, Workers
from gitfleet.fleet.observation_cache import ObservationCache
from gitfleet.fleet.pull_clusters import PullClusters
from gitfleet.fleet.workload_rollouts import WorkloadRollouts
from gitfleet.loop.driver import Driver, Publishers
from gitfleet.loop.runner import Wake
from gitfleet.loop.workspace import Workspace
from gitfleet.model.events import Event
from gitfleet.payload.builds import TRY_SECONDS, WHOLE_SECONDS, Builds, SlowBuilds, SlowHelm, SlowKustomize
from gitfleet.payload.helm import Charts
from gitfleet.payload.kustomize import Kustomizer
from gitfleet.ports.caches import BlobCache
from gitfleet.ports.clock import Clock
from gitfleet.ports.clusters import ClusterDirectory
from gitfleet.ports.properties import PropertyProviderFactory
from gitfleet.ports.repos import RepoReader, RepoWriter, WorkTreeFiles
from gitfleet.ports.rollout_calls import RolloutCalls
from gitfleet.settings import Settings, WhatIfOptions
from gitfleet.simulation.answers import SimulatedAnswers
from gitfleet.simulation.fleet import FileProperties, SimulatedDirectory, SimulatedFleet
from gitfleet.simulation.memory_cache import MemoryCache
from gitfleet.simulation.scenario import read_scenario
from gitfleet.simulation.scenario_run import Reconciler, ScenarioRun
from gitfleet.simulation.stand_in_values import StandInValues
from gitfleet.views.holds import held_line
from gitfleet.views.runs import last_run_failures
from gitfleet.wiring.plugins import property_providers, scheduler_plugins, workload_handlers
from gitfleet.wiring.publishers import branch_publishers, bytes_of
from gitfleet.wiring.recorded_fleets import RecordedFleet, begin, files_at, recorded_fleet
from gitfleet.workload import RolloutsLoader

log = logging.getLogger(__name__)
IN_MEMORY = Settings(repo="memory", cache_dir=Path(), watch_branch=Branches().watch)
"""The settings of a simulation of files that no repository has."""
DEFAULT_SCENARIO = b"apiVersion: gitfleet.dev/v1alpha1\nkind: Scenario\nspec: {}\n"

__all__ = [
    "WhatIf",
    "commit_id_of",
    "end_programs",
    "make_repository",
    "open_workspace",
    "person_of",
    "property_providers",
    "scheduler_plugins",
    "simulate",
    "simulated_clusters",
    "what_if_from",
    "work_tree_of",
]


@contextmanager
def open_workspace(
    settings: Settings, *, clusters: str = "live", work_tree: WorkTreeFiles | None = None, decrypts: bool = False
) -> Iterator[Workspace]:
    """Open a repository for questions and for running; `clusters` is live, simulated, none or recorded. With
    `work_tree` its files can be asked about as a commit; only one that `decrypts` can apply what SOPS encrypted."""
    clock, remote = SystemClock(), open_repository(settings)
    repo = WithWorkTree(remote, work_tree) if work_tree is not None else remote
    blobs = SqliteBlobCache(settings.cache_dir / "parsed.sqlite3")
    cache = SteppedCache(blobs)
    folder = settings.simulated_dir or settings.cache_dir / "simulated"
    simulated = SimulatedFleet.load(folder, clock)
    simulation = simulated_clusters(simulated, clock, keep_in=folder if clusters == "live" else None)
    wake, providers, executor = Wake(), _ListedProviders(), Workers(FleetConfig().concurrency)
    real = KubeDirectory(settings.connections, providers=providers.chosen)
    real.may_write = lambda: wake.leads()
    directory = _directory(settings, real, simulation, remote, clusters)
    # What snapshots contain may lie in the state alone: it is read from where the state is.
    reading = ClusterReading(simulated=clusters == "simulated" or settings.simulate_unconnected)
    keys = AgeDecryptor(settings.sops_age_key_file) if decrypts else None
    trees = DesiredTrees(repo, cache, settings.limits, builds=folder_builds(blobs), decryptor=keys, clusters=reading)
    driver = Driver(
        repository=_repository(settings, repo, remote, trees, clock, cache),
        clusters=_clusters(
            Fanout(directory=directory, executor=executor, stopped=wake.gives_up), trees, clock, pull=directory.pull
        ),
        clock=clock,
        version=__version__,
        plugins=scheduler_plugins(),
        publishers=Publishers(branch_publishers(remote, clock)),
        failures=ReportOnce(partial(save_report, settings.cache_dir / "reports")),
        configure=partial(_configure, providers, executor),
    )
    try:
        driver.name_effects(cache)
        yield Workspace(driver=driver, clock=clock, wake=wake, clusters=clusters, watch=watcher_of(settings.repo))
    finally:
        # Not waited for: a call may hang in an API server that does not answer.
        executor.shutdown(wait=False, cancel_futures=True)
        directory.close()
        if clusters == "live":
            simulated.save(folder)


def _repository(
    settings: Settings,
    repo: RepoReader,
    remote: RepoWriter,
    trees: DesiredTrees,
    clock: Clock,
    cache: SteppedCache | None = None,
) -> Repository:
    return Repository(
        reader=repo,
        states=StateBranch(repo, remote, StateTrees(repo, trees, settings.limits, cache)),
        desired_trees=trees,
        clock=clock,
        approvals=_approval_history(settings, remote),
        watch_branch=settings.watch_branch,
        state_branch=Branches().state if settings.state_dir is not None else None,
    )


def _clusters(
    fanout: Fanout,
    trees: DesiredTrees,
    clock: Clock,
    calls: RolloutCalls | None = None,
    pull: PullClusters | None = None,
) -> Clusters:
    workloads = WorkloadRollouts(rollouts=RolloutsLoader(workload_handlers), calls=calls)
    observations = ObservationCache(clock=clock)
    return Clusters(fanout=fanout, observations=observations, encrypted=trees.encrypted, workloads=workloads, pull=pull)


def _configure(providers: _ListedProviders, workers: Workers, config: FleetConfig) -> None:
    """What a process takes from the configuration before it observes."""
    providers.configure(config)
    workers.resize(config.concurrency)


def folder_builds(cache: BlobCache | None = None) -> Builds:
    """What builds folders of the payload, by the programs of this machine; outputs are kept in the cache."""
    slow = SlowBuilds(clock=SystemClock(), cache=cache)
    kustomizers = (KustomizeProgram(seconds=TRY_SECONDS), KustomizeProgram(seconds=WHOLE_SECONDS))
    kustomize = SlowKustomize(slow, *kustomizers, partial(fingerprint, *KUSTOMIZE))
    renderers = (HelmProgram(seconds=TRY_SECONDS), HelmProgram(seconds=WHOLE_SECONDS))
    helm = SlowHelm(slow, *renderers, partial(fingerprint, "helm"))
    return Builds(kustomizer=Kustomizer(kustomize, helm), charts=Charts(helm), slow=slow)


def _approval_history(settings: Settings, remote: RepoWriter) -> ApprovalHistory | None:
    """What looks who gave an approval, under the policy that the process was given or else the repository's."""
    history = remote.repo if isinstance(remote, StateDirectory) else remote
    if not isinstance(history, GitRemote):
        return None
    own, path = None, settings.approval_policy
    if path is not None:
        own = own_policy(bytes_of(path), str(path), lambda name: bytes_of(path.parent / name))
    return ApprovalHistory(history=history, reader=history, own=own)


def what_if_from(options: WhatIfOptions) -> WhatIf:
    """A what-if from the options of a command; BadInput for a file that cannot be read."""
    extra = tuple((str(path), bytes_of(path)) for path in options.with_file)
    return WhatIf(without=options.without, cordon=options.cordon, extra=extra)


def simulate(
    settings: Settings,
    scenario: Path | None,
    revision: str | None,
    what_if: WhatIf,
    listen: Callable[[Event, float], None],
    *,
    from_state: bool,
) -> tuple[str, ...]:
    """Run a scenario on a copy of a commit, in memory and in virtual time, from what the state branch has recorded or
    else an empty fleet; what is still waiting at the end, and which staged runs failed, in sentences."""
    content = bytes_of(scenario) if scenario else DEFAULT_SCENARIO
    script = read_scenario(content, path=str(scenario or "the default scenario"))
    with open_workspace(settings, clusters="none") as workspace:
        commit = workspace.commit_of(revision)
        files = files_at(workspace, commit, settings.limits)
        recorded = recorded_fleet(workspace, settings.limits) if from_state else None
        branch = workspace.repository.branches.watch
    settings = replace(settings, watch_branch=branch)
    run = run_scenario(script, files, listen, what_if=what_if, settings=settings, recorded=recorded)
    moving = (sentence for record in run.state.placements.values() for sentence in rollout.waiting_for(record))
    failed = last_run_failures(run.state.runs.values(), run.state.placements)
    holds = (f"held: {held_line(hold)}" for hold in run.state.held.values())
    return (*holds, *run.asks, *moving, *failed.values())


def run_scenario(
    script: Scenario,
    files: Mapping[str, bytes],
    listen: Callable[[Event, float], None],
    *,
    what_if: WhatIf = WhatIf(),
    settings: Settings = IN_MEMORY,
    recorded: RecordedFleet | None = None,
) -> ScenarioRun:
    """Run a scenario on the files of a config repo, from a recorded fleet or an empty one; the run as it ended."""
    branch = settings.watch_branch or Branches().watch
    script, fleet, repo, clock = begin(script, files, branch, recorded, settings.limits)
    answers = SimulatedAnswers(clock=clock, began=script.start, metrics=script.metrics, webhooks=script.webhooks)

    def start(on_event: Callable[[Event], None]) -> Reconciler:
        answers.forget_all()
        trees = DesiredTrees(
            repo, MemoryCache(), settings.limits,
            builds=folder_builds(), decryptor=StandInValues(), clusters=ClusterReading(what_if),
        )  # fmt: skip
        fanout = Fanout(directory=simulated_clusters(fleet, clock), executor=None)
        return Driver(
            repository=_repository(settings, repo, repo, trees, clock),
            clusters=_clusters(fanout, trees, clock, answers),
            clock=clock,
            version=__version__,
            plugins=scheduler_plugins(),
            listen=on_event,
        )

    run = ScenarioRun(
        scenario=script, repo=repo, fleet=fleet, clock=clock, branch=branch, start_reconciler=start, listen=listen,
        is_answered=lambda: bool(answers.answers()),
    )  # fmt: skip
    run.run()
    return run


class _ListedProviders:
    """The property providers that gitfleet.yaml lists; their packages are loaded when the first cluster is asked."""

    def __init__(self) -> None:
        self._listed: tuple[ListedProvider, ...] = ()

    def configure(self, config: FleetConfig) -> None:
        """From the next observation on, call the property providers that are listed here."""
        self._listed = config.property_providers

    def chosen(self) -> Sequence[Provider]:
        """The providers to ask."""
        return chosen_providers(self._listed, self._installed)

    @cached_property
    def _installed(self) -> Mapping[str, PropertyProviderFactory]:
        return property_providers()


def simulated_clusters(
    fleet: SimulatedFleet,
    clock: Clock,
    *,
    keep_in: Path | None = None,
    rests: Callable[[MemberCluster], Rests] | None = None,
) -> ClusterDirectory:
    """The adapter of clusters, its requests carried to the servers of a simulated fleet: one after the other, without
    pauses, and asking no property provider but `core`, at once when a MemberCluster file says something new. `rests`
    is as KubeDirectory has it."""

    def core() -> Sequence[Provider]:
        key = f"core {fleet.descriptions}"
        return [Provider(name="core", key=key, make=lambda: FileProperties(fleet))]

    clients = KubeDirectory(
        parallel=1,
        providers=core,
        timeouts=Timeouts(tries=1, definition_tries=1, provider_seconds=None),
        transports=lambda cluster: fleet.cluster(cluster.name),
        clock=clock,
    )
    clients.rests = rests
    return SimulatedDirectory(fleet, clients, keep_in=keep_in)


def _directory(
    settings: Settings,
    real: KubeDirectory,
    simulated: ClusterDirectory,
    remote: GitRemote | StateDirectory,
    clusters: str,
) -> ByConnection:
    """Agents reach clusters where something is pushed, and where clusters are asked."""
    return ByConnection(
        real=real,
        simulated=simulated,
        pull=PullClusters.on(remote, SystemClock()) if isinstance(remote, GitRemote) and clusters == "live" else None,
        all_simulated=clusters == "simulated",
        simulate_unconnected=settings.simulate_unconnected,
    )
