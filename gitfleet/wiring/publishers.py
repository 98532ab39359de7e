"""Composition root of what brings something outside up to date: branches, forges, `--notify`, `--kubernetes-events`."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from gitfleet.adapters import forge as forges
from gitfleet.adapters import notify
from gitfleet.adapters.clock import SystemClock
from gitfleet.adapters.git import GitRemote
from gitfleet.adapters.github_app import AppTokens
from gitfleet.adapters.kube.pod_events import pod_events
from gitfleet.adapters.state_dir import StateDirectory
from gitfleet.api.notifications import Notification
from gitfleet.branches.rendered_branch import RenderedBranch
from gitfleet.branches.request_branches import RequestBranches
from gitfleet.errors import BadInput, GitfleetError, MissingPart
from gitfleet.loop.workspace import Workspace
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.ports.clock import Clock
from gitfleet.ports.forges import Forge, ForgeAccess, ForgeFactory
from gitfleet.ports.notifiers import Notifier, NotifierAccess, NotifierFactory
from gitfleet.ports.publishers import Publisher
from gitfleet.serving.forge import ForgePublisher, ForgeThread
from gitfleet.serving.notifications import Notifications
from gitfleet.serving.webhooks import MOST_SECRET_BYTES, secrets_in
from gitfleet.settings import ForgeSettings, Settings
from gitfleet.wiring.plugins import loaded_from
from gitfleet.wiring.texts import WiringText

_OF_POD: Final = Notification(name="events of this pod", type="kubernetes.events")
"""No destination of a configuration can have this name."""
_MOST_BYTES: Final = 64 * 1024
_LAST_SECONDS: Final = 3.0
"""So long a run that ends waits for each destination."""
_FORGE_SECONDS = {False: 10.0, True: 1.0}
"""So long a run that ends waits for the forge, by whether it was stopped: then all has to be over in 10 seconds."""


def branch_publishers(remote: GitRemote | StateDirectory, clock: Clock) -> list[Publisher]:
    """What pushes requests for approval and the rendered branch. With --state-dir nothing is pushed, and a rendered
    branch that is enabled says so."""
    history = remote.repo if isinstance(remote, StateDirectory) else remote
    publishers: list[Publisher] = []
    if not isinstance(remote, StateDirectory):
        publishers.append(RequestBranches(reader=remote, history=remote, writer=remote, clock=clock))
    if isinstance(history, GitRemote):
        publishers.append(RenderedBranch(reader=remote, history=history, writer=remote, clock=clock))
    return publishers


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
    members = workspace.driver.publishers.members
    requests = next(member for member in members if isinstance(member, RequestBranches))
    thread = ForgeThread(publisher, lambda: requests.branch_requests)
    members.append(thread)
    yield
    thread.finish(_FORGE_SECONDS[workspace.wake.stopped])


def open_forge(chosen: ForgeSettings, token: str) -> Forge:
    """The forge that was chosen, for a token; its client library is loaded now."""
    factories: dict[str, ForgeFactory] = {**forges.BUILT_IN, **loaded_from("gitfleet.forges")}
    make = factories.get(chosen.name)
    if make is None:
        raise BadInput(WiringText.NO_FORGE(name=chosen.name, known=", ".join(sorted(factories))))
    access = ForgeAccess(url=chosen.url, repository=chosen.repository, token=token, ca_file=chosen.ca_file)
    made = attempt(Subject("forge", chosen.name), make, access)
    if isinstance(made, Failure):
        raise made.cause if isinstance(made.cause, GitfleetError) else MissingPart(f"{made.subject}: {made.error}")
    lacking = [name for name in vars(Forge) if name[0] != "_" and not callable(getattr(made, name, None))]
    if lacking:
        raise BadInput(WiringText.FORGE_LACKS(name=chosen.name, lacking=", ".join(lacking)))
    return made


def forge_tokens(chosen: ForgeSettings) -> Callable[[], str]:
    """What gives the token for a forge at each moment: as its file has it then, or one of the app."""
    if chosen.app is None:
        return partial(_forge_token, chosen)
    return AppTokens(chosen.app, chosen.url or "https://github.com", SystemClock(), ca_file=chosen.ca_file)


def _forge_token(chosen: ForgeSettings) -> str:
    """The token for a forge, as its file has it now; BadInput where there is none."""
    file = chosen.token_file
    token = chosen.token if file is None else bytes_of(file).decode(errors="replace").strip()
    if not token or not token.isascii() or not token.isprintable():
        raise BadInput(WiringText.NO_TOKEN_ONE_LINE(source=file or "the variable of --forge-token-env"))
    return token


def bytes_of(path: Path, shown: str = "", most: int = -1) -> bytes:
    """The content of a file, so many bytes of it at most; BadInput where it cannot be read."""
    try:
        with path.open("rb") as opened:
            return opened.read(most)
    except OSError as error:
        raise BadInput(WiringText.CANNOT_READ(file=shown or path, why=error.strerror)) from error


def webhook_secrets(file: Path) -> tuple[bytes, ...]:
    """The secrets that a file has now: whoever replaces them need not restart the process. BadInput as `secrets_in`."""
    return secrets_in(bytes_of(file, most=MOST_SECRET_BYTES + 1), str(file))


@contextmanager
def notified(
    workspace: Workspace, settings: Settings, files: Mapping[str, Path], secrets: Iterable[str], *, events: bool
) -> Iterator[Notifications]:
    """While this lasts, the destinations of the configuration are told what the loop of the workspace does, if `files`
    says where they are; and, with `events`, so is the cluster of the pod that this runs in, if any. A file that
    cannot be used is a warning in the log, and read again at each use."""
    factories: dict[str, NotifierFactory] = {**notify.BUILT_IN, **loaded_from("gitfleet.notifiers")} if files else {}
    made: dict[tuple[str, str], tuple[bytes, Notifier]] = {}
    pod = os.environ.get("POD_NAME") or socket.gethostname()
    uid = os.environ.get("POD_UID", "")
    of_pod = pod_events(settings.connections, pod, uid, workspace.clock) if events else None

    def connect(name: str, type_: str) -> Notifier:
        if of_pod is not None and name == _OF_POD.name:
            return of_pod()
        factory = factories.get(type_)
        if factory is None:
            raise MissingPart(WiringText.NO_NOTIFIER(type=type_, known=", ".join(sorted(factories))))
        content = _content_of(name, files[name])  # as it is now: whoever replaces it need not restart the process
        if (name, type_) not in made or made[name, type_][0] != content:
            access = NotifierAccess(name=name, content=content, file=str(files[name]))
            notifier = attempt(Subject("notifier", type_), factory, access)
            if isinstance(notifier, Failure):
                raise notifier.cause if isinstance(notifier.cause, GitfleetError) else BadInput(notifier.sentence)
            made[name, type_] = (content, notifier)
        return made[name, type_][1]

    notifications = Notifications(
        config=lambda: workspace.repository.config,
        destinations=frozenset({*files, *((_OF_POD.name,) if of_pod is not None else ())}),
        connect=connect,
        clock=workspace.clock,
        standing=(_OF_POD,) if of_pod is not None else (),
        secrets=tuple(secrets),
    )
    workspace.driver.publishers.members.append(notifications)
    workspace.pulse.listeners.append(notifications.on_pass)
    yield notifications
    notifications.finish(_LAST_SECONDS)


def _content_of(name: str, file: Path) -> bytes:
    shown = WiringText.FILE_OF_NOTIFY(file=file, name=name)
    content = bytes_of(file, shown, _MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise BadInput(WiringText.FILE_TOO_LARGE(file=shown, most=_MOST_BYTES // 1024))
    return content
