"""Which content is quarantined after a pass: of people, of runs that rolled back, lifted, or gone with a placement."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.objects import Origin
from gitfleet.api.placements import PlacementKey
from gitfleet.api.quarantines import Quarantine
from gitfleet.api.runs import RunRecord
from gitfleet.api.stage_tasks import OnStageFailure
from gitfleet.api.values import NamespacedName
from gitfleet.model.decisions import Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState
from gitfleet.reconcile.quarantines import left_by, recorded, with_quarantines
from gitfleet.rollout.staged import advance_run
from gitfleet.rollout.texts import RolloutText
from tests.rollout.builders import NOW
from tests.rollout.run_trials import begun, had, record, stage

WEB, SHOP = PlacementKey("", "web"), PlacementKey("", "shop")
EARLIER = NOW - timedelta(hours=1)
HERE = {WEB: record()}


def written(name: str, digest: str = "hash-1", placement: PlacementKey = WEB, **more: Any) -> Quarantine:
    """What a person writes."""
    place = Origin(f"quarantines/{name}.yaml", 1)
    return Quarantine(name=name, placement=placement, digest=digest, body={"a": 1}, origin=place, **more)


def kept(one: Quarantine, **more: Any) -> Quarantine:
    """The same as the state branch has it."""
    return replace(one, body={}, origin=None, **{"since": NOW, **more})


def of_run(digest: str = "hash-1", placement: PlacementKey = WEB, **more: Any) -> Quarantine:
    """What a run left behind an hour ago."""
    name = f"{placement}-{digest}"
    return Quarantine(name=name, placement=placement, digest=digest, run="go", since=EARLIER, **more)


def named(*every: Quarantine) -> dict[str, Quarantine]:
    """By name."""
    return {one.name: one for one in every}


def wanted(*every: Quarantine, **more: Any) -> Desired:
    """A commit with these."""
    return Desired(commit="c", objects={"quarantines": named(*every)}, **more)


A, B = written("a"), written("b", "hash-2")
LIFTS = replace(A, lifted=True)
RUN = of_run()


@pytest.mark.parametrize(
    ("desired", "known", "after"),
    [
        (wanted(), {}, {}),
        (wanted(B, A), {}, named(kept(A), kept(B))),
        (wanted(A), named(kept(A, since=EARLIER)), named(kept(A, since=EARLIER))),
        (wanted(replace(A, digest="hash-3")), named(kept(A, since=EARLIER)), named(kept(A, digest="hash-3"))),
        (wanted(replace(A, reason="x")), named(kept(A, since=EARLIER)), named(kept(A, since=EARLIER, reason="x"))),
        (wanted(), named(kept(A)), {}),
        (wanted(LIFTS), {}, {}),
        (wanted(LIFTS), named(kept(A)), {}),
        (wanted(), named(RUN), named(RUN)),
        (wanted(A), named(RUN), named(RUN)),
        (wanted(LIFTS), named(RUN), named(replace(RUN, lifted=True))),
        (wanted(), named(replace(RUN, lifted=True)), named(RUN)),
        (wanted(replace(LIFTS, digest="hash-2")), named(RUN), named(RUN)),
        (wanted(written("b", placement=SHOP)), named(RUN), named(RUN, kept(written("b", placement=SHOP)))),
        (wanted(), named(of_run(placement=SHOP)), {}),
        (wanted(written(RUN.name, "hash-9")), named(RUN), named(RUN, kept(written("web-hash-9", "hash-9")))),
        (wanted(A, replace(LIFTS, name="z")), {}, named(kept(A, lifted=True))),
    ],
)
def test_what_the_state_branch_keeps(
    desired: Desired, known: dict[str, Quarantine], after: dict[str, Quarantine]
) -> None:
    found = recorded(desired, known, (), HERE, NOW)
    assert list(found.items()) == sorted(after.items())
    assert (found is known) == (after == known)


def run(name: str, minute: int) -> RunRecord:
    """A run as it was at a minute."""
    begun = NOW + timedelta(minutes=minute)
    return RunRecord(key=NamespacedName("", name), placement_name="web", strategy_name="all", created=begun)


def test_a_run_that_begins_to_roll_back_quarantines_its_content_once() -> None:
    trial = begun(stage(stuck_after=60.0, on_failure=OnStageFailure.ROLLBACK), clusters="a", bindings=had("a"))
    going = trial.request.run
    trial.request = replace(trial.request, now=NOW + timedelta(seconds=61))
    back = advance_run(trial.request).run
    sentence = "run go: stage all: " + RolloutText.NOT_FINISH_MORE_MAXFAILURES_ALLOWS(stuck="a", most="0")
    mine = Quarantine(name="web-hash-1", placement=WEB, digest="hash-1", reason=sentence, run="go", since=NOW)
    other = replace(back, key=NamespacedName("", "other"), placement_name="gone")
    for before, after, found in (
        ([], [back], named(mine)),
        ([going], [back], named(mine)),
        ([back], [back], {}),
        ([], [going], {}),
        ([], [other], {}),
    ):
        state = FleetState(runs={run.key: run for run in after}, placements=HERE)
        known = FleetState(runs={run.key: run for run in before}, placements=HERE)
        inputs = Inputs(desired=wanted(), before=known, observations={}, now=NOW)
        assert with_quarantines(state, inputs).quarantines == found
    unknown = FleetState(runs={back.key: back}, placements={WEB: replace(record(), resource_snapshots=())})
    inputs = Inputs(desired=wanted(), before=FleetState(), observations={}, now=NOW)
    assert with_quarantines(unknown, inputs).quarantines == {}
    already = Inputs(desired=wanted(), before=FleetState(quarantines=named(RUN)), observations={}, now=NOW)
    state = FleetState(runs={back.key: back}, placements=HERE)
    assert with_quarantines(state, already).quarantines == named(RUN), "what is known goes before"
    untold = replace(back, status=replace(back.status, conditions=()))
    assert left_by(untold, HERE[WEB], NOW) == replace(mine, reason="run go: ")
