"""Which commit of the state branch holds, known without reading the configuration; and one source for many threads."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest

from gitfleet.branches.state_source import SharedSource, certain_state_head
from gitfleet.simulation.memory_repo import MemoryRepo

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CONFIG = b"apiVersion: gitfleet.dev/v1alpha1\nkind: FleetConfig\nmetadata: {name: fleet}\n"


def repo_with(files: Mapping[str, bytes], *later: Mapping[str, bytes | None], observed: str = "") -> MemoryRepo:
    """A repository whose state was made from its first commit; later commits came after it."""
    repo = MemoryRepo()
    first = repo.commit_files("main", files, NOW, "first")
    text = f'apiVersion: gitfleet.dev/v1alpha1\nkind: FleetState\nstatus:\n  observedCommit: "{observed or first}"\n'
    repo.commit_files("gitfleet/state", {"fleet.yaml": text.encode()}, NOW, "state")
    for changes in later:
        repo.commit_files("main", changes, NOW, "later")
    return repo


def certain(repo: MemoryRepo) -> bool:
    """Whether the head of the state branch is certain, and right where it is."""
    heads = repo.fetch()
    found = certain_state_head(repo, heads, "main", "gitfleet/state")
    assert found in (None, heads["gitfleet/state"])
    return found is not None


@pytest.mark.parametrize(
    ("later", "sure"),
    [
        ([], True),
        ([{"a.yaml": b"kind: Namespace\n"}], True),
        ([{"config.yaml": CONFIG + b"spec: {}\n"}], False),
        ([{"config.yaml": None}], False),
        ([{"other.yaml": CONFIG}], False),
    ],
)
def test_the_head_is_certain_while_no_configuration_changed(
    later: Collection[Mapping[str, bytes | None]], sure: bool
) -> None:
    assert certain(repo_with({"config.yaml": CONFIG, "a.yaml": b"kind: ConfigMap\n"}, *later)) is sure


def test_an_observed_commit_that_is_gone_or_a_missing_branch_makes_nothing_certain() -> None:
    repo = repo_with({"a.yaml": b"kind: Namespace\n"}, observed="0" * 40)

    assert not certain(repo)
    assert certain_state_head(repo, {"main": "0" * 40}, "main", "gitfleet/state") is None
    assert certain_state_head(repo, repo.fetch(), "prod", "gitfleet/state") is None


class OneAtATime:
    """A repository that fails when two threads are in it."""

    def __init__(self, repo: MemoryRepo) -> None:
        self._repo, self._inside = repo, 0

    def __getattr__(self, name: str) -> Any:
        def called(*arguments: Any, **named: Any) -> Any:
            self._inside += 1
            assert self._inside == 1
            answer = getattr(self._repo, name)(*arguments, **named)
            self._inside -= 1
            return answer

        return called


def test_a_shared_source_lets_one_thread_in_at_a_time() -> None:
    repo = repo_with({"a.yaml": b"kind: Namespace\n"})
    head = repo.fetch()["main"]
    source: Any = SharedSource(OneAtATime(repo))

    def read(_: int) -> bytes:
        (entry,) = source.list_tree(head).values()
        found: bytes = source.read_blobs([entry.oid], limit=100)[entry.oid]
        return found

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(read, range(200))) == {b"kind: Namespace\n"}
