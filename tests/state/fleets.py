"""Random fleets: every kind of value of the state branch with every field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from string import ascii_letters, ascii_lowercase, digits
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from gitfleet.api import write
from gitfleet.api.bindings import (
    Binding,
    ClusterDecision,
    FailedObject,
)
from gitfleet.api.clusters import (
    MemberCluster,
)
from gitfleet.api.conditions import Condition
from gitfleet.api.faults import Fault, LastGood
from gitfleet.api.fleet import ListedPlugin
from gitfleet.api.freeze_files import Freeze, FreezeOverride, FreezeRules
from gitfleet.api.freezes import FreezeScope, FreezeWindow
from gitfleet.api.holds import Hold, HoldRule, Removal, RemovalKind
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.labels import LabelSelector
from gitfleet.api.objects import Manifest, ObjectKey, Origin
from gitfleet.api.overrides import (
    JsonPatch,
    OverrideKey,
    OverridePlacement,
    OverrideRule,
    override_type,
)
from gitfleet.api.placements import (
    Placement,
    PlacementKey,
    PlacementPolicy,
)
from gitfleet.api.snapshots import DocumentRef, OverrideSnapshot, PolicySnapshot, ResourceSnapshot
from gitfleet.api.staged import Eviction
from gitfleet.api.strategies import (
    RollingUpdate,
)
from gitfleet.formats.canonical_json import digest_of
from gitfleet.formats.yaml_scalars import number_of_float
from gitfleet.model.state import FleetState, PlacementRecord

# Not by regular expressions: drawing from these costs several times as much.
_plain = st.text(ascii_lowercase + digits, min_size=1, max_size=5)
names = _plain | st.builds("{}-{}".format, _plain, _plain)
texts = st.one_of(
    st.sampled_from(
        ["", "y", "NO", "1e3", "0777", "2001-01-01", "12:30:45", "true", "null", "~", ".inf", "a: b", "- x"]
    ),
    st.text(max_size=20),
)
words = st.text(ascii_letters, min_size=1, max_size=12)
counts = st.integers(0, 1000)
times = st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - Hypothesis adds the zone
maps = st.dictionaries(texts, texts, max_size=3)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**53), 2**53),
        st.floats(allow_nan=False, allow_infinity=False).map(number_of_float),
        texts,
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=6,
)
bodies = st.dictionaries(words, json_values, max_size=3)
owners = st.builds(PlacementKey, st.just("") | names, names)
keys = st.builds(ObjectKey, words | st.just(""), words, words, names | st.just(""), names)
amounts = st.one_of(counts, st.sampled_from(["25%", "100%"]))


def tuples(inner: st.SearchStrategy[Any], most: int = 2) -> st.SearchStrategy[tuple[Any, ...]]:
    """A short tuple."""
    return st.lists(inner, max_size=most).map(tuple)


_AS_WRITTEN = ("origin", "body")
_LEAVES: dict[Any, st.SearchStrategy[Any]] = {
    str: texts,
    int: counts,
    bool: st.booleans(),
    float: st.sampled_from([1.0, 60.0]),
    datetime: times,
    NoneType: st.none(),
    Any: json_values,
    ObjectKey: keys,
}


@cache
def of(hint: Any) -> st.SearchStrategy[Any]:
    """Values of a type."""
    origin, args = get_origin(hint), get_args(hint)
    if hint in _LEAVES:
        return _LEAVES[hint]
    if origin in (Union, UnionType):
        return st.one_of(*map(of, args))
    if origin is tuple:
        return tuples(of(args[0])) if args[-1] is Ellipsis else st.tuples(*map(of, args))
    if origin is Mapping:
        return st.dictionaries(*map(of, args), max_size=2)
    return st.sampled_from(hint) if issubclass(hint, Enum) else every(hint)


def every(type_: Any, without: tuple[str, ...] = ("origin",), **special: Any) -> st.SearchStrategy[Any]:
    """Values of a class with all of its fields, of which some are special."""
    hints = get_type_hints(type_)
    names_of = [field.name for field in fields(type_) if field.name not in (*without, *special)]
    return st.builds(type_, **{name: of(hints[name]) for name in names_of}, **special)


_last_good = st.lists(
    every(
        LastGood,
        blob=st.sampled_from("abc").map(lambda letter: letter * 40),
        documents=st.lists(counts, min_size=1, max_size=3, unique=True).map(lambda found: tuple(sorted(found))),
    ),
    min_size=1,
    max_size=2,
).map(tuple)
_LEAVES[Condition] = every(Condition, type=words)
_LEAVES[RollingUpdate] = every(RollingUpdate, max_unavailable=amounts, max_surge=amounts)
_LEAVES[ClusterDecision] = every(ClusterDecision, cluster=names, refused_by=st.none() | words)
_LEAVES[FailedObject] = every(FailedObject, condition=words)
_LEAVES[PlacementPolicy] = every(PlacementPolicy, cluster_names=tuples(names))
conditions, policies, decisions = of(tuple[Condition, ...]), of(PlacementPolicy), of(ClusterDecision)
references = st.one_of(names, st.tuples(names, names).map("/".join))


def placements(key: PlacementKey) -> st.SearchStrategy[Placement]:
    """A placement of a key."""
    return every(Placement, key=st.just(key), status_reporting_scope=words)


def bindings(key: PlacementKey, cluster: str) -> st.SearchStrategy[Binding]:
    """A binding of a placement to a cluster."""
    return every(
        Binding,
        placement=st.just(key),
        cluster=st.just(cluster),
        resource_snapshot=st.none() | st.sampled_from([f"{key.name}-0-snapshot", f"{key.name}-1-snapshot", ""]),
        resource_overrides=tuples(references),
        variants=st.dictionaries(names, names, max_size=2).map(lambda found: tuple(sorted(found.items()))),
        applied_snapshot=st.none() | st.sampled_from([f"{key.name}-0-snapshot", ""]),
        override_labels=tuples(st.tuples(names, st.none() | texts)),
    )


@st.composite
def resource_snapshots(draw: st.DrawFn, key: PlacementKey, index: int) -> ResourceSnapshot:
    """A snapshot; what has no blob comes with its manifest."""
    found = {k: (draw(texts), draw(st.sampled_from(["", "e" * 40])), draw(counts)) for k in draw(tuples(keys, 3))}
    # One path has one blob in one commit.
    blobs = {path: blob for path, blob, _ in found.values()}
    refs = tuple(DocumentRef(path, blobs[path], document, k) for k, (path, _, document) in found.items())
    manifests = tuple(Manifest(ref.key, draw(bodies), "", Origin(ref.path, 1)) for ref in refs)
    return ResourceSnapshot(
        placement=key,
        index=index,
        hash=draw(texts),
        commit=draw(texts),
        created=draw(times),
        documents=refs,
        manifests=manifests,
    )


@st.composite
def records(draw: st.DrawFn, key: PlacementKey) -> PlacementRecord:
    """A placement's record; decisions only where there is a policy snapshot, as scheduling makes them."""
    policy_count = draw(st.integers(0, 2))
    clusters = sorted(draw(st.sets(names, max_size=3)))
    return PlacementRecord(
        placement=draw(placements(key)),
        resource_snapshots=tuple(draw(resource_snapshots(key, index)) for index in range(draw(st.integers(0, 2)))),
        policy_snapshots=tuple(
            draw(every(PolicySnapshot, placement=st.just(key), index=st.just(index))) for index in range(policy_count)
        ),
        bindings=tuple(draw(bindings(key, cluster)) for cluster in clusters),
        decisions=draw(tuples(decisions)) if policy_count else (),
        conditions=draw(conditions),
        schedule_key=draw(texts),
    )


def clusters_of(name: str) -> st.SearchStrategy[MemberCluster]:
    """A cluster of a name."""
    return every(MemberCluster, name=st.just(name), delete_validation_mode=words)


@st.composite
def override_snapshots(draw: st.DrawFn, key: OverrideKey) -> tuple[OverrideSnapshot, ...]:
    """Some snapshots of an override."""
    patches = tuples(st.builds(JsonPatch, words, texts, json_values) | st.builds(lambda: JsonPatch("remove", "/a")))
    override = every(
        override_type(key.namespace),
        key=st.just(key),
        rules=tuples(every(OverrideRule, override_type=words, patches=patches)),
        placement=st.none() | st.builds(OverridePlacement, names, words),
    )
    drawn = [draw(override) for _ in range(draw(st.integers(1, 2)))]
    return tuple(
        OverrideSnapshot(override=one, index=index, hash=digest_of(write(one)["spec"]))
        for index, one in enumerate(drawn)
    )


def holds(name: str) -> st.SearchStrategy[Hold]:
    """A hold of a name."""
    rules = st.sampled_from(HoldRule)
    removal = st.one_of(
        st.builds(Removal, kind=st.just(RemovalKind.PLACEMENT), placement=owners),
        st.builds(Removal, kind=st.just(RemovalKind.CLUSTER), cluster=names),
        st.builds(
            Removal,
            kind=st.just(RemovalKind.OBJECT),
            placement=owners,
            object=keys,
            blob=words,
            judged=tuples(rules),
            rules=tuples(rules),
        ),
        st.builds(Removal, kind=st.just(RemovalKind.BINDING), placement=owners, cluster=names),
    )
    return every(Hold, ("more",), name=st.just(name), commit=words, digest=words, removals=tuples(removal))


FREEZES = FreezeRules(
    windows=(
        FreezeWindow(
            name="night",
            schedule="0 22 * * *",
            duration=28800.0,
            time_zone="Europe/Berlin",
            scope=FreezeScope(placements=("web-*",), stages=("production",), clusters=LabelSelector({"tier": "gold"})),
        ),
    ),
    freezes=(Freeze(name="friday", reason="no changes", owner="ops", until=datetime(2026, 11, 28, tzinfo=UTC)),),
    overrides=(
        FreezeOverride(
            name="fix", windows=("night",), reason="urgent", owner="ops", expires=datetime(2026, 11, 27, tzinfo=UTC)
        ),
    ),
)


@st.composite
def fleets(draw: st.DrawFn) -> FleetState:
    """A whole state."""
    placement_keys = draw(st.sets(st.builds(PlacementKey, st.just("") | names, names), max_size=2))
    override_keys = draw(st.sets(st.builds(OverrideKey, st.just("") | names, names), max_size=2))
    inventory: dict[str, dict[ObjectKey, InventoryEntry]] = {}
    for cluster in draw(st.sets(names, max_size=2)):
        owned = draw(st.lists(keys, min_size=1, max_size=3, unique=True))
        inventory[cluster] = {key: draw(every(InventoryEntry, key=st.just(key), placement=owners)) for key in owned}
    return FleetState(
        scheduler_plugins=draw(st.sampled_from([(), (ListedPlugin(name="Zones", weight=3, args={"label": "zone"}),)])),
        freezes=draw(st.sampled_from([FreezeRules(), FREEZES])),
        observed_commit=draw(st.none() | words),
        clusters={name: draw(clusters_of(name)) for name in draw(st.sets(names, max_size=2))},
        placements={key: draw(records(key)) for key in placement_keys},
        overrides={key: draw(override_snapshots(key)) for key in override_keys},
        inventory=inventory,
        faults=draw(tuples(every(Fault, ("code", "cause")))),
        last_good=draw(st.dictionaries(st.sampled_from(["a.yaml", "b/c d.yaml", "e\\f\n.yaml"]), _last_good)),
        holds={name: draw(holds(name)) for name in draw(st.sets(names, max_size=2))},
        evictions={
            name: draw(every(Eviction, _AS_WRITTEN, name=st.just(name), placement_name=names, cluster_name=names))
            for name in draw(st.sets(names, max_size=2))
        },
    )
