"""The composition root: it and `wiring_state` alone know the adapters. It builds and hands over; it
decides nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path

from gitfleet import __version__, rollout
from gitfleet.adapters import forge as forges
from gitfleet.adapters.blob_cache import SqliteBlobCache
from gitfleet.adapters.clock import SystemClock
from gitfleet.adapters.git import GitRemote
from gitfleet.adapters.git.signing import person_of
from gitfleet.adapters.git_setup import make_repository, open_repository, work_tree_of
from gitfleet.adapters.github_app import AppTokens
from gitfleet.adapters.helm import HelmProgram
from gitfleet.adapters.kube import CoreProvider, KubeDirectory, Provider, Rests, Timeouts, chosen_providers
from gitfleet.adapters.kustomize import KustomizeProgram
from gitfleet.adapters.programs import end_programs
from gitfleet.adapters.ref_watch import watcher_of
from gitfleet.adapters.report_files import save_report
from gitfleet.adapters.sops import AgeDecryptor
from gitfleet.adapters.state_dir import StateDirectory
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.fleet import Branches, FleetConfig, ListedProvider
from gitfleet.api.scenarios import Scenario
from gitfleet.errors import BadInput, GitfleetError, MissingPart
from gitfleet.loop.approval_history import ApprovalHistory, own_policy
from gitfleet.loop.builds import Builds
from gitfleet.loop.directories import ByConnection
from gitfleet.loop.driver import Driver
from gitfleet.loop.fanout import Fanout
from gitfleet.loop.forge import ForgePublisher, ForgeThread
from gitfleet.loop.helm import Charts
from gitfleet.loop.kustomize import Kustomizer
from gitfleet.loop.named_effects import name_effects
from gitfleet.loop.pull_clusters import PullClusters
from gitfleet.loop.rendered_branch import RenderedBranch
from gitfleet.loop.request_branches import RequestBranches
from gitfleet.loop.runner import Wake
from gitfleet.loop.slow_builds import QUICK_SECONDS, SlowBuilds, SlowHelm, SlowKustomize
from gitfleet.loop.state_branch import StateBranch
from gitfleet.loop.state_trees import StateTrees
from gitfleet.loop.steps import SteppedCache
from gitfleet.loop.trees import ClusterReading, DesiredTrees
from gitfleet.loop.whatif import WhatIf
from gitfleet.loop.work_tree import WithWorkTree, commit_id_of
from gitfleet.loop.workers import Workers
from gitfleet.loop.workload_rollouts import WorkloadRollouts
from gitfleet.loop.workspace import Workspace
from gitfleet.model.events import Event
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.ports.clock import Clock
from gitfleet.ports.clusters import ClusterDirectory
from gitfleet.ports.forges import Forge, ForgeAccess, ForgeFactory
from gitfleet.ports.properties import PropertyProviderFactory
from gitfleet.ports.repos import WorkTreeFiles
from gitfleet.settings import ForgeSettings, Settings, WhatIfOptions
from gitfleet.simulation.answers import SimulatedAnswers
from gitfleet.simulation.clock import ManualClock
from gitfleet.simulation.fleet import FileProperties, SimulatedDirectory, SimulatedFleet
from gitfleet.simulation.memory_cache import MemoryCache
from gitfleet.simulation.memory_repo import MemoryRepo
from gitfleet.simulation.scenario import read_scenario
from gitfleet.simulation.scenario_run import Reconciler, ScenarioRun
from gitfleet.simulation.stand_in_values import StandInValues
from gitfleet.views import last_run_failures
from gitfleet.wiring_plugins import loaded_from, property_providers, scheduler_plugins, workload_handlers

log = logging.getLogger(__name__)
_FORGE_SECONDS = {False: 10.0, True: 1.0}
"""So long a run that ends waits for the forge, by whether it was stopped: then all has to be over in 10 seconds."""
DEFAULT_SCENARIO = b"apiVersion: gitfleet.dev/v1alpha1\nkind: Scenario\nspec: {}\n"

__all__ = [
    "WhatIf",
    "commit_id_of",
    "end_programs",
    "forge_tokens",
    "make_repository",
    "open_forge",
    "open_workspace",
    "person_of",
    "property_providers",
    "scheduler_plugins",
    "shown_on_forge",
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
    cache = SteppedCache(SqliteBlobCache(settings.cache_dir / "parsed.sqlite3"))
    kept = settings.simulated_dir or settings.cache_dir / "simulated"
    simulated, simulation = _kept_simulation(kept, clock, clusters)
    wake, providers, executor = Wake(), _ListedProviders(), Workers(FleetConfig().concurrency)
    directory = _directory(settings, _real_clusters(settings, providers, wake), simulation, remote, clusters)
    # What snapshots hold may lie in the state alone: it is read from where the state is.
    reading = ClusterReading(simulated=clusters == "simulated" or settings.simulate_unconnected)
    keys = AgeDecryptor(settings.sops_age_key_file) if decrypts else None
    trees = DesiredTrees(repo, cache, settings.limits, builds=folder_builds(), decryptor=keys, clusters=reading)
    driver = Driver(
        reader=repo,
        states=StateBranch(repo, remote, StateTrees(repo, trees, settings.limits, cache)),
        desired_trees=trees,
        fanout=Fanout(directory=directory, executor=executor, stopped=wake.gives_up),
        clock=clock,
        plugins=scheduler_plugins(),
        version=__version__,
        save_report=partial(save_report, settings.cache_dir / "reports"),
        watch_branch=settings.watch_branch,
        state_branch=Branches().state if settings.state_dir is not None else None,
        approvals=_approval_history(settings, remote),
        configure=partial(_configure, providers, executor),
        pull=directory.pull,
        workloads=WorkloadRollouts(handlers=workload_handlers()),
    )
    try:
        _add_other_branches(driver, remote)
        opened = Workspace(driver=driver, clock=clock, wake=wake, clusters=clusters, watch=watcher_of(settings.repo))
        yield name_effects(opened, cache)
    finally:
        # Not waited for: a call may hang in an API server that does not answer.
        executor.shutdown(wait=False, cancel_futures=True)
        directory.close()
        if clusters == "live":
            simulated.save(kept)


def _configure(providers: _ListedProviders, workers: Workers, config: FleetConfig) -> None:
    """What a process takes from the configuration before it observes."""
    providers.configure(config)
    workers.resize(config.concurrency)


def folder_builds() -> Builds:
    """What builds folders of the payload, by the programs of this machine."""
    slow = SlowBuilds(clock=SystemClock())
    kustomize = SlowKustomize(slow, KustomizeProgram(seconds=QUICK_SECONDS), KustomizeProgram())
    helm = SlowHelm(slow, HelmProgram(seconds=QUICK_SECONDS), HelmProgram())
    return Builds(kustomizer=Kustomizer(kustomize), charts=Charts(helm), slow=slow)


def _add_other_branches(driver: Driver, remote: GitRemote | StateDirectory) -> None:
    """Give the driver what pushes requests for approval and the rendered branch. With --state-dir nothing is pushed,
    and a rendered branch that is enabled says so."""
    history = remote.repo if isinstance(remote, StateDirectory) else remote
    if not isinstance(remote, StateDirectory):
        driver.requests = RequestBranches(reader=remote, history=remote, writer=remote, clock=driver.clock)
    if isinstance(history, GitRemote):
        driver.rendered = RenderedBranch(reader=remote, history=history, writer=remote, clock=driver.clock)


def _approval_history(settings: Settings, remote: GitRemote | StateDirectory) -> ApprovalHistory | None:
    """What looks who gave an approval, under the policy that the process was given or else the repository's."""
    history = remote.repo if isinstance(remote, StateDirectory) else remote
    if not isinstance(history, GitRemote):
        return None
    own, path = None, settings.approval_policy
    if path is not None:
        own = own_policy(_bytes_of(path), str(path), lambda name: _bytes_of(path.parent / name))
    return ApprovalHistory(history=history, reader=history, own=own)


@contextmanager
def shown_on_forge(workspace: Workspace, settings: Settings) -> Iterator[None]:
    """While this lasts, what is decided is shown on the forge that the settings name, if any. BadInput and MissingPart
    for a forge, an address or a token that cannot be used."""
    chosen = settings.forge
    if chosen is None:
        yield
        return
    connect = partial(open_forge, chosen)
    publisher = ForgePublisher(token=forge_tokens(chosen), connect=connect, clock=workspace.clock)
    publisher.prepare()
    thread = ForgeThread(publisher)
    workspace.driver.forge = thread.submit
    yield
    thread.finish(_FORGE_SECONDS[workspace.wake.stopped])


def open_forge(chosen: ForgeSettings, token: str) -> Forge:
    """The forge that was chosen, for a token; its client library is loaded now."""
    known: dict[str, ForgeFactory] = {**forges.BUILT_IN, **loaded_from("gitfleet.forges")}
    make = known.get(chosen.name)
    if make is None:
        raise BadInput(f"there is no forge {chosen.name}; known are {', '.join(sorted(known))}")
    access = ForgeAccess(url=chosen.url, repository=chosen.repository, token=token, ca_file=chosen.ca_file)
    made = attempt(Subject("forge", chosen.name), make, access)
    if isinstance(made, Failure):
        raise made.cause if isinstance(made.cause, GitfleetError) else MissingPart(f"{made.subject}: {made.error}")
    lacking = [name for name in vars(Forge) if name[0] != "_" and not callable(getattr(made, name, None))]
    if lacking:
        raise BadInput(f"forge {chosen.name} has no {', '.join(lacking)}")
    return made


def forge_tokens(chosen: ForgeSettings) -> Callable[[], str]:
    """What gives the token for a forge at each moment: as its file has it then, or one of the app."""
    if chosen.app is None:
        return partial(_forge_token, chosen)
    return AppTokens(chosen.app, chosen.url or "https://github.com", SystemClock(), ca_file=chosen.ca_file)


def _forge_token(chosen: ForgeSettings) -> str:
    """The token for a forge, as its file has it now; BadInput where there is none."""
    file = chosen.token_file
    token = chosen.token if file is None else _bytes_of(file).decode(errors="replace").strip()
    if not token or not token.isascii() or not token.isprintable():
        raise BadInput(f"{file or 'the variable of --forge-token-env'} holds no token on one line")
    return token


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}") from error


def what_if_from(options: WhatIfOptions) -> WhatIf:
    """A what-if from the options of a command; BadInput for a file that cannot be read."""
    contents: list[tuple[str, bytes]] = []
    for path in options.with_file:
        contents.append((str(path), _bytes_of(path)))
    return WhatIf(without=options.without, cordon=options.cordon, extra=tuple(contents))


def simulate(
    settings: Settings,
    scenario: Path | None,
    revision: str | None,
    what_if: WhatIf,
    listen: Callable[[Event, float], None],
) -> tuple[str, ...]:
    """Run a scenario on a copy of a commit, in memory and in virtual time; what is still waiting at the end, and
    which staged runs failed, in sentences."""
    content = _bytes_of(scenario) if scenario else DEFAULT_SCENARIO
    script = read_scenario(content, path=str(scenario or "the default scenario"))
    with open_workspace(settings, clusters="none") as workspace:
        commit = workspace.commit_of(revision)
        entries = workspace.driver.desired_trees.regular_files(commit)
        blobs = workspace.driver.reader.read_blobs(entries.values(), limit=settings.limits.file_bytes)
        files = {path: blobs[oid] for path, oid in entries.items() if oid in blobs}
        branch = workspace.driver.branches.watch
    run = run_scenario(script, files, listen, what_if=what_if, branch=branch, settings=settings)
    moving = (sentence for record in run.state.placements.values() for sentence in rollout.waiting_for(record))
    failed = last_run_failures(run.state.runs.values(), run.state.placements)
    return (*run.asks, *moving, *failed.values())


def run_scenario(
    script: Scenario,
    files: Mapping[str, bytes],
    listen: Callable[[Event, float], None],
    *,
    what_if: WhatIf = WhatIf(),
    branch: str = "main",
    settings: Settings | None = None,
) -> ScenarioRun:
    """Run a scenario on the files of a config repo; the run as it ended."""
    chosen = settings or Settings(repo="memory", cache_dir=Path())
    clock, repo = ManualClock(script.start), MemoryRepo()
    repo.commit_files(branch, files, clock.now(), "The fleet")
    fleet = SimulatedFleet(clock, rules=script.clusters)
    answers = SimulatedAnswers(clock=clock, began=script.start, metrics=script.metrics, webhooks=script.webhooks)

    def start(on_event: Callable[[Event], None]) -> Reconciler:
        answers.forget_all()
        trees = DesiredTrees(
            repo, MemoryCache(), chosen.limits,
            builds=folder_builds(), decryptor=StandInValues(), clusters=ClusterReading(what_if),
        )  # fmt: skip
        return Driver(
            reader=repo,
            states=StateBranch(repo, repo, StateTrees(repo, trees, chosen.limits)),
            desired_trees=trees,
            fanout=Fanout(directory=simulated_clusters(fleet, clock), executor=None),
            clock=clock,
            plugins=scheduler_plugins(),
            version=__version__,
            watch_branch=branch,
            listen=on_event,
            workloads=WorkloadRollouts(handlers=workload_handlers(), calls=answers),
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
        return [Provider(name="core", key=key, make=lambda: FileProperties(fleet, CoreProvider({})))]

    clients = KubeDirectory(
        parallel=1,
        providers=core,
        timeouts=Timeouts(tries=1, definition_tries=1, provider_seconds=None),
        transports=lambda cluster: fleet.cluster(cluster.name),
        clock=clock,
    )
    clients.rests = rests
    return SimulatedDirectory(fleet, clients, keep_in=keep_in)


def _kept_simulation(kept: Path, clock: Clock, clusters: str) -> tuple[SimulatedFleet, ClusterDirectory]:
    """The simulated fleet of a folder, which is kept there while clusters are live."""
    fleet = SimulatedFleet.load(kept, clock)
    return fleet, simulated_clusters(fleet, clock, keep_in=kept if clusters == "live" else None)


def _real_clusters(settings: Settings, providers: _ListedProviders, wake: Wake) -> KubeDirectory:
    """Those that are written to only while this process leads."""
    real = KubeDirectory(settings.connections, providers=providers.chosen)
    real.may_write = lambda: wake.leads()
    return real


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
