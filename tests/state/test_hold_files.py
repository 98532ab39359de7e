"""A hold of any size: its own file lists what a person reads, its folder has all, and nothing is lost unnoticed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gitfleet.api.holds import Hold, HoldReason, HoldRule, Removal, RemovalKind
from gitfleet.api.objects import ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.errors import BadInput
from gitfleet.model.state import FleetState
from gitfleet.schedule.texts import ScheduleText
from gitfleet.state import StateReader, parse_state_file
from gitfleet.state.texts import StateText
from tests.state.builders import COMMIT, T0, StateFile, TreeSource, composed, put, read_state

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

    (shown,) = StateReader(TreeSource(files), COMMIT).named(Hold)
    assert len(shown.removals) == listed
    assert [(str(row.placement or ""), row.removals) for row in shown.more] == more
    assert shown.total == len(one.removals)
    assert (shown.name, shown.digest) == (one.name, one.digest)
    assert sum(path.startswith(f"holds/{NAME}/") for path in files) == (0 if not more else pytest.approx(
        len(one.removals) / 40, rel=0.6, abs=3))  # fmt: skip
    assert max(len(file.content or b"") for path, file in files.items() if path.startswith("holds/")) < 20_000
    assert read_state(files) == fleet(one)
    assert composed(read_state(files), fleet(one)).empty


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


@pytest.mark.parametrize(
    ("lost", "where", "says"),
    [
        (1, PATH, StateText.COUNTS_REMOVALS_FOLDER(total=WHOLE, count="")),
        (99, PATH, StateText.COUNTS_REMOVALS_FOLDER(total=WHOLE, count="0")),
        (0, PATH, StateText.IT_IS_GONE()),
    ],
    ids=["a part", "the folder", "its own file"],
)
def test_what_is_lost_of_it_is_noticed(lost: int, where: str, says: str) -> None:
    files = tree(hold(WHOLE))
    gone = sorted(path for path in files if path.startswith(f"holds/{NAME}/"))[:lost] or [PATH]
    files = {path: file for path, file in files.items() if path not in gone}

    with pytest.raises(BadInput, match=StateText.STATE_BRANCH_FILE_CANNOT_USED(path=where, reason=says)):
        read_state(files)


@pytest.mark.parametrize(
    "content", [b"", b"items: []\n", b"hold: [\n", b'apiVersion: a\ncount: 2\nhold: x\nitems:\n- {"kind":"Cluster"}\n']
)
def test_a_part_that_cannot_be_used_says_so(content: bytes) -> None:
    with pytest.raises(BadInput, match=(f"holds/{NAME}/all.yaml " + ScheduleText.CANNOT_USED())):
        parse_state_file(f"holds/{NAME}/all.yaml", content)


RELEASE_2 = """\
apiVersion: gitfleet.dev/v1alpha1
kind: Hold
metadata:
  name: hold-web-0123456789
spec:
  commit: "c"
  digest: "d"
  reasons:
  - {rule: RULE, message: web lost it, causes: a.yaml was removed, path: a.yaml, line: 3, errorIn: b.yaml}
  removals:
REMOVALS
  since: "2026-01-01T00:00:00Z"
status:
  clusters:
  - {cluster: c1, objects: 1, unmanaged: 2}
  objects: 1
MORE
"""
A_MAP = "{kind: ConfigMap, name: a, namespace: shop, version: v1}"
ASKS = (HoldRule.APPROVAL_REQUIRED,)


@pytest.mark.parametrize("rule", ["LikelyTypo", "MassDeletion", "EmptySelection"])
@pytest.mark.parametrize(
    ("entry", "id_"),
    [
        ("kind: Placement, placement: web", "Placement web"),
        ("kind: Cluster, cluster: c1, cause: {path: a.yaml, hidden: b.yaml}", "Cluster c1"),
        (f"kind: Object, placement: web, object: {A_MAP}, reasons: [0]", "Object ConfigMap shop/a of web"),
        ("kind: Binding, placement: n/web, cluster: c1", "Binding of n/web to c1"),
        (f"kind: Overridden, placement: web, cluster: c1, override: x, object: {A_MAP}",
         "Overridden ConfigMap shop/a of web on c1"),
        ("kind: Strategy, placement: web", "Strategy of web"),
    ],
)  # fmt: skip
def test_a_hold_of_release_2_asks_for_an_approval_of_all_that_it_lists(rule: str, entry: str, id_: str) -> None:
    text = RELEASE_2.replace("RULE", rule).replace("REMOVALS", f"  - {{{entry}}}").replace("MORE\n", "")
    (one,) = read_state({PATH: StateFile("1", text.encode())}).holds.values()
    assert (one.name, one.commit, one.digest, one.since, one.objects) == (NAME, "c", "d", T0, 1)
    assert [(removal.id, removal.judged, removal.rules) for removal in one.removals] == [(id_, ASKS, ASKS)]
    assert [(reason.rule, reason.message) for reason in one.reasons] == [(*ASKS, StateText.HELD_BY_RELEASE_2())]
    assert one.waits


def test_a_large_hold_of_release_2_asks_so_too_while_any_of_it_is_left() -> None:
    """And once errors of a commit hold a part of it besides."""
    whole = tree(hold(WHOLE))
    text = RELEASE_2.replace("RULE", "MassDeletion").replace("REMOVALS", "  - {kind: Strategy, placement: web}")
    whole[PATH] = StateFile("1", text.replace("MORE", f"  more: [{{placement: web, removals: {WHOLE - 1}}}]").encode())
    before = read_state(whole)
    (one,) = before.holds.values()
    assert {removal.judged for removal in one.removals} == {ASKS} and len(one.removals) == WHOLE
    errors = HoldReason(rule=HoldRule.COMMIT_HAS_ERRORS, message="errors")
    first, *rest = one.removals
    first = replace(first, rules=(HoldRule.COMMIT_HAS_ERRORS, *ASKS))
    after = fleet(replace(one, reasons=(errors, *one.reasons), removals=(first, *rest[:-1])))
    files = put(whole, composed(before, after))
    assert read_state(files) == after and files.keys() == whole.keys()


def test_the_head_of_release_2_is_read_without_its_settings_of_removals() -> None:
    body = (Path(__file__).parent / "golden" / "fleet.yaml").read_text()
    old = "  massDelete: {maxPercent: 7, minClusters: 5, minObjects: 20}\n  holds: [abc]\n  gitfleetVersion"
    old_body = body.replace("  gitfleetVersion", old)
    assert old_body != body
    assert read_state({"fleet.yaml": StateFile("1", old_body.encode())}) == read_state(
        {"fleet.yaml": StateFile("1", body.encode())}
    )
