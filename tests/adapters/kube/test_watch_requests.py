"""How a watch is begun: from a version on, and with a list where the server knows of that version no longer."""

from __future__ import annotations

import socket
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from gitfleet.adapters.kube.discovery import Resource
from gitfleet.adapters.kube.watch_requests import BegunWatch, NotWatchable, begin_watch
from gitfleet.ports.transport import OpenStream, Response

MAPS = ("", "v1", "ConfigMap")


@dataclass
class Wire:
    """A server that answers watches one after the other; lists have the version 42."""

    answers: list[int]
    name: str = "c"
    asked: list[str] = field(default_factory=list)

    def stream(self, path: str, query: dict[str, str], *, accept: str) -> Response | OpenStream:
        self.asked.append(query["resourceVersion"])
        status = self.answers.pop(0)
        ours, theirs = socket.socketpair()
        theirs.close()
        return OpenStream(ours, False, ours.close) if status == 200 else Response(status, b"{}")

    def send(self, method: str, path: str, query: dict[str, str], *, headers: dict[str, str]) -> Response:
        self.asked.append(f"list {query['limit']}")
        return Response(
            200, b'{"kind": "PartialObjectMetadataList", "metadata": {"resourceVersion": "42"}, "items": []}'
        )


class Discovery:
    def find(self, key: Any, *, refresh: bool) -> Resource:
        return Resource("/api/v1", "configmaps", True)

    def forget(self, place: Resource) -> None: ...


def begun(wire: Wire, version: str) -> BegunWatch:
    made = begin_watch(cast(Any, wire), cast(Any, Discovery()), MAPS, version)
    made.stream.end()
    return made


@pytest.mark.parametrize(
    ("version", "answers", "asked", "came"),
    [
        ("", [200], ["list 1", "42"], ("42", True)),
        ("7", [200], ["7"], ("7", False)),
        ("7", [410, 200], ["7", "list 1", "42"], ("42", True)),
    ],
)
def test_a_watch_begins_where_it_can(
    version: str, answers: list[int], asked: list[str], came: tuple[str, bool]
) -> None:
    wire = Wire(answers)
    made = begun(wire, version)
    assert (wire.asked, (made.version, made.listed)) == (asked, came)


@pytest.mark.parametrize("answers", [[403], [410, 403], [404], [500]])
def test_a_watch_that_is_refused_is_none(answers: list[int]) -> None:
    with pytest.raises(NotWatchable):
        begun(Wire(answers), "7")
