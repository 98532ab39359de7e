"""The notifiers that gitfleet has: Slack and what takes the same messages, a signed webhook, e-mail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gitfleet.ports.notifiers import Notifier, NotifierAccess, NotifierFactory


def slack(access: NotifierAccess) -> Notifier:
    """An incoming webhook of Slack, Mattermost, Rocket.Chat or another that takes the same messages."""
    from gitfleet.adapters.notify.webhooks import Slack

    return Slack(access)


def webhook(access: NotifierAccess) -> Notifier:
    """A receiver of JSON documents that are signed with HMAC-SHA256."""
    from gitfleet.adapters.notify.webhooks import SignedWebhook

    return SignedWebhook(access)


def email(access: NotifierAccess) -> Notifier:
    """A mail server."""
    from gitfleet.adapters.notify.mail import Mail

    return Mail(access)


BUILT_IN: Final[Mapping[str, NotifierFactory]] = {"email": email, "slack": slack, "webhook": webhook}
