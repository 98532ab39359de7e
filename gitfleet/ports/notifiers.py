"""Notifiers: where people are told what happened (entry point `gitfleet.notifiers`, decision record 0032).

An entry point names a factory that takes a `NotifierAccess`; it is called again whenever the destination's file has
other content. `send` raises RetryLater (DestinationUnavailable with the time to wait) for what may pass, after which
the same message comes again, and GiveUp where the destination refuses this message, which is then dropped. It is
called on one thread for each destination, and must have an end. Nothing that it raises may hold a secret.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from gitfleet.errors import BadInput, DestinationUnavailable, RetryLater
from gitfleet.model.notifications import NotificationMessage

__all__ = [
    "BadInput",
    "DestinationUnavailable",
    "NotificationMessage",
    "Notifier",
    "NotifierAccess",
    "NotifierFactory",
    "RetryLater",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifierAccess:
    """A destination: its name in the configuration, the content of the file that the process was given for it, and the
    path of that file, for messages ("" where there is none)."""

    name: str
    content: bytes = field(repr=False)
    file: str = ""


class Notifier(Protocol):
    """One destination."""

    def send(self, message: NotificationMessage) -> None:
        """Deliver a message; returns once the destination has taken it."""


NotifierFactory: TypeAlias = Callable[[NotifierAccess], Notifier]
