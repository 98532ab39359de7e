"""Calls that a decision asks for, made beside the reconciles: no pass ever waits for one.

What a process knows of them is in its memory alone. One that was started again makes them again, with the same ids.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from gitfleet.model.calls import Answers, Call, WebhookCall


class RolloutCalls(Protocol):
    """Starts calls and keeps what came of them until that is in git. None of these waits, and none raises."""

    def start(self, calls: Collection[Call]) -> None:
        """Start the calls that are not under way and have no answer yet: one of another `attempt` is another call, and
        takes the place of what was answered before."""

    def answers(self) -> Answers:
        """What came of the calls that ended, until it is forgotten."""

    def forget(self, ids: Collection[str]) -> None:
        """Drop the answers of calls that nobody needs any more (they are recorded), and end those that are under
        way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookReply:
    """What a host said to a webhook: its status, and the first line of its body without what is secret."""

    host: str
    status: int
    line: str = ""


class WebhookSender(Protocol):
    """Sends webhooks; called from many threads at once."""

    def send(self, call: WebhookCall) -> WebhookReply:
        """Post the call, once, within its seconds. NoResponse where no answer came, BadInput where it may not be sent:
        a host that is not allowed, a secret that cannot be read."""
