"""FleetConfig (gitfleet.dev/v1alpha1): the settings of one fleet, every field with its default (contracts.md §1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Annotated, Final

from annotated_types import Interval

from gitfleet.api.annotations import Accept, At, Break, Default, Form, OneOf, names_taken, repeated
from gitfleet.api.freezes import FreezeWindow
from gitfleet.api.layout import document, layout_of
from gitfleet.api.notifications import Notification
from gitfleet.api.objects import Authored, GroupKind, JsonObject, ObjectKey
from gitfleet.api.placing_policy import NamePattern, PlacingPolicy
from gitfleet.api.texts import ApiText
from gitfleet.api.values import (
    ApiGroup,
    BranchName,
    FieldPointer,
    KindName,
    NonEmpty,
    ObjectName,
    OtherManager,
    Seconds,
)
from gitfleet.formats.cel import SCHEMA as CEL_SCHEMA
from gitfleet.formats.cel import Expression, read_expression
from gitfleet.formats.git_names import is_branch

GITFLEET_GROUP: Final = "gitfleet.dev"
FEWEST_COMMITS: Final = 100
"""So many commits the state branch may have whatever the configuration says: a whole state is searched for in 50."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Branches:
    """The names of gitfleet's branches.

    watch: the branch with the configuration
    state: the branch with the state
    rendered: the branch with what each cluster gets
    approvals: how the names of branches that ask for an approval begin
    members: how the names of branches for agents begin
    deliveries: how the names of branches begin by which agents get what they are to do
    """

    watch: BranchName = "main"
    state: BranchName = "gitfleet/state"
    rendered: BranchName = "gitfleet/rendered"
    approvals: NonEmpty = "gitfleet/approve/"
    members: NonEmpty = "gitfleet/member/"
    deliveries: NonEmpty = "gitfleet/deliver/"

    def breaks(self) -> Iterator[Break]:
        """Each branch that gitfleet writes is one of its own: it replaces the files there."""
        for name, branch in (("rendered", self.watch), ("rendered", self.state), ("state", self.watch)):
            if getattr(self, name) == branch:
                yield (name,), ApiText.NAME_ANOTHER_BRANCH(other=branch)
        usual = Branches()
        for name in ("members", "deliveries"):
            prefix = getattr(self, name)
            if prefix == getattr(usual, name):
                continue
            if not prefix.endswith("/") or not is_branch(f"{prefix}x"):
                yield (name,), ApiText.MUST_BEGINNING_BRANCH_NAME_ENDS()
            taken = (self.watch, self.state, self.approvals, self.members if name == "deliveries" else self.deliveries)
            for branch in taken:
                if branch.startswith(prefix) or prefix.startswith(branch):
                    yield (name,), ApiText.AMONG_BRANCHES_GIVE_EACH_NAME(one=branch)

    def delivery_of(self, cluster: str) -> str:
        """The branch by which a cluster's agent gets what it is to do."""
        return f"{self.deliveries}{cluster}"

    def report_of(self, cluster: str) -> str:
        """The branch of a cluster's agent."""
        return f"{self.members}{cluster}"

    def among_others(self) -> str | None:
        """How the branches are called among which the rendered one would be, which gitfleet makes and removes."""
        prefixes = (self.approvals, self.members, self.deliveries)
        return next((name for name in prefixes if self.rendered.startswith(name)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedPlugin:
    """A scheduler plug-in.

    name: its entry-point name
    enabled: whether it takes part
    weight: the factor of its score
    args: its own settings
    """

    name: NonEmpty
    enabled: bool = True
    weight: int = 1
    args: JsonObject = field(default_factory=dict)


CelExpression = Annotated[Expression, Form(read_expression, CEL_SCHEMA, lambda expression: expression.source)]


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthCheck:
    """When an object of a kind is available, as CEL expressions over the object; it counts before gitfleet's own rule.

    Decision record 0022.

    group: API group of the kind, without a version; empty for the core group
    kind: name of the kind
    available: true while the object is available
    failed: true once the object has failed, which is then said in its place
    """

    group: ApiGroup
    kind: KindName
    available: CelExpression | None = None
    failed: CelExpression | None = None

    def breaks(self) -> Iterator[Break]:
        """It says something."""
        if self.available is None and self.failed is None:
            yield ("available",), ApiText.NEEDS_AVAILABLE_FAILED()


@dataclass(frozen=True, slots=True, kw_only=True)
class IgnoreDifferences:
    """Fields of live objects that are left alone: no drift, no difference, and not written over.

    group: API group of the objects; of every one where empty
    kind: their kind; every one where empty
    name: name of the one object; every one where empty
    namespace: their namespace; every one where empty
    jsonPointers: the fields, as JSON Pointers (RFC 6901)
    managers: field managers all of whose fields are left alone
    """

    group: str = ""
    kind: str = ""
    name: str = ""
    namespace: str = ""
    json_pointers: tuple[FieldPointer, ...] = ()
    managers: tuple[OtherManager, ...] = ()

    def matches(self, key: ObjectKey) -> bool:
        """Whether the rule is about an object."""
        pairs = ((self.group, key.group), (self.kind, key.kind), (self.name, key.name), (self.namespace, key.namespace))
        return all(not pattern or pattern == value for pattern, value in pairs)

    def breaks(self) -> Iterator[Break]:
        """It says which fields."""
        if not self.json_pointers and not self.managers:
            yield ("jsonPointers",), ApiText.NEEDS_JSONPOINTERS_MANAGERS()


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedProvider:
    """A property provider, beside the built-in one.

    name: its entry-point name
    args: its own settings
    """

    name: NonEmpty
    args: JsonObject = field(default_factory=dict)


def _or_text(field: str) -> Accept:
    """A mapping of which people may write the text of one field alone."""
    return Accept(
        lambda value: {field: value} if isinstance(value, str) else value, lambda _: {"type": "string", "minLength": 1}
    )


_BY_NAME: Final = _or_text("name")

_Percent = Annotated[int, Interval(ge=0, le=100)]
_Count = Annotated[int, Interval(ge=1)]


class RemovalApproval(StrEnum):
    """When a removal needs a person's approval, the laxest first: for a restored state and commits with errors only, by
    all removal rules, or always."""

    NEVER = "Never"
    GUARDED = "Guarded"
    ALWAYS = "Always"

    def stricter(self, approval: RemovalApproval) -> RemovalApproval:
        """The one of both that holds more."""
        return max(self, approval, key=list(RemovalApproval).index)


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovalSettings:
    """When a removal needs a person's approval.

    approval: Guarded asks by the removal rules, Always for each removal, Never for a restored state and commits with
        errors only
    maxPercent: share of the objects or clusters of a placement, or of the fleet, that goes without asking
    minObjects: the share of the objects counts from so many on
    minClusters: the share of the clusters counts from so many on
    protectedKinds: kinds of which no object goes without asking, as `Kind` or `Kind.group`
    """

    approval: RemovalApproval = RemovalApproval.GUARDED
    max_percent: _Percent = 30
    min_objects: _Count = 20
    min_clusters: _Count = 5
    protected_kinds: tuple[NonEmpty, ...] = ("Namespace", "CustomResourceDefinition", "PersistentVolumeClaim")

    def stricter(self, settings: RemovalSettings) -> RemovalSettings:
        """What holds wherever one of the two does."""
        return RemovalSettings(
            approval=self.approval.stricter(settings.approval),
            max_percent=min(self.max_percent, settings.max_percent),
            min_objects=min(self.min_objects, settings.min_objects),
            min_clusters=min(self.min_clusters, settings.min_clusters),
            protected_kinds=tuple(dict.fromkeys((*self.protected_kinds, *settings.protected_kinds))),
        )

    def protects(self, kind: GroupKind) -> bool:
        """Whether a kind is listed."""
        return kind.kind in self.protected_kinds or f"{kind.kind}.{kind.group}" in self.protected_kinds


@dataclass(frozen=True, slots=True, kw_only=True)
class KindScope:
    """A custom kind whose definition is not in the repo.

    group: its API group
    kind: its name
    scope: Namespaced or Cluster
    """

    group: ApiGroup
    kind: KindName
    scope: Annotated[str, OneOf("Cluster", "Namespaced")]


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedSigners:
    """Files with the keys of those who may approve: `ssh` in the format of ssh-keygen's ALLOWED SIGNERS, `gpg` with
    exported public keys. In a FleetConfig they are paths in the repository."""

    ssh: NonEmpty | None = None
    gpg: NonEmpty | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalPolicy:
    """Who may approve.

    required: how many distinct people must approve
    allowedSigners: the file of the config repo that lists whose signatures count; whoever may push where absent
    separateDuties: whether the authors of what is approved may not approve it
    expiresAfter: how long after its commit an approval counts
    """

    required: _Count = 1
    allowed_signers: Annotated[AllowedSigners, _or_text("ssh")] | None = None
    separate_duties: bool = False
    expires_after: Seconds | None = None


@document("spec", identify=lambda _: (f"{GITFLEET_GROUP}/v1alpha1", "FleetConfig"))
@dataclass(frozen=True, slots=True, kw_only=True)
class FleetConfig(Authored):
    """How gitfleet works on this repository.

    interval: how often the repository is looked at
    branches: names of the branches
    delivery.mode: push, pull or render; no effect, since each cluster says how it is reached
    delivery.concurrency: how many clusters are asked at a time
    delivery.executor: what asks clusters: threads of the process, or what `run --executor` names, such as dask
    rendered.enabled: whether what each cluster is to have now is written to a branch
    scheduler.plugins: the scheduler's plug-ins; KubeFleet's where the list is empty
    approvals: who may approve what waits for an approval
    removals: when a removal needs a person's approval
    rollout.unreachable: whether a rollout goes on (Skip) beside a cluster that cannot be reached
    policy: what may be placed where
    freezeWindows: times in which nothing starts to move
    healthChecks: when objects of a kind are available
    ignoreDifferences: fields of live objects that are left alone
    notifications: whom a continuous run tells what happened
    stateHistory.maxCommits: how many commits the state branch may have before the older half goes; at least 100
    propertyProviders: what collects properties of clusters, beside the built-in provider
    kinds: custom kinds whose definitions are not in the repo, each with its scope
    existingNamespaces: namespaces that the clusters have already, `*` for any text; no manifest is needed for them
    """

    name: Annotated[ObjectName, At("metadata", "name"), Default(MISSING)] = "fleet"
    interval_seconds: Annotated[Seconds, At("spec", "interval")] = 30.0
    branches: Branches = Branches()
    delivery_mode: Annotated[str, OneOf("push", "pull", "render"), At("spec", "delivery", "mode")] = "push"
    concurrency: Annotated[int, Interval(ge=1, le=1000), At("spec", "delivery", "concurrency")] = 32
    executor: Annotated[NonEmpty, At("spec", "delivery", "executor")] = "threads"
    rendered_enabled: Annotated[bool, At("spec", "rendered", "enabled")] = False
    scheduler_plugins: Annotated[tuple[Annotated[ListedPlugin, _BY_NAME], ...], At("spec", "scheduler", "plugins")] = ()
    """The scheduler's profile; no plug-ins means KubeFleet's default profile."""
    approvals: ApprovalPolicy = ApprovalPolicy()
    """Who may approve what waits for a person."""
    removals: RemovalSettings = RemovalSettings()
    """When a removal needs a person's approval."""
    rollout_unreachable: Annotated[str, OneOf("Skip", "Wait"), At("spec", "rollout", "unreachable")] = "Skip"
    """Whether a rollout goes on beside a cluster that cannot be reached (decision D32)."""
    policy: PlacingPolicy = PlacingPolicy()
    """What may be placed where."""
    freeze_windows: tuple[FreezeWindow, ...] = ()
    health_checks: tuple[HealthCheck, ...] = ()
    ignore_differences: tuple[IgnoreDifferences, ...] = ()
    notifications: tuple[Notification, ...] = ()
    state_history_max_commits: Annotated[_Count, At("spec", "stateHistory", "maxCommits")] = 10000
    """How long the history of the state branch may grow."""
    property_providers: tuple[Annotated[ListedProvider, _BY_NAME], ...] = ()
    kinds: tuple[KindScope, ...] = ()
    """The scopes of kinds that no definition in the repo says."""
    existing_namespaces: tuple[NamePattern, ...] = ()
    """Namespaces that need no manifest (decision D30)."""

    def has_namespace(self, name: str) -> bool:
        """Whether clusters have a namespace already, whatever the repo has."""
        return any(fnmatchcase(name, pattern) for pattern in self.existing_namespaces)

    @property
    def scopes(self) -> Mapping[GroupKind, bool]:
        """Whether each of `kinds` is namespaced."""
        return {GroupKind(kind.group, kind.kind): kind.scope == "Namespaced" for kind in self.kinds}

    @property
    def checks(self) -> Mapping[GroupKind, HealthCheck]:
        """The health checks by kind."""
        return {GroupKind(check.group, check.kind): check for check in self.health_checks}

    def breaks(self) -> Iterator[Break]:
        """Freeze windows, destinations and branches have names of their own, and a kind has one health check."""
        yield from names_taken((window.name for window in self.freeze_windows), ("spec", "freezeWindows"), "window")
        destinations = (notification.name for notification in self.notifications)
        yield from names_taken(destinations, ("spec", "notifications"), "destination")
        if self.rendered_enabled and (prefix := self.branches.among_others()) is not None:
            sentence = ApiText.AMONG_BRANCHES_GITFLEET_MAKES_REMOVES(prefix=prefix)
            yield ("spec", "branches", "rendered"), sentence
        kinds = [GroupKind(check.group, check.kind) for check in self.health_checks]
        for index, kind in enumerate(kinds):
            if kind in kinds[:index]:
                yield ("spec", "healthChecks", index, "kind"), ApiText.ALREADY_LIST_KEEP_ONE_HEALTH()
        scoped = [GroupKind(kind.group, kind.kind) for kind in self.kinds]
        yield from repeated(scoped, ("spec", "kinds"), ApiText.KIND_LISTED_TWICE())

    def warnings(self) -> Iterator[Break]:
        """Settings that somebody may rely on and that have another effect, or none yet: such a setting must say so."""
        usual = FleetConfig()
        places = {item.attribute: item.path for item in layout_of(FleetConfig).fields}
        changed = [name for name in places if getattr(self, name) != getattr(usual, name)]
        if "delivery_mode" in changed:
            sentence = ApiText.NO_EFFECT_SAY_EACH_CLUSTER()
            yield places["delivery_mode"], sentence
        if self.state_history_max_commits < FEWEST_COMMITS:
            yield places["state_history_max_commits"], ApiText.COUNTS_FEWEST_WRITE_MORE(fewest_commits=FEWEST_COMMITS)
