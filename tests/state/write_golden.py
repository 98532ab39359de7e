"""`python -m tests.state.write_golden` writes the golden tree of the small fleet again; read the diff."""

from __future__ import annotations

import shutil
from pathlib import Path

from gitfleet.model.state import FleetState
from tests.state.builders import T0, composed, small_fleet

GOLDEN = Path(__file__).parent / "golden"


def main() -> None:
    """Replace the tree."""
    shutil.rmtree(GOLDEN, ignore_errors=True)
    for path, content in composed(FleetState(), small_fleet(), now=T0, version="0.1.0").write.items():
        (GOLDEN / path).parent.mkdir(parents=True, exist_ok=True)
        (GOLDEN / path).write_bytes(content)


if __name__ == "__main__":
    main()
