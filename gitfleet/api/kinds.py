"""Every kind that stands in files of its own, declared once: all that reads, lists or describes kinds asks here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from operator import attrgetter
from typing import Any, Final

from gitfleet.api.bindings import Binding
from gitfleet.api.clusters import CLUSTER_GROUP, MemberCluster
from gitfleet.api.fleet import GITFLEET_GROUP, FleetConfig
from gitfleet.api.folders import FOLDER_FILE, Folder
from gitfleet.api.freeze_files import FREEZES, Freeze, FreezeOverride
from gitfleet.api.helm_releases import HELM_RELEASE_FILE, HelmRelease
from gitfleet.api.holds import Hold
from gitfleet.api.metrics import MetricTemplate
from gitfleet.api.overrides import ClusterResourceOverride, ResourceOverride
from gitfleet.api.pins import PINS, Pin
from gitfleet.api.placements import PLACEMENT_GROUP, Placement
from gitfleet.api.quarantines import Quarantine
from gitfleet.api.scenarios import ScenarioFile
from gitfleet.api.schemas import json_schema
from gitfleet.api.snapshots import PolicySnapshot, ResourceSnapshot
from gitfleet.api.staged import Approval, DisruptionBudget, Eviction, StagedRun, StagedStrategy
from gitfleet.api.texts import ApiText
from gitfleet.api.workload_rollouts import (
    APP_GROUP,
    APP_KINDS,
    ROLLOUTS,
    TRAIT_GROUP,
    TRAIT_KINDS,
    AppRollout,
    RolloutTrait,
)
from gitfleet.errors import BadInput
from gitfleet.formats.near_names import nearest

KUBEFLEET_VERSIONS: Final = ("v1", "v1beta1", "v1alpha1")
ONLY_A_BUILD_FILE: Final = ApiText.READ_ONLY_FILE_NAMED_FOLDER(helm_release_file=HELM_RELEASE_FILE)
ONLY_A_FOLDER_FILE: Final = ApiText.READ_ONLY_FOLDER_FILE(folder_file=FOLDER_FILE)


class Place(Enum):
    """Where the objects of a kind stand: written by people on the watched branch, or by gitfleet on the state branch,
    or in a file that a command is given, or in one of its own name that says how a folder of the payload is built."""

    WATCHED_BRANCH = "watched"
    STATE_BRANCH = "state"
    OWN_FILE = "file"
    BUILD_FILE = "build"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind: `namespaced` says whether its objects need a namespace or must not have one.

    `declaration` is its class; what is read from the watched branch has `body` and `origin` beside its own fields.
    `short_names` are what people type instead of the kind (`crp`), `folder` is the folder of the convention, and the
    word for it and the kinds beside it in `get`. `key` makes of a value what no other one of the folder has.
    """

    group: str
    name: str
    declaration: type[Any]
    short_names: tuple[str, ...] = ()
    namespaced: bool = False
    versions: tuple[str, ...] = KUBEFLEET_VERSIONS
    folder: str = ""
    key: Callable[[Any], Any] = attrgetter("name")
    place: Place = Place.WATCHED_BRANCH

    @property
    def plural(self) -> str:
        """Its plural, in small letters."""
        return f"{self.name[:-1]}ies".lower() if self.name.endswith("y") else f"{self.name}s".lower()

    @property
    def words(self) -> tuple[str, ...]:
        """What people may type for the kind and no other, in small letters: its name, its plural, its short names."""
        return (self.name.lower(), self.plural, *self.short_names)

    def is_meant_alone(self, word: str) -> bool:
        """Whether a word in small letters stands for this kind and not for the one of the other scope too: its name,
        its plural and KubeFleet's short name (`crp`), but not the folder nor its singular (`placement`)."""
        return word in self.words[:3] or (word in self.words and word.startswith(self.name.lower()))

    @property
    def listed_as(self) -> str:
        """What `get` lists the kind under, and `Desired` holds it under: its folder, or its plural where it has
        none."""
        return self.folder or self.plural

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the whole document."""
        schema = json_schema(self.declaration)
        named = {
            "apiVersion": {"enum": [f"{self.group}/{version}" for version in self.versions]},
            "kind": {"const": self.name},
        }
        properties = {**schema["properties"], **named}
        if self.place is not Place.OWN_FILE:
            properties["metadata"] = self._metadata(properties["metadata"])
        return {**schema, "title": self.name, "properties": properties}

    def _metadata(self, schema: dict[str, Any]) -> dict[str, Any]:
        """The schema of metadata, with a namespace exactly where the kind is namespaced."""
        if self.place is Place.BUILD_FILE:
            return schema
        fields = dict(schema["properties"])
        if self.namespaced:
            return {**schema, "required": sorted({*schema.get("required", ()), "namespace"})}
        del fields["namespace"]
        return {**schema, "properties": fields}


PAYLOAD_FOLDER: Final = "resources"
"""All below it is delivered to clusters, whatever its kind."""


def watched_kinds() -> Iterator[Kind]:
    """The kinds that people write on the watched branch."""
    return (kind for kind in KINDS.values() if kind.place is Place.WATCHED_BRANCH)


def kind_named(word: str) -> Kind:
    """The kind that a word stands for, whatever its case; the cluster-scoped one where it stands for two.

    BadInput for any other word, with the nearest one that there is.
    """
    plain = word.lower()
    for kind in KINDS.values():
        if plain in (kind.listed_as, *kind.words):
            return kind
    spellings = [spelling for kind in KINDS.values() for spelling in (kind.listed_as, *kind.words)]
    near = nearest(plain, spellings)
    meant = ApiText.YOU_MEAN(same_spelling=_same_spelling(near)) if near else ""
    raise BadInput(ApiText.NO_KIND(word=word), hint=ApiText.GITFLEET_SCHEMA_LISTS_KINDS(meant=meant))


def list_named(word: str) -> str:
    """What `get` lists the objects under that a word stands for; BadInput as `kind_named`."""
    kind = kind_named(word)
    if kind.place is Place.OWN_FILE:
        raise BadInput(ApiText.NO_BRANCH_HOLDS(kind=kind.name), hint=ApiText.FILE_COMMAND_GIVEN())
    if kind.place is Place.BUILD_FILE:
        raise BadInput(ApiText.NOT_LISTED(kind=kind.name), hint=ApiText.SAYS_HOW_FOLDER_BUILT())
    return kind.listed_as


def scope_named(word: str) -> bool | None:
    """Whether a word lists namespaced objects alone (true) or cluster-scoped ones alone (false); None for a word that
    stands for both, or for a kind that has one scope."""
    plain = word.lower()
    alone = [kind for kind in KINDS.values() if kind.is_meant_alone(plain)]
    paired = [kind for kind in alone for second in KINDS.values() if kind.folder and _are_pair(kind, second)]
    return paired[0].namespaced if paired else None


def _are_pair(first: Kind, second: Kind) -> bool:
    return first.folder == second.folder and first.namespaced != second.namespaced


def _same_spelling(word: str) -> str:
    """A kind's name with its capitals, any other word as it is."""
    return next((kind.name for kind in KINDS.values() if kind.name.lower() == word), word)


_key: Final = attrgetter("key")
_PAIRS: Final = (
    ("ResourcePlacement", (Placement, Placement), "placements", ("crp", "placement"), ("rp",)),
    (
        "ResourceOverride",
        (ClusterResourceOverride, ResourceOverride),
        "overrides",
        ("cro", "override", "clusterresourceoverridesnapshot", "clusterresourceoverridesnapshots"),
        ("ro", "resourceoverridesnapshot", "resourceoverridesnapshots"),
    ),
    ("StagedUpdateStrategy", (StagedStrategy, StagedStrategy), "strategies", ("csus", "strategy"), ("sus",)),
    ("StagedUpdateRun", (StagedRun, StagedRun), "runs", ("csur", "run"), ("sur",)),
    ("ApprovalRequest", (Approval, Approval), "approvals", ("careq", "approval"), ("areq",)),
)
"""KubeFleet's kinds that people write in two scopes: the cluster-scoped one has "Cluster" before its name."""
_STATE_PAIRS: Final = (
    ("ResourceBinding", (Binding, Binding), "bindings", ("crb", "binding"), ("rb",)),
    ("ResourceSnapshot", (ResourceSnapshot, ResourceSnapshot), "snapshots", ("crs", "snapshot"), ("rs",)),
    (
        "SchedulingPolicySnapshot",
        (PolicySnapshot, PolicySnapshot),
        "policies",
        ("csps", "policy", "policysnapshot", "policysnapshots"),
        ("sps",),
    ),
)
"""And those that gitfleet writes."""


def _pairs(pairs: tuple[Any, ...], place: Place) -> Iterator[Kind]:
    for name, declarations, folder, *short_names in pairs:
        for namespaced in (False, True):
            yield Kind(
                group=PLACEMENT_GROUP,
                name=name if namespaced else f"Cluster{name}",
                declaration=declarations[namespaced],
                short_names=short_names[namespaced],
                namespaced=namespaced,
                folder=folder,
                key=_key,
                place=place,
            )


def _own(declaration: type[Any], **more: Any) -> Kind:
    """A kind of gitfleet's own, which is called as its class is."""
    name = declaration.__name__
    return Kind(group=GITFLEET_GROUP, name=name, declaration=declaration, versions=("v1alpha1",), **more)


def _placing(name: str, declaration: type[Any], folder: str, *short_names: str) -> Kind:
    return Kind(group=PLACEMENT_GROUP, name=name, declaration=declaration, folder=folder, short_names=short_names)


def _rollouts(group: str, declaration: type[Any], versions: tuple[str, ...], *names: str) -> Iterator[Kind]:
    for name in names:
        yield Kind(
            group=group,
            name=name,
            declaration=declaration,
            namespaced=True,
            versions=versions,
            folder=ROLLOUTS,
            key=_key,
        )


def _freeze_key(value: Freeze | FreezeOverride) -> tuple[str, str]:
    return type(value).__name__, value.name


_KINDS: Final = (
    _own(FleetConfig, short_names=("config",)),
    replace(_placing("MemberCluster", MemberCluster, "clusters", "mc", "cluster"), group=CLUSTER_GROUP),
    *_pairs(_PAIRS, Place.WATCHED_BRANCH),
    _placing("ClusterResourcePlacementEviction", Eviction, "evictions", "crpe", "eviction"),
    _placing("ClusterResourcePlacementDisruptionBudget", DisruptionBudget, "budgets", "crpdb", "budget"),
    _own(Freeze, folder=FREEZES, key=_freeze_key),
    _own(FreezeOverride, folder=FREEZES, key=_freeze_key),
    _own(Quarantine, folder="quarantines"),
    *_rollouts(TRAIT_GROUP, RolloutTrait, ("v1alpha1",), *TRAIT_KINDS),
    *_rollouts(APP_GROUP, AppRollout, ("v1beta1", "v1alpha2"), *APP_KINDS),
    _own(MetricTemplate, namespaced=True, key=_key),
    _own(Pin, folder=PINS),
    *_pairs(_STATE_PAIRS, Place.STATE_BRANCH),
    _own(Hold, folder="holds", place=Place.STATE_BRANCH),
    _own(HelmRelease, namespaced=True, place=Place.BUILD_FILE),
    _own(Folder),
    replace(_own(ScenarioFile, place=Place.OWN_FILE), name="Scenario"),
)

KINDS: Final = {(kind.group, kind.name): kind for kind in _KINDS}
"""Every kind, by (group, kind)."""
