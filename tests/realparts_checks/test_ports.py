"""A port that is held: nobody listens there until its server does, and nobody else is given it."""

from __future__ import annotations

import socket

import pytest

from tests.realparts.processes import HeldPort


def test_a_held_port_refuses_connections_and_is_nobody_elses() -> None:
    port = HeldPort()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port.number))
    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind(("127.0.0.1", port.number))


def test_its_server_listens_there_and_comes_back() -> None:
    port = HeldPort()
    for _ in range(2):
        with (
            socket.create_server(("127.0.0.1", port.number)) as server,  # sets SO_REUSEADDR, as Go does
            socket.create_connection(("127.0.0.1", port.number)) as client,
        ):
            accepted, _ = server.accept()
            accepted.close()
            assert client.recv(1) == b""
