"""Two hubs that publish at the same moment, again and again: one wins each race and does all of it, the other one does
nothing, and the end is that of one hub alone. `make soak PART=races` plays 1,000 on ten remotes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.races import races
from tests.properties.options import number_of


@pytest.mark.deeper("races")
@pytest.mark.parametrize(
    "remote",
    [
        0,
        *(
            pytest.param(n, marks=[pytest.mark.soak("races"), pytest.mark.xdist_group(f"remote {n}")])
            for n in range(1, 10)
        ),
    ],
)
def test_one_hub_wins_each_race_and_the_other_one_does_nothing(
    remote: int, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    count = number_of("races", pytestconfig)
    with races(tmp_path / f"two-{remote}") as two:
        two.run(count)
        two.settle()
        assert two.hubs[1].driver.reconcile().settled, "the other one agrees with what it finds"
    with races(tmp_path / "alone") as one:
        one.alone(count)
        one.settle()
    assert sum(two.won.values()) == count
    assert two.repo.end_state() == one.repo.end_state()
