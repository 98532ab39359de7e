"""Two hubs that publish at the same moment, again and again: one wins each race and does all of it, the other one does
nothing, and the end is that of one hub alone. `python -m tests.e2e.races 1000` runs as many as the issue asks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.races import races
from tests.properties.options import number_of


@pytest.mark.deeper("races")
def test_one_hub_wins_each_race_and_the_other_one_does_nothing(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    count = number_of("races", pytestconfig)
    with races(tmp_path / "two") as two:
        two.run(count)
        two.settle()
        assert two.hubs[1].driver.reconcile().settled, "the other one agrees with what it finds"
    with races(tmp_path / "alone") as one:
        one.alone(count)
        one.settle()
    assert sum(two.won.values()) == count
    assert two.repo.end_state() == one.repo.end_state()
