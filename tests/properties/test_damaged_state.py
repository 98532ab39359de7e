"""Whatever somebody does to the state branch: nothing is deleted or sent twice, and there is one warning, or one error
with one command to continue."""

from __future__ import annotations

import logging

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitfleet.branches.texts import BranchesText
from gitfleet.errors import BadInput
from tests.profiles import examples
from tests.properties.damaging import EDITS, STEPS, LossyRepo, Step, damage
from tests.scenarios.test_restored_state import approve_all, begin, payload, warnings
from tests.scenarios.world import STATE

number = st.integers(0, 10_000)
steps = st.builds(Step, st.sampled_from(STEPS), number, st.sampled_from(EDITS), number, st.integers(0, 255))


@pytest.mark.deeper("properties")
@settings(max_examples=examples(20), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(damages=st.lists(steps, min_size=1, max_size=4), restarts=st.booleans())
def test_a_damaged_branch_deletes_nothing_and_sends_nothing_twice(
    damages: list[Step], restarts: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    caplog.clear()
    world = begin(LossyRepo())
    world.roll_out(*payload("web", "app:2"))
    sound = world.state()
    for step in damages:
        damage(world, step)
    if restarts or any(step.what == "lose a blob" for step in damages):
        world.restart()  # a process that lives on has read that blob, and needs it no more
    head, before = world.repo.log(STATE)[0].id, len(world.happenings)
    try:
        is_newest = world.state().inventory == sound.inventory
        with world.nothing_deleted():
            world.settle()
        assert len(world.happenings) == before or not is_newest, "nothing is sent twice"
    except BadInput as error:
        assert error.hint == BranchesText.STATE_BRANCH_START_AGAIN(branch=STATE)
        assert (world.repo.log(STATE)[0].id, len(world.happenings)) == (head, before), "nothing changed"
        world.repo.move_branch(STATE, None)
        with world.nothing_deleted():
            world.settle()
    said = warnings(caplog)
    assert len(said) <= 1
    assert bool(world.state().restored) == bool(said)
    world.commit(*payload("web", "app:3"), remove=["placements/api.yaml"] if said else [])
    with world.nothing_deleted():
        world.settle()
    assert {world.image_in(name, "web") for name in ("c1", "c2", "c3")} == {"app:3"}
    assert world.image_in("c3", "api") == "app:1"
    approve_all(world)
    assert (world.image_in("c3", "api") is None) == bool(said)
    assert not (world.state().restored or world.state().holds)
