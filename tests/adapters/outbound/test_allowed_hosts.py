"""No way to write a URL leads to a host that is not allowed, and no token goes where it is not meant to."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from functools import partial
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from urllib3 import PoolManager

from gitfleet.adapters.addresses import is_refused
from gitfleet.adapters.checked_requests import Answered, Exchange, trusting
from gitfleet.adapters.outbound import AllowedHttp
from gitfleet.adapters.outbound import http as outbound_http
from gitfleet.adapters.outbound.texts import OutboundText
from gitfleet.errors import BadInput
from gitfleet.formats.hosts import HostPattern, Origin
from gitfleet.ports.metric_providers import OutboundRequest
from tests.adapters.outbound.hook_server import HookServer, hook_server

ALLOWED = "allowed.example"


@pytest.fixture
def hooks() -> Iterator[HookServer]:
    with hook_server() as found:
        yield found


def http(*allowed: str, option: str = "--allow-webhooks", tokens: tuple[tuple[str, str], ...] = ()) -> AllowedHttp:
    return AllowedHttp(
        allowed=tuple(HostPattern.parse(one) for one in allowed),
        option=option,
        context=trusting,
        tokens=tuple((Origin.parse(origin), partial(str, token)) for origin, token in tokens),
    )


def not_allowed(host: str) -> str:
    return OutboundText.NO_HOST_PROCESS_CALL(shown=host, option="--allow-webhooks")


def link_local(host: str) -> str:
    return OutboundText.LINK_LOCAL_ADDRESS(shown=host)


NO_URL = "its URL "
ODD = OutboundText.URL_MUST_BEGIN()
UNREAD = OutboundText.URL_MUST_BEGIN()


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://evil.example/", not_allowed("evil.example")),
        ("https://allowed.example:8443/", not_allowed("allowed.example:8443")),
        ("http://allowed.example:443/", not_allowed("allowed.example:443")),
        ("https://allowed.example.evil.example/", not_allowed("allowed.example.evil.example")),
        ("https://evil.example/allowed.example", not_allowed("evil.example")),
        ("https://evil.example?allowed.example", not_allowed("evil.example")),
        ("https://evil.example#@allowed.example/", NO_URL),
        ("https://allowed.example#evil", NO_URL),
        ("https://allowed.example@evil.example/", NO_URL),
        ("https://evil.example@allowed.example/", NO_URL),
        ("https://evil.example\\@allowed.example/", ODD),
        ("https://allowed.example\\.evil.example/", ODD),
        ("https://allowed.example\t.evil.example/", ODD),
        ("https://allowed.example\r\nHost: evil.example/", ODD),
        ("https://allowed.ex\u00e4mple/", ODD),
        ("https://\uff41llowed.example/", ODD),
        ("https:///allowed.example/", NO_URL),
        ("https:allowed.example/", NO_URL),
        ("allowed.example/", NO_URL),
        ("//allowed.example/", NO_URL),
        ("ftp://allowed.example/", NO_URL),
        ("file:///etc/passwd", NO_URL),
        ("gopher://allowed.example/", NO_URL),
        ("https://allowed.example:99999/", UNREAD),
        ("https://allowed.example:0/", NO_URL),
        ("https://[::1/", UNREAD),
        ("https://[::1]/", not_allowed("[::1]")),
        ("", NO_URL),
        ("https://" + "a" * 9000, ODD),
        ("http://127.0.0.1/", not_allowed("127.0.0.1")),
        ("http://2130706433/", not_allowed("2130706433")),
        ("http://0x7f.1/", not_allowed("0x7f.1")),
        ("http://localhost/", not_allowed("localhost")),
        ("http://169.254.169.254/latest/meta-data/", link_local("169.254.169.254")),
        ("http://[fe80::1]/", link_local("[fe80::1]")),
        ("http://100.100.100.200/latest/meta-data/", link_local("100.100.100.200")),
        ("http://[fd00:ec2::254]/latest/meta-data/", link_local("[fd00:ec2::254]")),
        ("http://[64:ff9b::a9fe:a9fe]/latest/meta-data/", link_local("[64:ff9b::a9fe:a9fe]")),
        ("http://[::ffff:169.254.169.254]/", link_local("[::ffff:a9fe:a9fe]")),
    ],
)
def test_a_url_that_is_not_called(url: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbound_http, "exchanged", lambda *_: pytest.fail("a request was sent"))
    with pytest.raises(BadInput) as raised:
        http(ALLOWED).request(OutboundRequest(url=url))
    assert said in str(raised.value) and "latest" not in str(raised.value)


_NAMES = ["allowed.example", "evil.example", "ALLOWED.example", "127.0.0.1", "169.254.169.254", "::1", "443", "80", "a"]
_SIGNS = [
    "http",
    "https",
    "://",
    ":",
    "/",
    "//",
    "\\",
    "@",
    "#",
    "?",
    "%",
    "%2f",
    "%40",
    "%00",
    ".",
    "..",
    ";",
    "[",
    "]",
]


@given(st.lists(st.sampled_from(_NAMES + _SIGNS), min_size=1, max_size=9).map("".join))
def test_what_is_called_is_the_allowed_host_by_every_reading(text: str) -> None:
    sent: list[str] = []

    def noted(request: Exchange, *_: object) -> Answered:
        sent.append(request.url)
        return Answered(status=200, headers={}, content=b"", cut=False)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(outbound_http, "exchanged", noted)
        for url in (text, f"https://{text}", f"http://{ALLOWED}{text}"):
            try:
                http(ALLOWED).request(OutboundRequest(url=url))
            except BadInput:
                continue
            (called,) = sent
            pool = PoolManager().connection_from_url(called)
            assert (pool.host.lower().removesuffix("."), pool.port) in ((ALLOWED, 443), (ALLOWED, 80)), url
            assert (urlsplit(called).hostname or "").removesuffix(".") == ALLOWED, url
            sent.clear()


@pytest.mark.parametrize(
    ("address", "refused"),
    [
        ("169.254.169.254", True),  # AWS and most others
        ("169.254.170.2", True),  # AWS, of containers
        ("168.63.129.16", True),  # Azure
        ("100.100.100.200", True),  # Alibaba
        ("192.0.0.192", True),  # Oracle
        ("fd00:ec2::254", True),  # AWS
        ("fd00:ec2::23", True),  # AWS, of pods
        ("fd20:ce::254", True),  # Google
        ("fd00:c1::a9fe:a9fe", True),  # Oracle
        ("fd00:42::42", True),  # Scaleway
        ("fe80::a9fe:a9fe%eth0", True),  # OpenStack
        ("::ffff:169.254.169.254", True),
        ("::ffff:100.100.100.200", True),
        ("::ffff:0:169.254.169.254", True),
        ("::169.254.169.254", True),
        ("64:ff9b::a9fe:a9fe", True),  # NAT64
        ("64:ff9b::6464:64c8", True),
        ("64:ff9b:1:a9fe:a9:fe00::", True),  # NAT64 with /48
        ("64:ff9b:1::a8a3:0:0", False),
        ("2001:db8:7::a9fe:a9fe", True),  # NAT64 by a prefix of one's own
        ("2001:db8:a9fe:a9fe::", True),  # the same with /32
        ("2002:a9fe:a9fe::1", True),  # 6to4
        ("2001:0:a9fe:a9fe::1", True),  # Teredo
        ("10.0.0.1", False),
        ("100.100.100.201", False),
        ("fd00:ec3::254", False),
        ("64:ff9b::a00:1", False),
        ("2001:db8::1", False),
        ("2001:db8::5054:ff:a9fe:a9fe", False),  # of a network card
        ("metadata.example", False),
    ],
)
def test_addresses_of_metadata(address: str, refused: bool) -> None:
    assert is_refused(address) is refused


def test_the_real_address_behind_a_name_that_is_allowed(hooks: HookServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a name says at first: what counts is whom the connection is with."""
    monkeypatch.setattr(socket.socket, "getpeername", lambda _: ("::ffff:6464:64c8", 80, 0, 0))
    with pytest.raises(BadInput, match="its name leads to a link-local or metadata address"):
        http(hooks.host).request(OutboundRequest(url=hooks.url))
    assert hooks.got == []


def test_a_link_local_address_behind_a_name_that_is_allowed(hooks: HookServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitfleet.adapters.addresses.is_refused", lambda host: host == "127.0.0.1")
    url = hooks.url.replace("127.0.0.1", "localhost")
    with pytest.raises(BadInput, match=r"^localhost:\d+: its name leads to a link-local or metadata address"):
        http(f"localhost:{hooks.port}").request(OutboundRequest(url=url))
    assert hooks.got == []


def test_no_proxy_of_the_environment_is_used(hooks: HookServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with hook_server() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://{proxy.host}")
        assert http(hooks.host).request(OutboundRequest(url=hooks.url)).status == 200
        assert proxy.got == [] and len(hooks.got) == 1


def test_a_token_goes_to_its_host_alone(hooks: HookServer) -> None:
    with hook_server() as other:
        asks = http(hooks.host, other.host, tokens=((f"http://{hooks.host}", "canary"),))
        assert asks.request(OutboundRequest(url=hooks.url)).host == hooks.host
        asks.request(OutboundRequest(url=other.url))
        assert hooks.got[0][1]["authorization"] == "Bearer canary"
        assert "authorization" not in other.got[0][1]


def test_a_token_never_goes_in_the_clear_unasked(hooks: HookServer) -> None:
    asks = http(hooks.host, tokens=((hooks.host, "canary"),))
    with pytest.raises(BadInput) as raised:
        asks.request(OutboundRequest(url=hooks.url))
    assert str(raised.value) == (
        f"{hooks.host} has a token for https alone: ask by it, or give the token with "
        f"--metric-token http://{hooks.host}=FILE"
    )
    assert hooks.got == []
    both = http(hooks.host, tokens=((hooks.host, "https-canary"), (f"http://{hooks.host}", "http-canary")))
    both.request(OutboundRequest(url=hooks.url))
    assert hooks.got[0][1]["authorization"] == "Bearer http-canary"
