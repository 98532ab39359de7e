"""Composition root of calls to clusters that other processes carry out: the hub's side, and that of a worker."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from gitfleet.adapters.clock import SystemClock
from gitfleet.adapters.dask_executor import DaskExecutor
from gitfleet.adapters.kube import KubeDirectory, chosen_providers
from gitfleet.api.fleet import FleetConfig, ListedProvider
from gitfleet.errors import BadInput
from gitfleet.fleet.executor_calls import THREADS, Batch, ExecutorCalls
from gitfleet.fleet.fanout import Fanout, Workers, carry_out
from gitfleet.formats.near_names import did_you_mean
from gitfleet.loop.workspace import Workspace
from gitfleet.ports.executors import ExecutorAccess, ExecutorFactory
from gitfleet.settings import ConnectionRules
from gitfleet.wiring.hub import property_providers
from gitfleet.wiring.texts import WiringText

log = logging.getLogger(__name__)
BUILT_IN: Mapping[str, ExecutorFactory] = {"dask": DaskExecutor}


@contextmanager
def spread_over(workspace: Workspace, chosen: tuple[str, str] | None) -> Iterator[None]:
    """While this lasts, clusters are asked by the executor of that name and address where the FleetConfig names it;
    None: by none, which is said where it names one. BadInput for an executor that is not installed."""
    name, address = chosen or (THREADS, "")
    installed = _installed()
    names = sorted({*BUILT_IN, *installed})
    if name != THREADS and name not in names:
        raise BadInput(
            WiringText.NO_EXECUTOR(name=name),
            hint=did_you_mean(name, names, WiringText.KNOWN_ARE(names=", ".join(names))),
        )
    if address.startswith("tcp://"):
        log.warning(WiringText.EXECUTOR_REACHED_WITHOUT_TLS(), address)
    driver = workspace.driver

    def opened() -> Executor:
        factory: ExecutorFactory = BUILT_IN[name] if name in BUILT_IN else installed[name].load()
        return factory(ExecutorAccess(address=address))

    remote = ExecutorCalls(
        name=name,
        open_executor=opened,
        run=run_batch,
        clock=workspace.clock,
        executors=(THREADS, *names),
        seconds=driver.clusters.fanout.timeout,
        stopped=workspace.wake.gives_up,
    )
    configure = driver.configure

    def configured(config: FleetConfig) -> None:
        configure(config)
        remote.configure(config)

    driver.configure = configured
    driver.clusters.fanout = replace(driver.clusters.fanout, remote=remote)
    try:
        yield
    finally:
        remote.close()


def _installed() -> dict[str, EntryPoint]:
    """The executors of other packages, which are loaded when they are used."""
    return {entry.name: entry for entry in entry_points(group="gitfleet.executors") if entry.name not in BUILT_IN}


class _Worker:
    """What a worker process keeps between batches: the connections to clusters, by its own settings."""

    lock = threading.Lock()
    made: _Worker | None = None

    def __init__(self) -> None:
        self.clock = SystemClock()
        self.listed: tuple[ListedProvider, ...] = ()
        installed = property_providers()
        directory = KubeDirectory(
            connection_rules(os.environ), providers=lambda: chosen_providers(self.listed, installed)
        )
        threads = Workers(int(os.environ.get("GITFLEET_WORKER_CONCURRENCY") or FleetConfig().concurrency))
        self.fanout = Fanout(directory=directory, executor=threads)


def run_batch(batch: Batch) -> Mapping[str, Any]:
    """What a task is: carry the batch out in this process, whichever it is."""
    with _Worker.lock:
        worker = _Worker.made = _Worker.made or _Worker()
        worker.listed = batch.providers
    return carry_out(batch, worker.fanout, worker.clock)


def connection_rules(environment: Mapping[str, str]) -> ConnectionRules:
    """How a worker reaches clusters: from variables, as it has no command line of gitfleet's."""

    def path(name: str) -> Path | None:
        return Path(environment[name]) if environment.get(name) else None

    def words(name: str) -> tuple[str, ...]:
        return tuple(environment.get(name, "").split())

    return ConnectionRules(
        kubeconfig=path("KUBECONFIG"),
        kubeconfig_dir=path("GITFLEET_KUBECONFIG_DIR"),
        allowed_exec=words("GITFLEET_ALLOW_EXEC"),
        exec_environment=words("GITFLEET_EXEC_ENV"),
        secret_namespaces=words("GITFLEET_SECRET_NAMESPACES"),
        allow_in_cluster=environment.get("GITFLEET_IN_CLUSTER", "allow") == "allow",
    )
