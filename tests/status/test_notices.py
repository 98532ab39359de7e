"""What is said of files of the state branch that could not be used, word for word."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.faults import Fault, Severity
from gitfleet.api.placements import PlacementKey
from gitfleet.model.state import Damage, FleetState, UnusableHead
from gitfleet.status import notices_of, released_cluster, released_placement, standing_notices
from gitfleet.status.notices import MOST_NOTICES
from gitfleet.status.texts import StatusText
from tests.state.builders import fault

HEAD, EARLIER = "0123456789abcdef" * 2, "fedcba9876543210" * 2
LOST = StatusText.SET_ASIDE(
    kept=" (`git show 0123456789ab:p/x.yaml`)", instead=StatusText.SAID_WORKED_OUT_AGAIN(), why=""
)
RESTORED = StatusText.SET_ASIDE(
    kept=" (`git show 0123456789ab:p/x.yaml`)",
    instead=StatusText.VERSION_COMMIT_HOLDS_INSTEAD(restored="fedcba987654"),
    why="",
)


def warning(path: str, name: str, message: str) -> Fault:
    """A warning of the first line of a file."""
    return Fault(path, 1, f"StateFile/{name}", "", message, Severity.WARNING)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ({}, f"{LOST}no YAML"),
        ({"restored": {"p/x.yaml": EARLIER}}, f"{RESTORED}no YAML"),
        ({"restored": {"p/y.yaml": EARLIER}}, f"{LOST}no YAML"),
        (
            {"commit": "dir:/some/where"},
            StatusText.SET_ASIDE(kept="", instead=StatusText.SAID_WORKED_OUT_AGAIN(), why="no YAML"),
        ),
        ({"files": {"p/x.yaml": "  no\n\tYAML "}}, f"{LOST}no YAML"),
        ({"files": {"p/x.yaml": "x" * 400}}, LOST + "x" * 400),
        ({"files": {"p/x.yaml": "x" * 401}}, LOST + "x" * 400 + "..."),
    ],
)
def test_what_is_said_of_a_file(damage: dict[str, Any], said: str) -> None:
    found = replace(Damage(commit=HEAD, files={"p/x.yaml": "no YAML"}), **damage)
    assert notices_of(found) == (warning("p/x.yaml", "p/x.yaml", said),)


@pytest.mark.parametrize("more", [-1, 0, 1, 7])
def test_the_first_files_are_named_and_the_others_counted(more: int) -> None:
    paths = [f"p/{number:03d}.yaml" for number in range(MOST_NOTICES + more)]
    found = notices_of(Damage(commit=HEAD, files=dict.fromkeys(reversed(paths), "odd")))
    assert [notice.path for notice in found[:MOST_NOTICES]] == paths[:MOST_NOTICES]
    rest = f"{more}" + StatusText.MORE_FILES_STATE_BRANCH_CANNOT(count="")
    assert found[MOST_NOTICES:] == ((warning("state", "state", rest),) if more > 0 else ())


def test_a_head_that_is_not_used_is_said_first() -> None:
    head = UnusableHead(commit=HEAD, why="holds no tree", instead=EARLIER, readable=True)
    said = StatusText.COMMIT_BEFORE_HOLDS(instead="0123456789ab holds no tree; commit fedcba987654", part="instead")
    assert notices_of(Damage(commit=EARLIER, files={"p/x.yaml": "odd"}, head=head)) == (
        warning("state", "head", said),
        *notices_of(Damage(commit=EARLIER, files={"p/x.yaml": "odd"})),
    )


def test_what_is_said_of_objects_whose_owner_is_gone() -> None:
    web, shop = PlacementKey("", "web"), PlacementKey("shop", "web")
    one, two = "1 object stays on cluster c1 and is", "2 objects stay on cluster c1 and are"
    assert [released_placement("c1", web, 1), released_placement("c1", shop, 2)] == [
        warning(
            "inventory/c1",
            "c1/web",
            (
                f"{one} gitfleet's no "
                + StatusText.NOT_EXIST(stay="longer", owner="ClusterResourcePlacement", owner_2="web")
            ),
        ),
        warning(
            "inventory/c1",
            "c1/shop/web",
            (
                f"{two} gitfleet's no "
                + StatusText.NOT_EXIST(stay="longer", owner="ResourcePlacement", owner_2="shop/web")
            ),
        ),
    ]
    assert [released_cluster("c1", count) for count in (1, 2)] == [
        warning("inventory/c1", "c1", (f"{said} gitfleet's no " + StatusText.FLEET_NO_CLUSTER(stay="longer")))
        for said in (one, two)
    ]


def test_notices_stand_until_the_next_commit_of_the_config_repo() -> None:
    old, new = (warning("p", name, "odd") for name in ("old", "new"))
    before = FleetState(
        observed_commit="c1", faults=(fault("an error of the config repo"), old, new), damage=Damage(notices=(new,))
    )
    assert standing_notices(before, "c1") == (old, new), "each once, and no fault of the config repo"
    assert standing_notices(before, "c2") == (new,)
    assert standing_notices(replace(before, damage=Damage()), "c1") == (old, new)
    assert standing_notices(replace(before, damage=Damage()), "c2") == ()
