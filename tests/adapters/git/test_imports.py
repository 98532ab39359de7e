"""The stream to `git fast-import`: large contents are not copied on their way."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from gitfleet.adapters.git.imports import compose_import
from gitfleet.adapters.git.runner import GitRunner
from gitfleet.ports.repos import BranchChange


def test_contents_are_pieces_of_the_stream_themselves() -> None:
    large = b"x" * 100_000
    change = BranchChange(
        branch="state", expected=None, subject="s", when=datetime(2026, 1, 1, tzinfo=UTC), write={"a": large}
    )
    pieces = compose_import(change, ref="refs/x", base=None, committer=("gitfleet", "gitfleet@localhost"))
    assert [piece for piece in pieces if piece is large] == [large]
    assert b'inline "a"\ndata 100000\nxxx' in b"".join(pieces)


def test_pieces_of_any_size_reach_git_whole(tmp_path: Path) -> None:
    pieces = [b"", b"a", b"b" * 300_000, b"", b"c" * 65_535, b"d"]
    runner = GitRunner(tmp_path, {})
    assert runner.run("stripspace", stdin=pieces).output == b"".join(pieces) + b"\n"
    assert runner.run("stripspace", stdin=[b"", b""]).output == b""
    assert runner.run("stripspace").output == b""
