"""Hosts as an operator writes them in an option: one with or without a port, or all names below one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import Final

from gitfleet.formats.texts import FormatsText

DEFAULT_PORTS: Final[Mapping[str, int]] = {"http": 80, "https": 443}
_WRITTEN: Final = re.compile(
    r"(?P<below>\*\.)?(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<host>[A-Za-z0-9_]([A-Za-z0-9._-]{0,251}[A-Za-z0-9_])?))\.?"
    r"(?::(?P<port>[0-9]{1,5}))?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPattern:
    """HOST, HOST:PORT, *.HOST or *.HOST:PORT. Without a port it is that of the scheme: 443 for https, 80 for http; with
    `below` it is every name below the host, and not the host itself."""

    host: str
    port: int | None = None
    below: bool = False

    @classmethod
    def parse(cls, text: str) -> HostPattern:
        """The pattern that is written so; ValueError for anything else."""
        match = _WRITTEN.fullmatch(text)
        if match is None or (match["port"] and not 0 < int(match["port"]) < 65536):
            raise ValueError(FormatsText.NO_HOST_HOST_PORT(text=text))
        if match["below"] and (match["six"] or match["host"].rpartition(".")[2].isdigit()):
            raise ValueError(FormatsText.NO_HOST_HOST_PORT(text=text))  # addresses have no names below them
        host = plain_host(f"[{match['six']}]" if match["six"] else match["host"])
        return cls(host=host, port=int(match["port"]) if match["port"] else None, below=bool(match["below"]))

    def fits(self, scheme: str, host: str, port: int | None) -> bool:
        """Whether a URL of a scheme (http or https), host and port leads to what is meant."""
        if (port or DEFAULT_PORTS[scheme]) != (self.port or DEFAULT_PORTS[scheme]):
            return False
        name = plain_host(host)
        return name.endswith(f".{self.host}") if self.below else name == self.host

    def __str__(self) -> str:
        return f"{'*.' if self.below else ''}{shown_host(self.host, self.port)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """A scheme and a host with its port, as HOST[:PORT] (https) or http://HOST[:PORT]."""

    scheme: str
    host: HostPattern

    @classmethod
    def parse(cls, text: str) -> Origin:
        """The origin that is written so; ValueError for anything else, and for all names below a host."""
        scheme, separator, host = text.rpartition("://")
        pattern = HostPattern.parse(host)
        if pattern.below or (separator and scheme not in DEFAULT_PORTS):
            raise ValueError(FormatsText.NO_HOST_HOST_PORT(text=text))
        return cls(scheme=scheme or "https", host=pattern)


def plain_host(host: str) -> str:
    """The host of a URL in the one form in which it is compared: small letters, no dot at the end, an IPv6 address
    without brackets and at its shortest. ValueError for brackets around anything else."""
    if host.startswith("[") and host.endswith("]"):
        return str(IPv6Address(host[1:-1]))
    return host.lower().removesuffix(".")


def shown_host(host: str, port: int | None) -> str:
    """A plain host and its port, as a URL has them."""
    name = f"[{host}]" if ":" in host else host
    return name if port is None else f"{name}:{port}"
