"""A hold of any size: its own file lists what a person reads, its folder has all, and nothing is lost unnoticed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitfleet.api import write
from gitfleet.api.holds import Hold, Removal, RemovalKind
from gitfleet.api.objects import ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.errors import BadInput
from gitfleet.formats.yaml_writer import write_documents
from gitfleet.model.state import FleetState
from gitfleet.schedule.texts import ScheduleText
from gitfleet.state import (
    StateFile,
    StateReader,
    assemble_state,
    is_state_file,
    parse_state_file,
    read_state,
)
from gitfleet.state.texts import StateText
from tests.state.builders import COMMIT, T0, TreeSource, blob_of, composed, put

NAME = "hold-web-0123456789"
PATH = f"holds/{NAME}.yaml"
WHOLE = 600
"""So many removals are in some twenty parts."""
WEB, SHOP = PlacementKey("", "web"), PlacementKey("", "shop")


def of_object(key: PlacementKey, number: int) -> Removal:
    """The removal of an object of a placement."""
    return Removal(
        kind=RemovalKind.OBJECT, placement=key, object=ObjectKey("", "v1", "ConfigMap", "n", f"c{number:06}")
    )


def hold(count: int, key: PlacementKey = WEB, *more: Removal) -> Hold:
    """A hold of so many removals of one placement and of others."""
    every = sorted([*(of_object(key, number) for number in range(count)), *more], key=lambda removal: removal.id)
    return Hold(name=NAME, commit="c", since=T0, digest="d", removals=tuple(every))


def fleet(one: Hold | None) -> FleetState:
    return FleetState(holds={NAME: one} if one else {})


def tree(one: Hold) -> dict[str, StateFile]:
    return put({}, composed(FleetState(), fleet(one)))


CLUSTERS = tuple(Removal(kind=RemovalKind.CLUSTER, cluster=f"c{number:03}") for number in range(30))
MANY = hold(40, WEB, *(of_object(PlacementKey("", f"p{number:03}"), 1) for number in range(200)))


@pytest.mark.parametrize(
    ("one", "listed", "more"),
    [
        (hold(1), 1, []),
        (hold(100), 100, []),
        (hold(101), 10, [("web", 91)]),
        (hold(3000), 10, [("web", 2990)]),
        (hold(2000, WEB, *(of_object(SHOP, n) for n in range(15)), *CLUSTERS), 30,
         [("", 20), ("shop", 5), ("web", 1990)]),
        (MANY, 100, [*((f"p{n:03}", 1) for n in range(99, 200)), ("web", 39)]),
    ],
    ids=["one", "few", "more than are listed", "many", "of several", "of many placements"],
)  # fmt: skip
def test_its_file_lists_what_a_person_reads_and_all_of_it_is_read_back(
    one: Hold, listed: int, more: list[tuple[str, int]]
) -> None:
    files = tree(one)

    (shown,) = StateReader(TreeSource(files), COMMIT).holds()
    assert len(shown.removals) == listed
    assert [(str(row.placement or ""), row.removals) for row in shown.more] == more
    assert shown.total == len(one.removals)
    assert (shown.name, shown.digest) == (one.name, one.digest)
    assert sum(path.startswith(f"holds/{NAME}/") for path in files) == (0 if not more else pytest.approx(
        len(one.removals) / 40, rel=0.6, abs=3))  # fmt: skip
    assert max(len(file.content or b"") for path, file in files.items() if path.startswith("holds/")) < 20_000
    assert read_state(files) == fleet(one)
    assert composed(read_state(files), fleet(one)).empty


def test_a_list_of_holds_reads_their_own_files_alone() -> None:
    source = TreeSource(tree(hold(WHOLE)))
    assert len(StateReader(source, COMMIT).holds()) == 1
    assert source.read == [PATH]


@pytest.mark.parametrize("left", [WHOLE, WHOLE - 1, 101, 100, 1, 0])
def test_what_is_held_no_more_leaves_the_files(left: int) -> None:
    whole, after = tree(hold(WHOLE)), fleet(hold(left) if left else None)

    files = put(whole, composed(read_state(whole), after))

    assert read_state(files) == after
    assert {path for path in files if path.startswith("holds/")} == {
        path for path in put({}, composed(FleetState(), after)) if path.startswith("holds/")
    }
    if left == WHOLE - 1:
        assert sum(whole.get(path) != file for path, file in files.items()) <= 4, "the file, fleet.yaml and a part"


def test_an_earlier_version_s_file_of_all_removals_is_read_and_written_anew() -> None:
    one = hold(WHOLE)
    text = write_documents([write(one)])
    files = {**{p: f for p, f in tree(one).items() if not p.startswith("holds/")}, PATH: StateFile(blob_of(text), text)}

    assert read_state(files) == fleet(one)
    assert put(files, composed(read_state(files), fleet(one))) == tree(one)
    assert put(files, composed(read_state(files), fleet(None))).keys() == {"fleet.yaml"}


@pytest.mark.parametrize("count", [2, WHOLE])
def test_a_word_that_was_swapped_is_noticed(count: int) -> None:
    files = tree(hold(count))
    at = next(path for path in files if path.startswith("holds/") and (count == 2 or path != PATH))
    text = files[at].content or b""
    edited = text.replace(b"ConfigMap", b"Secret", 1)
    state = damaged({**files, at: StateFile(blob_of(edited), edited)})
    assert state.damage.files[PATH] == StateText.IT_WAS_EDITED()


def damaged(files: dict[str, StateFile]) -> FleetState:
    """The state of files that do not fit together."""
    parsed = {path: parse_state_file(path, file.content or b"") for path, file in files.items() if is_state_file(path)}
    return assemble_state({path: file.blob for path, file in files.items()}, parsed)


@pytest.mark.parametrize(
    ("lost", "where", "says"),
    [
        (1, PATH, StateText.COUNTS_REMOVALS_FOLDER(total=WHOLE, count="")),
        (99, PATH, StateText.COUNTS_REMOVALS_FOLDER(total=WHOLE, count="0")),
        (0, f"holds/{NAME}/", StateText.NO_HOLD(name=NAME)),
    ],
    ids=["a part", "the folder", "its own file"],
)
def test_what_is_lost_of_it_is_noticed_and_put_right(lost: int, where: str, says: str) -> None:
    files = tree(hold(WHOLE))
    gone = sorted(path for path in files if path.startswith(f"holds/{NAME}/"))[:lost] or [PATH]
    files = {path: file for path, file in files.items() if path not in gone}

    state = damaged(files)

    said = {**state.damage.files}
    assert lost or said.pop(PATH) == "it is gone"
    assert all(path.startswith(where) and reason.startswith(says) for path, reason in said.items())
    assert state.damage.lost_holds
    with pytest.raises(BadInput, match=says):
        read_state(files)
    for after in (fleet(hold(WHOLE)), fleet(hold(2)), fleet(None), replace(state, damage=FleetState().damage)):
        repaired = put(files, composed(state, after))
        assert read_state(repaired) == after


@pytest.mark.parametrize(
    "content", [b"", b"items: []\n", b"hold: [\n", b'apiVersion: a\ncount: 2\nhold: x\nitems:\n- {"kind":"Cluster"}\n']
)
def test_a_part_that_cannot_be_used_says_so(content: bytes) -> None:
    with pytest.raises(BadInput, match=(f"holds/{NAME}/all.yaml " + ScheduleText.CANNOT_USED())):
        parse_state_file(f"holds/{NAME}/all.yaml", content)
