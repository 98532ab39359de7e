"""Which removals wait for a person whatever their number, and why: what was emptied, hidden or misspelt (D31)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from gitfleet.api.clusters import CLUSTER_GROUP, Connection
from gitfleet.api.conditions import Status
from gitfleet.api.faults import Fault
from gitfleet.api.fleet import FleetConfig, MassDelete
from gitfleet.api.holds import ALLOW_EMPTY, Cause, FieldPlace, Hold, HoldReason, HoldRule, Removal, RemovalKind
from gitfleet.api.labels import LabelSelector
from gitfleet.api.objects import Identity, Manifest, Origin
from gitfleet.api.overrides import ClusterResourceOverride, OverrideKey, OverrideRule
from gitfleet.api.pins import Pin
from gitfleet.api.placements import PLACEMENT_GROUP, PlacementKey, PlacementPolicy, PlacementType, ResourceSelector
from gitfleet.api.snapshots import ResourceSnapshot
from gitfleet.api.strategies import DeletePropagation
from gitfleet.model.desired import Desired, Vanished
from gitfleet.model.failures import Subject
from gitfleet.model.state import Damage, FleetState, PlacementRecord
from gitfleet.removals import JudgeRequest, as_of_now, going, judge
from gitfleet.removals.causes import Causes
from gitfleet.removals.judging import MOST_REASONS, _joined
from gitfleet.removals.shares import Finding
from tests.removals.fleets import (
    CLUSTERS,
    NOW,
    SHOP,
    WEB,
    config_map,
    deleting,
    envelope,
    fleet,
    hold,
    none_overridden,
    of_binding,
    of_cluster,
    of_object,
    placed,
    unpicked,
    with_objects,
    with_web,
    without,
)
from tests.state.builders import condition
from tests.works.builders import obj

A, B, S = config_map("a"), config_map("b"), config_map("s", "shop")
BEFORE = fleet(placed(WEB, CLUSTERS, A, B), placed(SHOP, CLUSTERS, S))
WEB_FILE = Origin("placements/web.yaml", 4)
Said = list[tuple[list[str], dict[str, tuple[str, tuple[int, ...]]]]]
asked = partial(JudgeRequest, overridden=none_overridden)


def judged(
    before: FleetState,
    after: FleetState,
    new: Iterable[Removal] | None = None,
    holds: tuple[Hold, ...] = (),
    **wanted: Any,
) -> Said:
    """What waits together: the reasons, and of each removal the text of its cause and the reasons it waits for."""
    begun = going(before, after) if new is None else tuple(new)
    ended = tuple(hold for name, hold in before.holds.items() if name not in {hold.name for hold in holds})
    desired = Desired(commit="d", **wanted)
    request = asked(desired=desired, before=before, after=after, new=begun, holds=holds, ended=ended)
    groups = judge(request)
    assert not request.failures.found
    return [
        (
            [f"{reason.rule}: {reason.message}" for reason in group.reasons],
            {removal.id: (removal.cause.text, removal.reasons) for removal in group.removals},
        )
        for group in groups
    ]


def waits(*removals: Removal, cause: str = "", reasons: tuple[int, ...] = ()) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Removals that wait for the same, by the same cause."""
    return {removal.id: (cause, reasons) for removal in removals}


def selector(kind: str = "ConfigMap", name: str | None = None, **labels: str) -> ResourceSelector:
    """Objects of a kind, by name or by labels."""
    by = LabelSelector(labels) if labels else None
    return ResourceSelector(group="", version="v1", kind=kind, name=name, label_selector=by)


def selecting(state: FleetState, *selectors: ResourceSelector, empty: str = "", **policy: Any) -> FleetState:
    """The placement web with other selectors, that may be empty or may not, or with another policy."""
    placement = state.placements[WEB].placement
    changed = replace(placement, selectors=selectors or placement.selectors, origin=WEB_FILE)
    if policy:
        changed = replace(changed, policy=PlacementPolicy(**policy))
    return with_web(state, replace(state.placements[WEB], placement=replace(changed, annotations={ALLOW_EMPTY: empty})))


def has_web(state: FleetState) -> dict[str, Any]:
    """The placement web as the commit has it."""
    return {"objects": {"placements": {WEB: state.placements[WEB].placement}}}


OF_C1, OF_C2 = waits(of_binding("c1")), waits(of_binding("c2"))
LAST = "LastCluster: ClusterResourcePlacement web picks no cluster any more"
NAMED = selecting(BEFORE, selector(name="a"), selector(name="b"))
LABELLED = selecting(BEFORE, selector(name="a"), selector(name="b"), selector(team="web"))
NOTHING, ONLY_A = with_objects(NAMED), with_objects(NAMED, A)
NEW = selecting(ONLY_A, selector(name="a"), selector(team="new"))
MANY = selecting(ONLY_A, *(selector(name=f"x{n}") for n in range(5)))
WEB_NAME = "ClusterResourcePlacement web"
EMPTY = f"EmptySelection: {WEB_NAME} selects nothing any more"
NO_MATCH = f"EmptySelection: {WEB_NAME}: nothing matches the selector"
HERE = f" ({WEB_FILE})"
STILL_THERE = "no more, though the manifests are still there"
OF_A, OF_B = waits(of_object(A)), waits(of_object(B))


@pytest.mark.parametrize(
    ("before", "after", "payload", "said"),
    [
        (NAMED, NOTHING, (), [([EMPTY], OF_A | OF_B)]),
        (NAMED, ONLY_A, (A,), [([f'{NO_MATCH} ConfigMap "b"{HERE}'], OF_B)]),
        (NAMED, ONLY_A, (A, B), [([f"LabelsChanged: {WEB_NAME} selects {B.key} {STILL_THERE}"], OF_B)]),
        (
            NAMED,
            NOTHING,
            (A, B),
            [([EMPTY, f"LabelsChanged: {WEB_NAME} selects {A.key} and {B.key} {STILL_THERE}"], OF_A | OF_B)],
        ),
        (NAMED, selecting(ONLY_A, selector(name="a")), (A, B), []),
        (BEFORE, with_objects(BEFORE, A), (A,), []),
        (LABELLED, with_objects(LABELLED, A), (A,), [([f'{NO_MATCH} ConfigMap "b"{HERE}'], OF_B)]),
        (NAMED, NEW, (A,), [([f"{NO_MATCH} ConfigMap by labels{HERE}"], OF_B)]),
        (NAMED, MANY, (), [([f'{NO_MATCH} ConfigMap "x0", ConfigMap "x1", ConfigMap "x2" and 2 more{HERE}'], OF_B)]),
        (selecting(NAMED, empty="true"), selecting(NOTHING, empty="true"), (), []),
        (selecting(NAMED, empty="yes"), selecting(NOTHING, empty="yes"), (), [([EMPTY], OF_A | OF_B)]),
        (NAMED, deleting(NOTHING), (), []),
        (
            NAMED,
            with_web(NOTHING, replace(NOTHING.placements[WEB], bindings=())),
            (),
            [([LAST], OF_C1 | OF_C2), ([EMPTY], OF_A | OF_B)],
        ),
    ],
    ids=[
        "nothing",
        "a selector",
        "labels",
        "labels of all",
        "other selectors",
        "no selector was met",
        "one of two was never met",
        "a new selector",
        "many selectors",
        "may be empty",
        "may not be empty",
        "the whole placement",
        "the clusters too",
    ],
)
def test_a_selection_that_is_emptied(
    before: FleetState, after: FleetState, payload: tuple[Manifest, ...], said: Said
) -> None:
    assert judged(before, after, payload=payload) == said


FIXED: dict[str, Any] = {"placement_type": PlacementType.PICK_FIXED, "cluster_names": CLUSTERS}
TYPO: dict[str, Any] = {"placement_type": PlacementType.PICK_FIXED, "cluster_names": ("c1", "c3", "c4")}


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (BEFORE, unpicked(BEFORE, "c2"), []),
        (unpicked(BEFORE, "c1"), unpicked(unpicked(BEFORE, "c1"), "c2"), [([LAST], OF_C2)]),
        (
            selecting(BEFORE, **FIXED),
            selecting(unpicked(BEFORE, "c2"), **TYPO),
            [([f'LikelyTypo: {WEB_NAME} names "c3" and "c4", which is no cluster of the fleet'], OF_C2)],
        ),
        (selecting(BEFORE, **TYPO), selecting(unpicked(BEFORE, "c2"), **TYPO), []),
        (selecting(BEFORE, **FIXED), selecting(unpicked(BEFORE, "c2"), **FIXED), []),
        (
            selecting(BEFORE, empty="true"),
            selecting(unpicked(unpicked(BEFORE, "c1"), "c2"), empty="true"),
            [],
        ),
    ],
    ids=["one of two", "the last", "unknown names", "names that were unknown before", "known names", "may be empty"],
)
def test_clusters_that_are_picked_no_more(before: FleetState, after: FleetState, said: Said) -> None:
    assert judged(before, after) == said


def overridden(manifest: Manifest, cluster: str) -> Removal:
    """An object that an override deletes on a cluster."""
    return Removal(
        kind=RemovalKind.OVERRIDDEN, placement=WEB, cluster=cluster, object=manifest.key, override="off", reasons=()
    )


def test_overrides_that_delete_every_object_of_a_placement() -> None:
    every = [overridden(one, cluster) for one in (A, B) for cluster in CLUSTERS]
    message = f"EmptySelection: {WEB_NAME} has no objects any more, as overrides delete all of them"
    assert judged(BEFORE, BEFORE, every) == [([message], waits(*every))]
    assert judged(BEFORE, BEFORE, every[:3]) == []
    allowed = selecting(BEFORE, empty="true")
    assert judged(allowed, allowed, every) == []


@pytest.mark.parametrize("blob", ["", "abc"])
@pytest.mark.parametrize(("first", "number"), [("Delete", 0), ("JSONPatch", 1), ("", 0)])
def test_the_cause_of_what_an_override_deletes_is_its_first_such_rule(first: str, number: int, blob: str) -> None:
    kinds = [first, "Delete", "Delete"] if first else ["JSONPatch", "JSONPatch"]
    rules = tuple(OverrideRule(cluster_terms=(), override_type=kind, patches=()) for kind in kinds)
    origin = Origin("overrides/off.yaml", 3, blob)
    other = ClusterResourceOverride(key=OverrideKey("", "on"), resources=(), rules=rules[1:])
    off = replace(other, key=OverrideKey("", "off"), rules=rules, origin=origin)
    place = FieldPlace(origin, ("spec", "policy", "overrideRules", number)) if blob else None
    every = [overridden(one, cluster) for one in (A, B) for cluster in CLUSTERS]
    for written, cause in (
        (
            {one.key: one for one in (other, off)},
            Cause(origin.path, 3, f"{origin.path} deletes objects there", field=place),
        ),
        ({other.key: other}, Cause()),
        ({off.key: replace(off, origin=None)}, Cause()),
    ):
        wanted = Desired(commit="d", objects={"overrides": written})
        (group,) = judge(asked(desired=wanted, before=BEFORE, after=BEFORE, new=tuple(every)))
        assert {removal.cause for removal in group.removals} == {cause}


def identity(what: str) -> Identity:
    """Of a cluster, of a placement, or of an object."""
    kind, _, name = what.partition(" ")
    if kind == "cluster":
        return (CLUSTER_GROUP, "MemberCluster", "", name)
    return (
        (PLACEMENT_GROUP, "ClusterResourcePlacement", "", name)
        if kind == "placement"
        else ("", "ConfigMap", "web", name)
    )


NO_WEB = replace(BEFORE, placements={SHOP: BEFORE.placements[SHOP]})
NO_C2 = without(BEFORE, "c2", leaving=True)
OF_WEB = Removal(kind=RemovalKind.PLACEMENT, placement=WEB)
RENAMES = "LikelyTypo: the commit renames {}, by what may be a typing error"


def gone(path: str = "x.yaml", **how: Any) -> Vanished:
    """What became of an object."""
    return Vanished(path=path, **how)


@pytest.mark.parametrize(
    ("after", "vanished", "said"),
    [
        (NO_WEB, {"placement web": gone(removed=True)}, []),
        (
            NO_WEB,
            {"placement web": gone(ignored=3)},
            [
                (
                    ["IgnoredFile: an ignore rule takes placement web away"],
                    waits(OF_WEB, cause="line 3 hides x.yaml"),
                )
            ],
        ),
        (
            NO_WEB,
            {"placement web": gone(moved="y.txt")},
            [
                (
                    ["IgnoredFile: a rename takes placement web away"],
                    waits(OF_WEB, cause="x.yaml is now y.txt, which gitfleet does not read"),
                )
            ],
        ),
        (
            NO_WEB,
            {"placement web": gone(moved="y.yaml", as_payload=True)},
            [
                (
                    ["IgnoredFile: a rename takes placement web away"],
                    waits(OF_WEB, cause="x.yaml is now y.yaml, which gitfleet reads as a resource to be placed"),
                )
            ],
        ),
        (
            NO_WEB,
            {"placement web": gone(successor=identity("placement wbe"))},
            [
                (
                    [RENAMES.format("placement web")],
                    waits(OF_WEB, cause="x.yaml has ClusterResourcePlacement/wbe in its place"),
                )
            ],
        ),
        (
            with_objects(BEFORE, A),
            {"object b": gone(successor=identity("object bb"))},
            [
                (
                    [RENAMES.format(f"{B.key} of placement web")],
                    waits(of_object(B), cause="x.yaml has ConfigMap/web/bb in its place"),
                )
            ],
        ),
        (
            with_objects(BEFORE, A),
            {"object b": gone(successor=("example.org", "ConfigMap", "web", "bb"))},
            [
                (
                    [RENAMES.format(f"{B.key} of placement web")],
                    waits(of_object(B), cause="x.yaml has ConfigMap.example.org/web/bb in its place"),
                )
            ],
        ),
        (with_objects(BEFORE, A), {"object b": gone(successor=identity("object a"))}, []),
        (
            NO_C2,
            {"cluster c2": gone(successor=identity("cluster other"))},
            [
                (
                    ["LikelyTypo: the commit takes cluster c2 out of the fleet and has another one in its file"],
                    waits(of_cluster("c2"), cause="x.yaml has MemberCluster/other in its place"),
                )
            ],
        ),
        (
            with_objects(BEFORE),
            {"object a": gone("a.yaml", ignored=3), "object b": gone("b.yaml", ignored=4)},
            [
                (
                    [
                        f"IgnoredFile: an ignore rule takes {A.key} of placement web away",
                        f"IgnoredFile: an ignore rule takes {B.key} of placement web away",
                        EMPTY,
                    ],
                    {
                        of_object(A).id: ("line 3 hides a.yaml", (0, 2)),
                        of_object(B).id: ("line 4 hides b.yaml", (1, 2)),
                    },
                )
            ],
        ),
        (
            with_objects(BEFORE),
            {"object a": gone("a.yaml", moved="a.txt"), "object b": gone("b.yaml", moved="b.txt")},
            [
                (
                    [f"IgnoredFile: a rename takes {A.key} of placement web and {B.key} of placement web away", EMPTY],
                    {
                        of_object(A).id: ("a.yaml is now a.txt, which gitfleet does not read", ()),
                        of_object(B).id: ("b.yaml is now b.txt, which gitfleet does not read", ()),
                    },
                )
            ],
        ),
    ],
    ids=[
        "removed",
        "ignored",
        "renamed",
        "as payload",
        "a typing error",
        "an object's typing error",
        "an object of a kind of its own",
        "back to a name that is placed",
        "another cluster",
        "two ignore lines",
        "two renames",
    ],
)
def test_what_is_hidden_or_misspelt(after: FleetState, vanished: dict[str, Vanished], said: Said) -> None:
    assert judged(BEFORE, after, vanished={identity(what): how for what, how in vanished.items()}) == said


def test_each_file_that_yields_objects_no_more_is_one_reason() -> None:
    c, d = config_map("c"), config_map("d")
    before, left = fleet(placed(WEB, CLUSTERS, A, B, c, d)), with_objects(BEFORE, A)
    files = [(B, "k/kustomization.yaml"), (c, "k/kustomization.yaml"), (d, "gitfleet-helm.yaml")]
    vanished = {one.key.identity: gone(path, unbuilt=f"{path} leaves it out") for one, path in files}
    charts = f"IgnoredFile: an edit of a Helm release takes {d.key} of placement web away"
    two = f"{B.key} of placement web and {c.key} of placement web"
    folders = f"IgnoredFile: an edit of a kustomization takes {two} away"
    for also in ({}, {d.key.identity: gone("l/kustomization.yaml", unbuilt="gitfleet-helm.yaml leaves it out")}):
        other = charts.replace("Helm release", "kustomization") if also else charts
        assert judged(before, left, vanished=vanished | also) == [
            ([folders], waits(of_object(B), cause="k/kustomization.yaml leaves it out")
             | waits(of_object(c), cause="k/kustomization.yaml leaves it out")),
            ([other], waits(of_object(d), cause="gitfleet-helm.yaml leaves it out")),
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("successor", "reason"),
    [("s", "IgnoredFile: a rename takes {} away"),
     ("zz", "LikelyTypo: the commit moves {} to a namespace in which no placement takes it")],
)  # fmt: skip
def test_what_moves_out_of_sight_and_to_a_namespace(successor: str, reason: str) -> None:
    """Where it is placed there it was meant to be somewhere; what was hidden is still to be said."""
    moved = gone(moved="y.txt", successor=("", "ConfigMap", "shop", successor), elsewhere=True)
    cause = "x.yaml is now y.txt, which gitfleet does not read"
    found = judged(BEFORE, with_objects(BEFORE, A), vanished={B.key.identity: moved})
    assert found == [([reason.format(of_object(B))], waits(of_object(B), cause=cause))]


def test_a_cluster_without_objects_may_be_replaced() -> None:
    vanished = {identity("cluster c2"): gone(successor=identity("cluster other"))}
    before = replace(BEFORE, inventory={"c1": BEFORE.inventory["c1"]})
    assert judged(before, replace(NO_C2, inventory=before.inventory), vanished=vanished) == []


def test_a_placement_that_has_nothing_loses_nothing_with_a_cluster() -> None:
    nothing = with_objects(NAMED)
    assert judged(nothing, unpicked(nothing, "c1"), [of_binding("c1")]) == []


BROKEN = Fault("placements/x.yaml", 3, "", "", "is wrong")
WAITS_FOR_IT = (
    "UnclearCommit: placements/x.yaml:3 has an error, so that what goes may be meant to stay; correct it, and this is "
    "decided again"
)


@pytest.mark.parametrize(
    ("after", "removals", "how", "said"),
    [
        (with_objects(BEFORE, A), [of_object(B)], {}, [([WAITS_FOR_IT], OF_B)]),
        (with_objects(BEFORE, A), [of_object(B), of_object(config_map("never"))], {}, [([WAITS_FOR_IT], OF_B)]),
        (with_objects(BEFORE, A), [of_object(B)], {"ignored": 3},
         [(["IgnoredFile: an ignore rule takes ConfigMap/web/b of placement web away"],
           waits(of_object(B), cause="line 3 hides x.yaml"))]),
        (with_objects(BEFORE, A, config_map("c")), [of_object(B)],
         {"successor": ("", "ConfigMap", "web", "c"), "replaced": True}, []),
        (with_objects(BEFORE, A), [of_object(B)], {"successor": ("", "ConfigMap", "web", "c"), "replaced": True},
         [([WAITS_FOR_IT], waits(of_object(B), cause="x.yaml has ConfigMap/web/c in its place"))]),
        (with_objects(BEFORE, A, config_map("c")), [of_object(B)], {"successor": ("", "ConfigMap", "web", "c")},
         [([RENAMES.format("ConfigMap/web/b of placement web")],
           waits(of_object(B), cause="x.yaml has ConfigMap/web/c in its place"))]),
    ],
    ids=["an object", "one that lies nowhere", "held already", "generated anew", "and not placed", "a slip"],
)  # fmt: skip
def test_what_a_commit_with_an_error_takes_away_waits_where_nothing_else_holds_it(
    after: FleetState, removals: list[Removal], how: dict[str, Any], said: Said
) -> None:
    vanished = {B.key.identity: gone(**how)} if how else {}
    assert judged(BEFORE, after, removals, unclear=(BROKEN,), vanished=vanished) == said


def test_a_cluster_waits_for_new_errors_alone_and_what_a_pin_takes_for_all() -> None:
    left = unpicked(BEFORE, "c1")
    assert judged(BEFORE, left, unclear=(BROKEN,)) == [([WAITS_FOR_IT], OF_C1)]
    known = replace(BEFORE, faults=(BROKEN,))
    assert judged(known, left, unclear=(BROKEN,), faults=(replace(BROKEN, line=9),)) == []
    assert judged(known, left, unclear=(BROKEN,)) == [([WAITS_FOR_IT], OF_C1)], "another one is corrected"
    only_a = with_objects(BEFORE, A)
    pinned = condition("ClusterResourcePlacementPinned")
    kept = with_web(only_a, replace(only_a.placements[WEB], conditions=(pinned,)))
    for pins in ({}, {PIN.name: PIN}):
        found = judged(BEFORE, kept, [of_object(B)], unclear=(BROKEN,), objects={"pins": pins})
        assert found == [([WAITS_FOR_IT], OF_B)]


def test_what_an_ended_hold_kept_is_judged_again_after_later_commits() -> None:
    known = hold("h", [of_binding("c1")], "why")
    message = "h has kept it, and commits that came since may have changed what goes"
    for observed, left, said in (
        ("d", (), [([f"UnclearCommit: {message}"], OF_C1)]),
        ("d", (known,), []),
        ("c", (), []),
    ):
        before = replace(BEFORE, holds={"h": known}, observed_commit=observed)
        assert judged(before, unpicked(before, "c1"), [of_binding("c1")], left) == said


def test_a_rollout_that_cannot_be_read_is_noted_and_what_goes_is_judged() -> None:
    odd: Any = object()
    web = NAMED.placements[WEB]
    before = with_web(NAMED, replace(web, resource_snapshots=(odd, *web.resource_snapshots)))
    bindings = tuple(replace(one, resource_snapshot=web.resource_snapshots[0].name) for one in web.bindings)
    before = with_web(before, replace(before.placements[WEB], bindings=bindings))
    request = asked(desired=Desired(commit="d"), before=before, after=NAMED, new=(of_object(B),))
    judge(request)
    assert [one.subject for one in request.failures.found] == [Subject.of_placement(WEB)]


def test_a_cluster_whose_other_name_is_held_is_renamed_back() -> None:
    vanished = {identity("cluster c2"): gone(successor=identity("cluster other"))}
    for removal, waiting in ((of_cluster("other"), False), (of_cluster("c1"), True), (of_binding("other"), True)):
        before = replace(BEFORE, holds={"h": hold("h", [removal], "why")})
        assert bool(judged(before, replace(NO_C2, holds=before.holds), vanished=vanished)) is waiting


SAME, PULL = Connection(context="c2"), Connection(pull=True)


@pytest.mark.parametrize(
    ("mine", "deletes", "others", "said"),
    [
        (SAME, True, {"c1": Connection(context="c1"), "new": SAME}, "clusters/new.yaml names"),
        (SAME, True, {"c2": SAME, "new": SAME, "newer": SAME}, "clusters/new.yaml names"),
        (SAME, False, {"new": SAME}, ""),
        (SAME, True, {"new": Connection(context="c3")}, ""),
        (SAME, True, {"c2": SAME}, ""),
        (PULL, True, {"new": PULL}, ""),
        (None, True, {"new": None}, ""),
    ],
)
def test_a_cluster_that_stays_under_another_name(
    mine: Connection | None, deletes: bool, others: dict[str, Connection | None], said: str
) -> None:
    how = DeletePropagation.DELETE if deletes else DeletePropagation.ABANDON
    leaver = replace(BEFORE.clusters["c2"], connection=mine, delete_propagation_policy=how)
    before = replace(BEFORE, clusters={**BEFORE.clusters, "c2": leaver})
    for place in (True, False):
        clusters = {
            name: replace(
                leaver, name=name, connection=one, origin=Origin(f"clusters/{name}.yaml", 1) if place else None
            )
            for name, one in others.items()
        }
        message = (
            f"LikelyTypo: the commit takes cluster c2 out of the fleet, and {said if place else 'there is'} the same "
            "connection for cluster new, so what c2 has would be deleted under it"
        )
        found = judged(before, without(before, "c2", leaving=True), objects={"clusters": clusters})
        assert found == ([([message], waits(of_cluster("c2")))] if said else [])


def test_an_earlier_hold_that_cannot_be_read_holds_everything() -> None:
    after = with_objects(BEFORE, A)
    message = "UnreadableHold: the state branch's holds/h1.yaml was lost or edited, and may have held this"
    for files, said in (
        ({"holds/h2.yaml": "broken", "holds/h1.yaml": "broken"}, [([message], OF_B)]),
        ({"placements/web.yaml": "broken"}, []),
    ):
        before = replace(BEFORE, damage=Damage(files=files))
        assert judged(before, after) == said
        assert judged(before, before) == []


def test_each_placement_is_judged_by_what_it_loses_itself() -> None:
    """Shop loses one object of two, or goes; of web all objects go."""
    both = with_objects(BEFORE)
    shop = placed(SHOP, CLUSTERS, S, config_map("t", "shop"))
    before = fleet(BEFORE.placements[WEB], shop)
    less = {SHOP: BEFORE.placements[SHOP], WEB: both.placements[WEB]}
    assert judged(before, replace(before, placements=less)) == [([EMPTY], OF_A | OF_B)]
    goes = replace(shop, placement=replace(shop.placement, deleting=NOW))
    assert judged(before, replace(before, placements={**less, SHOP: goes})) == [([EMPTY], OF_A | OF_B)]
    assert judged(NAMED, deleting(NOTHING), [of_object(A)]) == []
    assert judged(BEFORE, BEFORE, [of_object(A)]) == judged(BEFORE, BEFORE, [of_object(config_map("never"))]) == []


def test_what_is_held_already_counts_for_the_share_of_its_placement() -> None:
    before = fleet(placed(WEB, ("c1",), *(config_map(f"w{n}") for n in range(20))), *many_others())
    new, held = ([of_object(config_map(f"w{n}")) for n in some] for some in (range(4), range(4, 8)))
    for had, waits_now in (((), False), (tuple(held), True)):
        request = asked(desired=Desired(commit="d"), before=before, after=before, new=tuple(new), held=had)
        assert bool(judge(request)) is waits_now


def many_others() -> list[PlacementRecord]:
    """So much beside web that its share of the fleet and of a cluster is small."""
    return [placed(SHOP, ("c1", "c2"), *(config_map(f"s{n}", "shop") for n in range(40)))]


def test_findings_that_share_a_removal_wait_together_and_others_apart() -> None:
    """Of the placement web all objects go, of shop all clusters, and c1 is hidden."""
    after = with_objects(BEFORE)
    shop = replace(BEFORE.placements[SHOP], bindings=())
    after = replace(after, placements={**after.placements, SHOP: shop})
    shops = waits(of_binding("c1", SHOP), of_binding("c2", SHOP))
    last = f"LastCluster: {WEB_NAME.replace('web', 'shop')} picks no cluster any more"
    assert judged(BEFORE, after) == [([last], shops), ([EMPTY], OF_A | OF_B)]
    hidden = {identity("object a"): gone(ignored=1)}
    assert judged(BEFORE, after, vanished=hidden) == [
        ([last], shops),
        (
            [f"IgnoredFile: an ignore rule takes {A.key} of placement web away", EMPTY],
            {of_object(A).id: ("line 1 hides x.yaml", ()), of_object(B).id: ("", (1,))},
        ),
    ]


def test_of_a_removal_that_only_later_reasons_hold_none_is_named() -> None:
    """What is beyond the reasons that are kept holds, too."""
    many = [config_map(f"m{n:02}") for n in range(MOST_REASONS + 2)]
    unlimited = MassDelete(max_percent=100)
    before = replace(fleet(placed(WEB, CLUSTERS, *many, A)), mass_delete=unlimited)
    vanished = {one.key.identity: gone(f"{n}.yaml", ignored=n) for n, one in enumerate(many, 1)}
    config = {"fleetconfigs": {"fleet": FleetConfig(mass_delete=unlimited)}}
    ((reasons, removals),) = judged(before, with_objects(before), vanished=vanished, objects=config)
    assert len(reasons) == MOST_REASONS and len(removals) == len(many) + 1
    kept = {id_ for id_, (_, numbers) in removals.items() if numbers}
    assert kept == {of_object(one).id for one in many[:MOST_REASONS]}


def test_so_many_reasons_are_kept() -> None:
    many = [config_map(f"m{n:02}") for n in range(MOST_REASONS + 2)]
    before = fleet(placed(WEB, CLUSTERS, *many, A))
    vanished = {one.key.identity: gone(f"{n}.yaml", ignored=n) for n, one in enumerate(many, 1)}
    every = judged(before, with_objects(before), vanished=vanished)
    ((reasons, removals),) = every
    assert len(reasons) == MOST_REASONS and len(removals) == len(many) + 1
    last = removals[of_object(many[-1]).id]
    assert last == (f"line {len(many)} hides {len(many)}.yaml", (0,))


def with_origin(origin: Origin | None) -> PlacementRecord:
    """The placement web in another place."""
    web = NAMED.placements[WEB]
    return replace(web, placement=replace(web.placement, origin=origin))


SOMEWHERE = Origin("placements/web.yaml", 4, "abc")
SELECTS = FieldPlace(SOMEWHERE, ("spec", "resourceSelectors"))
BN = B.key.identity
KNOWN = Desired(commit="d", **has_web(with_web(NAMED, with_origin(SOMEWHERE))))


@pytest.mark.parametrize(
    ("removal", "found", "cause"),
    [
        (of_cluster("c2"), gone("c.yaml", removed=True, line=3), Cause("c.yaml", 3, "c.yaml was removed")),
        (of_cluster("c2"), gone("c.yaml", line=3), Cause("c.yaml", 3, "c.yaml has it no more")),
        (
            of_cluster("c2"),
            gone("c.yaml", line=3, successor=identity("cluster c3")),
            Cause("c.yaml", 3, "c.yaml has MemberCluster/c3 in its place"),
        ),
        (
            of_cluster("c2"),
            gone("c.yaml", line=3, moved="c.txt"),
            Cause("c.yaml", 1, "c.yaml is now c.txt, which gitfleet does not read", hidden="c.yaml"),
        ),
        (
            of_cluster("c2"),
            gone("c.yaml", line=3, ignored=7),
            Cause(".gitfleetignore", 7, "line 7 hides c.yaml", hidden="c.yaml"),
        ),
        (
            of_cluster("c2"),
            gone("k/kustomization.yaml", line=3, unbuilt="k/kustomization.yaml lists it no more"),
            Cause("k/kustomization.yaml", 3, "k/kustomization.yaml lists it no more", hidden="k/kustomization.yaml"),
        ),
        (of_cluster("c2"), None, Cause()),
        (OF_WEB, None, Cause()),
        (
            of_binding("c1"),
            None,
            Cause(
                SOMEWHERE.path,
                4,
                f"{SOMEWHERE.path} picks other clusters",
                field=FieldPlace(SOMEWHERE, ("spec", "policy")),
            ),
        ),
        (
            of_object(config_map("never-placed")),
            None,
            Cause(
                SOMEWHERE.path,
                4,
                f"{SOMEWHERE.path} selects other objects",
                field=FieldPlace(SOMEWHERE, ("spec", "resourceSelectors")),
            ),
        ),
    ],
)
def test_the_cause_of_one_removal(removal: Removal, found: Vanished | None, cause: Cause) -> None:
    name = {RemovalKind.CLUSTER: "cluster c2"}.get(removal.kind, "placement web")
    wanted = replace(KNOWN, vanished={identity(name): found} if found is not None else {})
    assert Causes.between(NAMED, NAMED, wanted).of(removal) == cause


def test_what_an_envelope_carries_stands_in_its_file() -> None:
    """An envelope that cannot be read carries nothing."""
    bundle, broken = envelope(B), replace(envelope(A, broken=True), key=replace(envelope().key, name="broken"))
    before = with_objects(NAMED, A, bundle, broken)
    wanted = replace(KNOWN, ignored={bundle.origin.path: 3})
    hidden = Cause(".gitfleetignore", 3, f"line 3 hides {bundle.origin.path}", hidden=bundle.origin.path)
    causes = Causes.between(before, before, wanted)
    assert causes.of(of_object(B)) == causes.of(of_object(bundle)) == hidden
    unread = with_web(before, without_manifests(before))
    assert Causes.between(unread, unread, wanted).of(of_object(bundle)) == hidden


BUNDLE = envelope(A, B)
PLACE = BUNDLE.origin.path
HAS_BUNDLE = with_objects(NAMED, BUNDLE)


def at_line(one: Manifest, line: int) -> Manifest:
    """The same at another line."""
    return replace(one, origin=replace(one.origin, line=line))


@pytest.mark.parametrize(
    ("now", "how", "cause"),
    [
        (at_line(envelope(A), 7), {}, Cause(PLACE, 7, f"{PLACE} has it no more")),
        (
            at_line(envelope(A, config_map("c"), config_map("bb")), 7),
            {},
            Cause(PLACE, 7, f"{PLACE} has ConfigMap/web/bb in its place"),
        ),
        (at_line(envelope(A, broken=True), 7), {}, Cause(PLACE, 7, f"{PLACE} has it no more")),
        (BUNDLE, {}, Cause(SOMEWHERE.path, 4, f"{SOMEWHERE.path} selects other objects", field=SELECTS)),
        (None, {}, Cause(PLACE, 1, f"{PLACE} has it no more")),
        (
            None,
            {"vanished": {BUNDLE.key.identity: gone(PLACE, removed=True, line=3)}},
            Cause(PLACE, 3, f"{PLACE} was removed"),
        ),
        (
            None,
            {"vanished": {BUNDLE.key.identity: gone(PLACE, line=3, successor=identity("object bb"))}},
            Cause(PLACE, 3, f"{PLACE} has it no more"),
        ),
        (
            None,
            {"vanished": {BN: gone("b.yaml", removed=True), BUNDLE.key.identity: gone(PLACE)}},
            Cause("b.yaml", 1, "b.yaml was removed"),
        ),
    ],
    ids=["less", "renamed", "unreadable", "still", "nowhere", "removed", "another one", "by itself"],
)
def test_the_cause_of_what_an_envelope_carried(now: Manifest | None, how: dict[str, Any], cause: Cause) -> None:
    wanted = replace(KNOWN, payload=(now,) if now is not None else (), **how)
    causes = Causes.between(HAS_BUNDLE, HAS_BUNDLE, wanted)
    assert causes.of(of_object(B)) == cause
    assert causes.is_written(of_object(B)) is (now is BUNDLE)
    assert causes.vanished(of_binding("c1")) is None and not causes.is_written(of_binding("c1"))


def test_what_another_envelope_carried_before_is_no_new_name() -> None:
    other = envelope(config_map("bb"))
    other = replace(other, key=replace(other.key, name="other"))
    before = with_objects(NAMED, BUNDLE, other)
    now = at_line(envelope(A, config_map("bb")), 7)
    causes = Causes.between(before, before, replace(KNOWN, payload=(now, other)))
    assert causes.of(of_object(B)) == Cause(PLACE, 7, f"{PLACE} has it no more")
    unplaced = with_web(before, replace(before.placements[WEB], resource_snapshots=(without_documents(before),)))
    assert Causes.between(unplaced, unplaced, KNOWN).of(of_object(B)).text == f"{SOMEWHERE.path} selects other objects"


def test_a_config_map_that_is_no_envelope_any_more_has_lost_what_it_carried() -> None:
    texts = {"b.yaml": json.dumps(B.body)}
    plain = obj("v1", "ConfigMap", "bundle", "web", data=texts)
    wrap = {"annotations": {"kubernetes-fleet.io/envelope-configmap": "true"}}
    bundle = obj("v1", "ConfigMap", "bundle", "web", metadata=wrap, data=texts)
    causes = Causes.between(with_objects(NAMED, bundle), NAMED, replace(KNOWN, payload=(at_line(plain, 7),)))
    assert causes.of(of_object(B)) == Cause(plain.origin.path, 7, f"{plain.origin.path} has it no more")


def without_documents(state: FleetState) -> ResourceSnapshot:
    """The snapshot of web, of which the files are not known."""
    (found,) = state.placements[WEB].resource_snapshots
    return replace(found, documents=())


def without_manifests(state: FleetState) -> PlacementRecord:
    """The placement web as it is read where nobody needs its manifests."""
    web = state.placements[WEB]
    return replace(web, resource_snapshots=tuple(replace(one, manifests=None) for one in web.resource_snapshots))


PIN = Pin(name="web", placement=WEB, snapshot=0, digest="x", origin=Origin("pins/web.yaml", 2))
BACK = Cause("pins/web.yaml", 2, "pins/web.yaml takes web back to snapshot 0")


@pytest.mark.parametrize(
    ("pin", "status", "removal", "by_pin"),
    [
        (PIN, Status.TRUE, of_object(B), True),
        (PIN, Status.FALSE, of_object(B), False),
        (PIN, None, of_object(B), False),
        (PIN, Status.TRUE, of_binding("c1"), False),
        (PIN, Status.TRUE, of_cluster("c1"), False),
        (replace(PIN, origin=None), Status.TRUE, of_object(B), False),
        (replace(PIN, placement=PlacementKey("", "gone")), Status.TRUE, of_object(B), False),
    ],
)
def test_what_a_pin_takes_away_has_it_as_its_cause(
    pin: Pin, status: Status | None, removal: Removal, by_pin: bool
) -> None:
    said = condition("ClusterResourcePlacementPinned", status or "True")
    back = with_objects(NAMED, A).placements[WEB]
    after = with_web(NAMED, replace(back, conditions=(said,) if status is not None else ()))
    after = replace(after, unsaid={WEB: frozenset((A.key.identity, B.key.identity))})
    wanted = replace(KNOWN, objects={**KNOWN.objects, "pins": {pin.name: pin}})
    assert (Causes.between(NAMED, after, wanted).of(removal) == BACK) is by_pin
    plain = Causes.between(NAMED, after, KNOWN).of(removal)
    assert by_pin or Causes.between(NAMED, after, wanted).of(removal) == plain
    groups = judge(asked(desired=replace(wanted, payload=()), before=NAMED, after=after, new=(of_object(B),)))
    by_pins = [one.cause == BACK for group in groups for one in group.removals]
    assert by_pins == [pin is PIN and status is Status.TRUE] * len(by_pins) and by_pins
    known = as_of_now({"h": hold("h", [removal], "why")}, wanted, NAMED, after, none_overridden)["h"]
    assert (known.removals[0].cause == BACK) is by_pin
    unselected = replace(after, unsaid={WEB: frozenset((A.key.identity,))})
    assert Causes.between(NAMED, unselected, wanted).of(removal) == plain
    kept = with_web(NAMED, replace(NAMED.placements[WEB], conditions=after.placements[WEB].conditions))
    assert Causes.between(NAMED, kept, wanted).of(removal) != BACK


def test_the_newer_line_of_the_same_cause_counts() -> None:
    cause = Causes.between(NAMED, NAMED, KNOWN).of(of_binding("c1"))
    held = replace(of_binding("c1"), cause=replace(cause, line=2, field=None))
    assert Causes.between(NAMED, NAMED, KNOWN).of_held(held) == cause


@pytest.mark.parametrize(
    ("how", "cause"),
    [
        ({}, Cause(WEB_FILE.path, WEB_FILE.line, f"{WEB_FILE.path} selects other objects")),
        (
            {"ignored": {B.origin.path: 7}},
            Cause(".gitfleetignore", 7, f"line 7 hides {B.origin.path}", hidden=B.origin.path),
        ),
        ({"objects": {}}, Cause()),
        ({"payload": (A,)}, Cause(B.origin.path, 1, f"{B.origin.path} has it no more")),
        (has_web(with_web(NAMED, with_origin(None))), Cause()),
        (
            has_web(with_web(NAMED, with_origin(replace(WEB_FILE, blob="abc")))),
            Cause(
                WEB_FILE.path,
                WEB_FILE.line,
                f"{WEB_FILE.path} selects other objects",
                field=FieldPlace(replace(WEB_FILE, blob="abc"), ("spec", "resourceSelectors")),
            ),
        ),
    ],
)
def test_the_cause_of_an_object_that_leaves_a_selection(how: dict[str, Any], cause: Cause) -> None:
    after = with_objects(NAMED, A)
    wanted = Desired(commit="d", **{**has_web(NAMED), "payload": (A, B), **how})
    (group,) = judge(asked(desired=wanted, before=NAMED, after=after, new=going(NAMED, after)))
    assert [removal.cause for removal in group.removals] == [cause]


def test_findings_with_a_removal_in_common_wait_together_in_the_order_in_which_they_were_found() -> None:
    removals = [Removal(kind=RemovalKind.CLUSTER, cluster=name) for name in ("a", "b", "c", "d", "e")]
    found = [
        Finding(HoldReason(rule=HoldRule.LIKELY_TYPO, message=names), tuple(removals["abcde".index(n)] for n in names))
        for names in ("c", "e", "a", "b", "ce", "d", "ac")
    ]
    assert [[one.reason.message for one in group] for group in _joined(found)] == [
        ["c", "e", "a", "ce", "ac"],
        ["b"],
        ["d"],
    ]
