"""Composition root of whom a continuous `run` tells what it does (`--notify`, `--kubernetes-events`)."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from gitfleet.adapters import notify
from gitfleet.adapters.kube.pod_events import pod_events
from gitfleet.api.notifications import Notification
from gitfleet.errors import BadInput, GitfleetError, MissingPart
from gitfleet.loop.notifying import Notifications
from gitfleet.loop.workspace import Workspace
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.ports.notifiers import Notifier, NotifierAccess, NotifierFactory
from gitfleet.settings import Settings
from gitfleet.wiring_plugins import loaded_from

_OF_POD: Final = Notification(name="events of this pod", type="kubernetes.events")
"""No destination of a configuration can have this name."""
_MOST_BYTES: Final = 64 * 1024
_LAST_SECONDS: Final = 3.0
"""So long a run that ends waits for each destination."""


@contextmanager
def notified(
    workspace: Workspace, settings: Settings, files: Mapping[str, Path], secrets: Iterable[str], *, events: bool
) -> Iterator[Notifications]:
    """While this lasts, the destinations of the configuration are told what the loop of the workspace does, if `files`
    says where they are; and, with `events`, so is the cluster of the pod that this runs in, if any. A file that
    cannot be used is a warning in the log, and read again at each use."""
    known: dict[str, NotifierFactory] = {**notify.BUILT_IN, **loaded_from("gitfleet.notifiers")} if files else {}
    made: dict[tuple[str, str], tuple[bytes, Notifier]] = {}
    of_pod = _pod_events(settings, workspace) if events else None

    def connect(name: str, type_: str) -> Notifier:
        is_pod = of_pod is not None and name == _OF_POD.name
        return of_pod() if of_pod is not None and is_pod else _connected(files, known, made, name, type_)

    notifications = Notifications(
        config=lambda: workspace.driver.config,
        given=frozenset({*files, *((_OF_POD.name,) if of_pod is not None else ())}),
        connect=connect,
        clock=workspace.clock,
        standing=(_OF_POD,) if of_pod is not None else (),
        secrets=tuple(secrets),
    )
    workspace.pulse.listeners.append(notifications.on_pass)
    yield notifications
    notifications.finish(_LAST_SECONDS)


def _pod_events(settings: Settings, workspace: Workspace) -> Callable[[], Notifier] | None:
    """What makes the one writer of Events, None in no pod."""
    pod = os.environ.get("POD_NAME") or socket.gethostname()
    return pod_events(settings.connections, pod, os.environ.get("POD_UID", ""), workspace.clock)


def _connected(
    files: Mapping[str, Path],
    known: Mapping[str, NotifierFactory],
    made: dict[tuple[str, str], tuple[bytes, Notifier]],
    name: str,
    type_: str,
) -> Notifier:
    """What sends to a destination, from what its file holds now: whoever replaces it need not restart the process."""
    factory = known.get(type_)
    if factory is None:
        raise MissingPart(f"no notifier {type_} is installed; there are {', '.join(sorted(known))}")
    content = _content_of(name, files[name])
    if (name, type_) not in made or made[name, type_][0] != content:
        found = attempt(
            Subject("notifier", type_), factory, NotifierAccess(name=name, content=content, file=str(files[name]))
        )
        if isinstance(found, Failure):
            raise found.cause if isinstance(found.cause, GitfleetError) else BadInput(found.sentence)
        made[name, type_] = (content, found)
    return made[name, type_][1]


def _content_of(name: str, file: Path) -> bytes:
    given = f"the file {file} of --notify {name}"
    try:
        with file.open("rb") as opened:
            content = opened.read(_MOST_BYTES + 1)
    except OSError as error:
        raise BadInput(f"{given} cannot be read: {error.strerror}") from error
    if len(content) > _MOST_BYTES:
        raise BadInput(f"{given} is larger than {_MOST_BYTES // 1024} KiB, which no file of a destination is")
    return content
