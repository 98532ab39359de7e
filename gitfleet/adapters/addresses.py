"""Addresses that nothing is sent to: those where clouds keep the credentials of their machines."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any, Final

from gitfleet.adapters.texts import AdaptersText
from gitfleet.errors import BadInput

_REFUSED: Final = tuple(
    ip_network(text)
    for text in (
        "169.254.0.0/16",  # link-local: AWS, Azure, Google, Oracle, OpenStack, DigitalOcean, Hetzner, Scaleway, Tencent
        "fe80::/10",  # link-local: OpenStack
        "100.100.100.200/32",  # Alibaba
        "168.63.129.16/32",  # Azure's WireServer
        "192.0.0.192/32",  # Oracle, older machines
        "fd00:ec2::/32",  # AWS
        "fd20:ce::254/128",  # Google
        "fd00:c1::a9fe:a9fe/128",  # Oracle
        "fd00:42::42/128",  # Scaleway
    )
)
_PREFIXES: Final = (32, 40, 48, 56, 64, 88)
"""Where RFC 6052 puts an IPv4 address, in bits without the octet that it leaves zero; 88 is its /96."""


def is_refused(host: str) -> bool:
    """Whether a host is written as a link-local address or one of a cloud's metadata, or as an IPv6 address that leads
    to such an IPv4 address."""
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return False
    inner = _inside(address) if isinstance(address, IPv6Address) else ()
    return any(candidate in network for candidate in (address, *inner) for network in _REFUSED)


def _inside(address: IPv6Address) -> Iterator[IPv4Address]:
    """The IPv4 addresses that an IPv6 one may stand for: mapped, translated, 6to4, Teredo, NAT64 by any prefix."""
    yield from filter(None, (address.ipv4_mapped, address.sixtofour, *(address.teredo or ())))
    if int(address) >> 32 == 0xFFFF0000:  # ::ffff:0:0/96, RFC 7915
        yield IPv4Address(int(address) & 0xFFFFFFFF)
    above, octet, below = int(address) >> 64, int(address) >> 56 & 0xFF, int(address) & (1 << 56) - 1
    bits = above << 56 | below
    for prefix in _PREFIXES:
        after = 88 - prefix
        if octet == 0 and bits & (1 << after) - 1 == 0:
            yield IPv4Address(bits >> after & 0xFFFFFFFF)


def checked(connection: socket.socket) -> socket.socket:
    """The connection, before anything is sent by it; BadInput where its other end is an address that is refused,
    whatever name led there."""
    peer: Any = connection.getpeername()
    if is_refused(str(peer[0])):
        connection.close()
        raise BadInput(AdaptersText.LINK_LOCAL_ADDRESS())
    return connection
