"""Addresses that nothing is sent to: link-local ones, where clouds keep the credentials of their machines."""

from __future__ import annotations

import socket
from ipaddress import ip_address
from typing import Any

from gitfleet.errors import BadInput


def is_refused(host: str) -> bool:
    """Whether a host is written as a link-local address."""
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None) or address
    return bool(mapped.is_link_local)


def checked(connection: socket.socket) -> socket.socket:
    """The connection, before anything is sent by it; BadInput where its other end is a link-local address, whatever
    name led there."""
    peer: Any = connection.getpeername()
    if is_refused(str(peer[0])):
        connection.close()
        raise BadInput("its name leads to a link-local address, to which nothing is sent")
    return connection
