"""A host with many addresses of which none answers costs the time of one, and one that answers is reached."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
import requests
import urllib3

from gitfleet.adapters.bounded_reads import pools_with_limit
from gitfleet.adapters.checked_requests import Bounds
from gitfleet.adapters.forge import sessions
from gitfleet.adapters.notify import BUILT_IN, mail, webhooks
from gitfleet.errors import GitfleetError
from gitfleet.formats.canonical_json import json_bytes
from gitfleet.ports.notifiers import NotifierAccess
from tests.adapters.test_notify import MAIL, message

SECONDS = 0.8
HOST = "many.example"


@pytest.fixture
def dead() -> Iterator[tuple[str, int]]:
    """An address that answers no connection."""
    with ExitStack() as stack:
        server = stack.enter_context(socket.socket())
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        for _ in range(4):  # more than the kernel takes for a server that accepts none
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(server.getsockname())
        yield server.getsockname()


def resolve(monkeypatch: pytest.MonkeyPatch, *addresses: tuple[str, int]) -> None:
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", address) for address in addresses]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)


def notify(type_: str, **settings: Any) -> None:
    BUILT_IN[type_](NotifierAccess(name="ops", content=json_bytes(settings))).send(message("an error"))


def by_urllib3() -> None:
    pool = urllib3.PoolManager(retries=False)
    pool.pool_classes_by_scheme = pools_with_limit(20.0, time.monotonic)
    pool.request("GET", f"http://{HOST}/", retries=False, timeout=urllib3.Timeout(connect=SECONDS, read=SECONDS))


def by_forge() -> None:
    with requests.Session() as session:
        session.trust_env = False
        session.mount("http://", sessions.ForgeAdapter(f"http://{HOST}", "token"))
        session.get(f"http://{HOST}/")


CALLERS: dict[str, Callable[[], None]] = {
    "urllib3": by_urllib3,
    "forge": by_forge,
    "webhook": lambda: notify("slack", url=f"http://{HOST}/", allowHttp=True),
    "mail": lambda: notify("email", **{**MAIL, "host": HOST, "tls": "none"}),
    "mail with TLS": lambda: notify("email", **{**MAIL, "host": HOST, "tls": "implicit"}),
}


@pytest.fixture(params=CALLERS)
def call(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    monkeypatch.setattr(mail, "ANSWER_SECONDS", SECONDS)
    monkeypatch.setattr(webhooks, "BOUNDS", Bounds(connect=SECONDS, read=SECONDS))
    monkeypatch.setattr(sessions, "CONNECT_SECONDS", SECONDS)
    return CALLERS[request.param]


def test_many_addresses_that_do_not_answer_take_the_time_of_one(
    call: Callable[[], None], dead: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve(monkeypatch, *[dead] * 5)
    began = time.monotonic()
    with pytest.raises((GitfleetError, urllib3.exceptions.ConnectTimeoutError)):
        call()
    assert SECONDS * 0.9 < time.monotonic() - began < SECONDS * 2.5


def test_an_address_after_one_that_does_not_answer_is_reached(
    call: Callable[[], None], dead: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        resolve(monkeypatch, dead, dead, server.getsockname())
        monkeypatch.setattr(mail, "WHOLE_SECONDS", SECONDS * 1.5)
        monkeypatch.setattr(sessions, "READ_SECONDS", SECONDS)
        with pytest.raises((GitfleetError, urllib3.exceptions.HTTPError)):
            call()
        server.accept()[0].close()
