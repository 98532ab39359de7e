"""Random fleets: every kind of value of the state branch with every field."""

from __future__ import annotations

from datetime import UTC, datetime
from string import ascii_letters, ascii_lowercase, digits
from typing import Any

from hypothesis import strategies as st

from gitfleet.api import write
from gitfleet.api.bindings import (
    Binding,
    BindingState,
    ClusterDecision,
    ClusterScore,
    DiffedObject,
    DriftedObject,
    FailedObject,
)
from gitfleet.api.cluster_selectors import (
    ClusterAffinity,
    ClusterSelectorTerm,
    PreferredTerm,
    PropertyOperator,
    PropertyRequirement,
    PropertySorter,
    SortOrder,
)
from gitfleet.api.clusters import (
    AgentStatus,
    ClusterStatus,
    Connection,
    MemberCluster,
    PropertyValue,
    ResourceUsage,
    SecretKey,
    Taint,
)
from gitfleet.api.conditions import Condition, Status
from gitfleet.api.faults import Fault, LastGood, Severity
from gitfleet.api.fleet import ListedPlugin
from gitfleet.api.freeze_files import Freeze, FreezeOverride, FreezeRules
from gitfleet.api.freezes import FreezeScope, FreezeWindow
from gitfleet.api.holds import ClusterCount, Hold, HoldReason, HoldRule, Removal, RemovalKind
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.labels import LabelOperator, LabelRequirement, LabelSelector
from gitfleet.api.objects import Manifest, ObjectKey, Origin
from gitfleet.api.overrides import (
    JsonPatch,
    OverriddenResource,
    OverrideKey,
    OverridePlacement,
    OverrideRule,
    override_type,
)
from gitfleet.api.placements import (
    Placement,
    PlacementKey,
    PlacementPolicy,
    PlacementType,
    ResourceSelector,
    SelectionScope,
    Toleration,
    TolerationOperator,
    TopologySpreadConstraint,
)
from gitfleet.api.snapshots import DocumentRef, OverrideSnapshot, PolicySnapshot, ResourceSnapshot
from gitfleet.api.staged import Eviction
from gitfleet.api.strategies import (
    ApplyStrategy,
    ApplyStrategyType,
    ComparisonOption,
    DeletePropagation,
    RollingUpdate,
    RolloutStrategy,
    RolloutStrategyType,
    WhenToApply,
    WhenToTakeOver,
)
from gitfleet.formats.canonical_json import digest_of
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
        st.none(), st.booleans(), st.integers(-(2**53), 2**53), st.floats(allow_nan=False, allow_infinity=False), texts
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=6,
)
bodies = st.dictionaries(words, json_values, max_size=3)
keys = st.builds(ObjectKey, words | st.just(""), words, words, names | st.just(""), names)
amounts = st.one_of(counts, st.sampled_from(["25%", "100%"]))


def tuples(inner: st.SearchStrategy[Any], most: int = 2) -> st.SearchStrategy[tuple[Any, ...]]:
    """A short tuple."""
    return st.lists(inner, max_size=most).map(tuple)


_last_good = st.lists(
    st.builds(
        LastGood,
        blob=st.sampled_from("abc").map(lambda letter: letter * 40),
        documents=st.lists(counts, min_size=1, max_size=3, unique=True).map(lambda found: tuple(sorted(found))),
        path=texts,
    ),
    min_size=1,
    max_size=2,
).map(tuple)


conditions = tuples(
    st.builds(
        Condition,
        type=words,
        status=st.sampled_from(Status),
        reason=texts,
        message=texts,
        last_transition_time=times,
        observed_generation=counts,
    )
)
selectors = st.builds(
    LabelSelector, maps, tuples(st.builds(LabelRequirement, texts, st.sampled_from(LabelOperator), tuples(texts)))
)
terms = st.builds(
    ClusterSelectorTerm,
    label_selector=st.none() | selectors,
    property_requirements=tuples(
        st.builds(PropertyRequirement, texts, st.sampled_from(PropertyOperator), tuples(texts, 1))
    ),
    property_sorter=st.none() | st.builds(PropertySorter, texts, st.sampled_from(SortOrder)),
)
policies = st.builds(
    PlacementPolicy,
    placement_type=st.sampled_from(PlacementType),
    cluster_names=tuples(names),
    number_of_clusters=st.none() | counts,
    affinity=st.builds(
        ClusterAffinity,
        required=tuples(terms),
        preferred=tuples(st.builds(PreferredTerm, st.integers(-100, 100), terms)),
    ),
    topology_spread_constraints=tuples(
        st.builds(TopologySpreadConstraint, max_skew=counts, topology_key=texts, when_unsatisfiable=words)
    ),
    tolerations=tuples(
        st.builds(Toleration, key=texts, operator=st.sampled_from(TolerationOperator), value=texts, effect=texts)
    ),
)
apply_strategies = st.just(ApplyStrategy()) | st.builds(
    ApplyStrategy,
    type=st.sampled_from(ApplyStrategyType),
    comparison_option=st.sampled_from(ComparisonOption),
    when_to_apply=st.sampled_from(WhenToApply),
    when_to_take_over=st.sampled_from(WhenToTakeOver),
    allow_co_ownership=st.booleans(),
    force_conflicts=st.booleans(),
)
strategies = st.builds(
    RolloutStrategy,
    type=st.sampled_from(RolloutStrategyType),
    rolling_update=st.just(RollingUpdate())
    | st.builds(RollingUpdate, max_unavailable=amounts, max_surge=amounts, unavailable_period_seconds=counts),
    apply_strategy=apply_strategies,
    delete_propagation_policy=st.sampled_from(DeletePropagation),
)
decisions = st.builds(
    ClusterDecision,
    cluster=names,
    selected=st.booleans(),
    score=st.none() | st.builds(ClusterScore, st.integers(-9, 9), st.integers(-9, 9)),
    reason=texts,
    refused_by=st.none() | words,
)
drifted, diffed = (
    tuples(
        st.builds(
            kind,
            key=keys,
            details=tuples(st.tuples(texts, st.none() | texts, st.none() | texts)),
            observed=times,
            first_observed=times,
        )
    )
    for kind in (DriftedObject, DiffedObject)
)
references = st.one_of(names, st.tuples(names, names).map("/".join))


def placements(key: PlacementKey) -> st.SearchStrategy[Placement]:
    """A placement of a key."""
    return st.builds(
        Placement,
        key=st.just(key),
        selectors=tuples(
            st.builds(
                ResourceSelector,
                group=texts,
                version=texts,
                kind=texts,
                name=st.none() | texts,
                label_selector=st.none() | selectors,
                selection_scope=st.sampled_from(SelectionScope),
            )
        ),
        policy=st.none() | policies,
        strategy=strategies,
        revision_history_limit=counts,
        status_reporting_scope=words,
        labels=maps,
        annotations=maps,
        generation=counts,
        deleting=st.none() | times,
    )


def bindings(key: PlacementKey, cluster: str) -> st.SearchStrategy[Binding]:
    """A binding of a placement to a cluster."""
    return st.builds(
        Binding,
        placement=st.just(key),
        cluster=st.just(cluster),
        state=st.sampled_from(BindingState),
        policy_snapshot=texts,
        previous_state=st.none() | st.sampled_from(BindingState),
        resource_snapshot=st.none() | st.sampled_from([f"{key.name}-0-snapshot", f"{key.name}-1-snapshot", ""]),
        cluster_resource_overrides=tuples(texts),
        resource_overrides=tuples(references),
        apply_strategy=apply_strategies,
        decision=st.none() | decisions,
        generation=counts,
        conditions=conditions,
        failed=tuples(st.builds(FailedObject, key=keys, condition=words, reason=texts, message=texts)),
        drifted=drifted,
        diffed=diffed,
        applied_snapshot=st.none() | st.sampled_from([f"{key.name}-0-snapshot", ""]),
        deleting=st.none() | times,
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
            PolicySnapshot(
                placement=key,
                index=index,
                hash=draw(texts),
                policy=draw(policies),
                number_of_clusters=draw(st.none() | counts),
                placement_generation=draw(counts),
            )
            for index in range(policy_count)
        ),
        bindings=tuple(draw(bindings(key, cluster)) for cluster in clusters),
        decisions=draw(tuples(decisions)) if policy_count else (),
        conditions=draw(conditions),
        schedule_key=draw(texts),
    )


def clusters_of(name: str) -> st.SearchStrategy[MemberCluster]:
    """A cluster of a name."""
    return st.builds(
        MemberCluster,
        name=st.just(name),
        labels=maps,
        annotations=maps,
        taints=tuples(st.builds(Taint, texts, texts, texts)),
        heartbeat_period_seconds=counts,
        delete_validation_mode=words,
        delete_propagation_policy=st.sampled_from(DeletePropagation),
        connection=st.none()
        | st.builds(
            Connection,
            context=st.none() | texts,
            kubeconfig_file=st.none() | texts,
            kubeconfig_secret=st.none() | st.builds(SecretKey, texts, texts, texts),
            in_cluster=st.booleans(),
            pull=st.booleans(),
            simulated=st.booleans(),
        ),
        generation=counts,
        deleting=st.none() | times,
        status=st.builds(
            ClusterStatus,
            conditions=conditions,
            properties=st.dictionaries(texts, st.builds(PropertyValue, texts, st.none() | times), max_size=2),
            resource_usage=st.builds(
                ResourceUsage, capacity=maps, allocatable=maps, available=maps, observed=st.none() | times
            ),
            namespaces=st.none() | maps,
            agent=st.none()
            | st.builds(AgentStatus, type=texts, conditions=conditions, last_received_heartbeat=st.none() | times),
        ),
    )


@st.composite
def override_snapshots(draw: st.DrawFn, key: OverrideKey) -> tuple[OverrideSnapshot, ...]:
    """Some snapshots of an override."""
    rules = st.builds(
        OverrideRule,
        cluster_terms=st.none() | tuples(terms),
        override_type=words,
        patches=tuples(st.builds(JsonPatch, words, texts, json_values) | st.builds(lambda: JsonPatch("remove", "/a"))),
    )
    override = st.builds(
        override_type(key.namespace),
        key=st.just(key),
        resources=tuples(st.builds(OverriddenResource, texts, texts, texts, texts)),
        rules=tuples(rules),
        placement=st.none() | st.builds(OverridePlacement, names, words),
        labels=maps,
    )
    drawn = [draw(override) for _ in range(draw(st.integers(1, 2)))]
    return tuple(
        OverrideSnapshot(override=one, index=index, hash=digest_of(write(one)["spec"]))
        for index, one in enumerate(drawn)
    )


def holds(name: str) -> st.SearchStrategy[Hold]:
    """A hold of a name."""
    owners = st.builds(PlacementKey, st.just("") | names, names)
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
    return st.builds(
        Hold,
        name=st.just(name),
        commit=words,
        since=times,
        digest=words,
        guarded=st.booleans(),
        reasons=tuples(st.builds(HoldReason, rule=rules, message=texts)),
        removals=tuples(removal),
        objects=counts,
        clusters=tuples(st.builds(ClusterCount, cluster=names, objects=counts)),
        conditions=conditions,
    )


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
        inventory[cluster] = {
            key: InventoryEntry(
                key=key,
                placement=PlacementKey(draw(st.just("") | names), draw(names)),
                uid=draw(st.none() | texts),
                applied_digest=draw(st.none() | texts),
                shape_digest=draw(st.none() | texts),
                to_be_made=draw(st.booleans()),
                taken_over=draw(st.booleans()),
                finished=draw(st.booleans()),
                protected_by=draw(st.none() | texts),
            )
            for key in owned
        }
    return FleetState(
        scheduler_plugins=draw(st.sampled_from([(), (ListedPlugin(name="Zones", weight=3, args={"label": "zone"}),)])),
        freezes=draw(st.sampled_from([FreezeRules(), FREEZES])),
        observed_commit=draw(st.none() | words),
        clusters={name: draw(clusters_of(name)) for name in draw(st.sets(names, max_size=2))},
        placements={key: draw(records(key)) for key in placement_keys},
        overrides={key: draw(override_snapshots(key)) for key in override_keys},
        inventory=inventory,
        faults=draw(
            tuples(
                st.builds(
                    Fault,
                    path=texts,
                    line=counts,
                    object=texts,
                    field=texts,
                    message=texts,
                    severity=st.sampled_from(Severity),
                )
            )
        ),
        last_good=draw(st.dictionaries(st.sampled_from(["a.yaml", "b/c d.yaml", "e\\f\n.yaml"]), _last_good)),
        holds={name: draw(holds(name)) for name in draw(st.sets(names, max_size=2))},
        evictions={
            name: draw(
                st.builds(Eviction, name=st.just(name), placement_name=names, cluster_name=names, conditions=conditions)
            )
            for name in draw(st.sets(names, max_size=2))
        },
    )
