"""Composition root of the calls that workload rollouts make: webhooks and metric queries (`run --allow-webhooks`,
`--allow-metrics`)."""

from __future__ import annotations

import logging
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

from gitfleet.adapters import outbound
from gitfleet.adapters.checked_requests import trusting
from gitfleet.errors import BadInput, MissingPart
from gitfleet.fleet.call_queue import CallQueue
from gitfleet.fleet.call_steps import CallSteps
from gitfleet.formats.hooks import misspelt_hook
from gitfleet.loop.workspace import Workspace
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.ports.metric_providers import MetricProvider, MetricProviderAccess, MetricProviderFactory
from gitfleet.settings import OutboundSettings
from gitfleet.wiring.plugins import loaded_from
from gitfleet.wiring.publishers import bytes_of, webhook_secrets
from gitfleet.wiring.texts import WiringText

log = logging.getLogger(__name__)
_LAST_SECONDS: Final = 2.0
"""So long a process that ends waits for calls under way; the next one makes them again."""
_MOST_TOKEN_BYTES: Final = 64 * 1024


@contextmanager
def calling_out(workspace: Workspace, settings: OutboundSettings) -> Iterator[CallQueue]:
    """While this lasts, the workspace's driver has what makes the calls of rollouts, to the hosts of the settings
    alone; an answer wakes the loop. BadInput for a file that cannot be used now; later it makes calls fail."""
    signing = partial(webhook_secrets, settings.secret_file) if settings.secret_file is not None else tuple[bytes, ...]
    tokens = tuple((origin, partial(_token_of, file)) for origin, file in settings.metric_tokens)
    context = partial(_context, settings.ca_file)
    for check in (signing, *(read for _, read in tokens), *((context,) if settings.ca_file is not None else ())):
        check()
    plain = outbound.AllowedHttp(
        allowed=settings.allowed_webhooks,
        option="--allow-webhooks",
        context=context,
        secrets=lambda: tuple(secret.decode(errors="replace") for secret in signing()),
    )
    asking = outbound.AllowedHttp(
        allowed=settings.allowed_metrics,
        option="--allow-metrics",
        context=context,
        tokens=tokens,
        secrets=lambda: tuple(read() for _, read in tokens),
    )
    steps = CallSteps(
        webhooks=outbound.HttpWebhooks(plain, signing), provider=_Providers(asking).named, clock=workspace.clock
    )
    queue = CallQueue(steps=steps, clock=workspace.clock, on_answer=workspace.wake.trigger)
    workspace.driver.clusters.workloads.calls = queue
    try:
        yield queue
    finally:
        queue.close(_LAST_SECONDS)


class _Providers:
    """The metric providers: the built-in ones, and those of other packages, which are loaded when one is asked for."""

    def __init__(self, http: outbound.AllowedHttp) -> None:
        self._http = http
        self._lock = threading.Lock()
        self._installed: dict[str, MetricProviderFactory] | None = None
        self._made: dict[str, MetricProvider | str] = {
            name: make(MetricProviderAccess(name=name, http=http)) for name, make in outbound.BUILT_IN.items()
        }

    def named(self, name: str) -> MetricProvider:
        """The provider of a name; MissingPart for none, BadInput for one that cannot be used."""
        if name not in self._made:
            with self._lock:
                self._load(name)
        provider = self._made[name]
        if isinstance(provider, str):
            raise BadInput(WiringText.METRIC_PROVIDER_CANNOT_USED(name=name, why=provider))
        return provider

    def _load(self, name: str) -> None:
        if self._installed is None:
            self._installed = loaded_from("gitfleet.metric_providers")
        make = self._installed.get(name)
        if make is None:
            names = ", ".join(sorted({*self._made, *self._installed}))
            raise MissingPart(WiringText.NO_METRIC_PROVIDER(name=name, known=names))
        if name not in self._made:
            self._made[name] = _make(name, make, self._http)


def _make(name: str, make: MetricProviderFactory, http: outbound.AllowedHttp) -> MetricProvider | str:
    """The provider, or why it cannot be used."""
    access = MetricProviderAccess(name=name, http=http)
    provider: Any = attempt(Subject("metric provider", name), make, access)
    if isinstance(provider, Failure):
        problem = provider.error
    elif not isinstance(provider, MetricProvider):
        problem = WiringText.FACTORY_MADE_NOT_DERIVE_FROM(name=type(provider).__name__)
    else:
        problem = misspelt_hook(provider, MetricProvider) or ""
        if not problem:
            return provider
    log.warning("%s", WiringText.METRIC_PROVIDER_CANNOT_USED(name=name, why=problem))
    return problem


def _context(ca_file: Path | None) -> ssl.SSLContext:
    """What encrypts a connection: with the machine's authorities, and those of the file."""
    context = trusting()
    if ca_file is not None:
        try:
            context.load_verify_locations(ca_file)
        except (ssl.SSLError, OSError) as error:
            raise BadInput(WiringText.NO_CERTIFICATES_PEM(file=ca_file)) from error
    return context


def _token_of(file: Path) -> str:
    """The bearer token that a file has now; BadInput for none on one line."""
    token = bytes_of(file, f"{file} of --metric-token", _MOST_TOKEN_BYTES).decode(errors="replace").strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise BadInput(WiringText.NO_TOKEN_ONE_LINE(source=f"{file} of --metric-token"))
    return token
