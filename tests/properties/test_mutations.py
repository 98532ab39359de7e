"""Invariants 2, 3, 8 and 9 under random damage of files, alone and several in one commit (see `mutations`, `mutating`);
`--mutations N` plays more.

One that breaks something is played again by its seed alone: `--first-mutation SEED --mutations 1`.
"""

from __future__ import annotations

import pytest

from tests.properties.mutating import Damage, Mutated, groups
from tests.properties.mutations import mutation
from tests.properties.options import number_of

CHUNKS = 6
"""Enough to keep several workers busy to the end."""


@pytest.mark.deeper("mutations")
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_no_damaged_file_harms_what_is_beside_it(chunk: int, pytestconfig: pytest.Config) -> None:
    first, count = pytestconfig.getoption("--first-mutation"), number_of("mutations", pytestconfig)
    fleet = Mutated()
    fleet.play_each(range(first + chunk, first + count, CHUNKS))
    assert (fleet.refused and fleet.applied) or count < 20 * CHUNKS  # or it proves nothing


def test_the_same_seed_does_the_same_damage() -> None:
    again = mutation.__wrapped__
    assert [mutation(seed) for seed in range(50)] == [again(seed) for seed in range(50)]
    assert len({mutation(seed).what for seed in range(200)}) > 150


class Breaking(Mutated):
    """A fleet in which only some mutations, all of them together, break something."""

    def __init__(self, *broken: int) -> None:
        self.broken, self.played = set(broken), list[tuple[int, ...]]()

    def _begin(self) -> None:
        """No world."""

    def play(self, *seeds: int) -> None:
        """Breaks with all of the broken ones."""
        self.played.append(seeds)
        if self.broken <= set(seeds):
            raise Damage("it broke")


@pytest.mark.parametrize("broken", [(3,), (3, 4), (2, 3, 4)])
def test_what_breaks_together_names_the_fewest_that_break(broken: tuple[int, ...]) -> None:
    group = next(group for group in groups(range(1000)) if len(group) > 5)
    seeds = [group[number] for number in broken]
    fleet, named = Breaking(*seeds), ", ".join(map(str, seeds))
    with pytest.raises(AssertionError, match=rf"^mutation {named}: .*: it broke$"):
        fleet.play_each(group)
    assert fleet.played[0] == group


def test_what_is_played_together_is_of_different_files_in_resources() -> None:
    found = list(groups(range(200)))
    assert sorted(seed for group in found for seed in group) == list(range(200))
    for group in found:
        paths = [mutation(seed).path for seed in group]
        assert len(set(paths)) == len(paths) <= 8
        assert len(group) == 1 or all(path.startswith("resources/") for path in paths)
    alone = [group for group in found if len(group) == 1]
    assert 40 < len(alone) < 100, "a share of all kinds is played alone"
