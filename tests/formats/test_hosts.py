"""Hosts in options: what they mean, and that no way to write a URL widens them."""

from __future__ import annotations

import pytest

from gitfleet.formats.hosts import HostPattern, Origin


@pytest.mark.parametrize(
    ("pattern", "scheme", "host", "port", "fits"),
    [
        ("hooks.example.com", "https", "hooks.example.com", None, True),
        ("hooks.example.com", "https", "HOOKS.Example.com.", 443, True),
        ("hooks.example.com", "http", "hooks.example.com", 443, False),
        ("hooks.example.com:8443", "https", "hooks.example.com", 8443, True),
        ("hooks.example.com:443", "https", "hooks.example.com", None, True),
        ("hooks.example.com", "https", "evil-hooks.example.com", None, False),
        ("hooks.example.com", "https", "a.hooks.example.com", None, False),
        ("*.example.com", "https", "a.example.com", None, True),
        ("*.example.com", "https", "example.com", None, False),
        ("*.example.com", "https", "badexample.com", None, False),
        ("*.example.com:9090", "http", "a.example.com", 9090, True),
        ("127.0.0.1:9090", "http", "127.0.0.1", 9090, True),
        ("127.0.0.1:9090", "http", "2130706433", 9090, False),
        ("[::1]:9090", "http", "[0:0:0:0:0:0:0:1]", 9090, True),
    ],
)
def test_what_a_pattern_fits(pattern: str, scheme: str, host: str, port: int | None, fits: bool) -> None:
    assert HostPattern.parse(pattern).fits(scheme, host, port) is fits


@pytest.mark.parametrize(
    "text",
    [
        "", "*", "*.", "**.example.com", "a.*.com", "https://x.example", "x.example/path", "me@x.example", "x.example:",
        "x.example:0", "x.example:65536", "x.example:port", "[::1", "[x]", "::1", "x example", "*.[::1]", "*.0.0.1",
        "x.example\n", "-x", ".x",
    ],
)  # fmt: skip
def test_what_is_no_host(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        HostPattern.parse(text)


def test_an_origin_is_https_unless_it_says_otherwise() -> None:
    assert Origin.parse("p.example:9090") == Origin(scheme="https", host=HostPattern(host="p.example", port=9090))
    assert Origin.parse("http://p.example") == Origin(scheme="http", host=HostPattern(host="p.example"))


@pytest.mark.parametrize("text", ["ftp://p.example", "*.example.com", "http://p.example/", "://p.example", ""])
def test_what_is_no_origin(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        Origin.parse(text)
