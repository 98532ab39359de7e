"""The benchmark of a fleet at rest, on a small fleet: a quiet tick looks at no object, and leaves nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.generated import Size
from benchmarks.idle import resident_mib, settled
from gitfleet.api.objects import ObjectKey

TICKS = 200


def test_quiet_ticks_leave_no_commit_and_no_memory_and_look_at_no_object(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with settled(Size.parse("10x1x20:all"), tmp_path) as idle:
        idle.cost(50)
        commits, before = idle.commits, resident_mib()
        idle.cost(TICKS)
        assert idle.commits == commits
        assert resident_mib() - before < 2
        looked_at = count_hashes(monkeypatch)
        idle.cost(20, seconds=0.0)
        assert looked_at == []
        idle.change_by_hand()
        idle.cost(2, seconds=1.0)
        assert looked_at, "what changed is looked at"


def count_hashes(monkeypatch: pytest.MonkeyPatch) -> list[ObjectKey]:
    """The keys of objects that are looked up from now on."""
    hashed, real = list[ObjectKey](), ObjectKey.__hash__

    def noting(key: ObjectKey) -> int:
        hashed.append(key)
        return real(key)

    monkeypatch.setattr(ObjectKey, "__hash__", noting)
    return hashed
