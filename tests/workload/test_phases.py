"""The state machine of a workload rollout: every pair of a phase and an event, and the diagram in the documentation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import product
from pathlib import Path

import pytest

from gitfleet.api.workload_records import BatchState, ClusterRolloutStatus, RollingState
from gitfleet.errors import GiveUp
from gitfleet.workload.phases import MOVES, Phase, RolloutEvent, StartEvent, after, phase_of

PAGE = Path(__file__).parents[2] / "docs" / "workload-rollouts.md"
_ENDS = {Phase.SUCCEEDED, Phase.FAILED, Phase.ABANDONED}


def reached_from(first: Phase, moves: Mapping[tuple[Phase, RolloutEvent | StartEvent], Phase]) -> set[Phase]:
    """The phases that can come after one, and itself."""
    reached, new = {first}, [first]
    while new:
        phase = new.pop()
        found = {to for (start, _), to in moves.items() if start is phase} - reached
        reached |= found
        new += found
    return reached


def name_of(phase: Phase) -> str:
    """A phase in the diagram: the sub-state where it has one, else the state."""
    rolling, batch = phase.value
    return str(batch or rolling)


def drawn() -> str:
    """The table as a Mermaid state diagram."""
    lines = [f"  {name_of(phase)} --> {name_of(reached)}: {event}" for (phase, event), reached in MOVES.items()]
    return "\n".join(["stateDiagram-v2", f"  [*] --> {name_of(Phase.VERIFYING_SPEC)}", *lines, ""])


@pytest.mark.parametrize(("phase", "event"), [*product(Phase, [*RolloutEvent, *StartEvent])], ids=lambda one: one.name)
def test_a_pair_has_the_phase_of_the_table_or_is_an_error_that_names_both(
    phase: Phase, event: RolloutEvent | StartEvent
) -> None:
    if (phase, event) in MOVES:
        assert after(phase, event) is MOVES[phase, event]
        return
    with pytest.raises(GiveUp, match=rf"\b{phase.name}\b.*\b{event.name}\b"):
        after(phase, event)


def test_every_phase_is_reached_and_every_event_moves_something() -> None:
    assert reached_from(Phase.VERIFYING_SPEC, MOVES) == set(Phase)
    assert {event for _, event in MOVES} == {*RolloutEvent, *StartEvent}


@pytest.mark.parametrize("phase", Phase, ids=lambda one: one.name)
def test_from_every_phase_an_end_can_be_reached(phase: Phase) -> None:
    assert reached_from(phase, MOVES) & _ENDS


def test_the_terminal_phases_are_those_of_the_status() -> None:
    over = {phase for phase in Phase if status(phase).is_over}
    running = {phase for phase in Phase if status(phase).is_running}
    assert over == _ENDS
    assert running == set(Phase) - over - {Phase.VERIFYING_SPEC}


def test_no_batch_is_left_before_its_pods_were_verified() -> None:
    """Between the first pod that rolls and the next batch there is no way around `batchVerifying`."""
    anew = (RolloutEvent.TARGET_CHANGED, StartEvent.REMOVED)
    without = {
        (start, event): to
        for (start, event), to in MOVES.items()
        if event not in anew and Phase.BATCH_VERIFYING not in (start, to)
    }
    seen = reached_from(Phase.BATCH_IN_ROLLING, without)
    assert not seen & {Phase.BATCH_READY, Phase.BATCH_INITIALIZING, Phase.FINALISING, Phase.SUCCEEDED}


@pytest.mark.parametrize(("rolling", "batch"), [*product(RollingState, [None, *BatchState])])
def test_a_pair_of_states_is_a_phase_or_an_error_that_names_both(
    rolling: RollingState, batch: BatchState | None
) -> None:
    known = {phase.value for phase in Phase}
    if (rolling, batch) in known:
        assert phase_of(rolling, batch).value == (rolling, batch)
        return
    with pytest.raises(GiveUp, match=rf"{rolling}.*{batch}"):
        phase_of(rolling, batch)


def test_the_page_draws_the_table() -> None:
    found = re.search(r"```mermaid\n(stateDiagram-v2\n.*?)```", PAGE.read_text(), re.DOTALL)
    assert found is not None
    assert found[1] == drawn()


def status(phase: Phase) -> ClusterRolloutStatus:
    """The status of a cluster in a phase."""
    rolling, batch = phase.value
    return ClusterRolloutStatus(cluster="eu-1", rolling_state=rolling, batch_rolling_state=batch)
