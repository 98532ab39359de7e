"""Where gitfleet's sentences are not KubeFleet's, and why.

A text of a case is expected as it stands when it is in `LITERAL`, and as gitfleet's own sentence when it is in `OWN`.
A text that is in neither only has to be some sentence ("compare texts loosely", tests/vectors/README.md); a test sees
to it that none of the cases here has such a text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from gitfleet.api.texts import ApiText
from gitfleet.formats.texts import FormatsText

LITERAL = (
    r"^label key \S+ not found on cluster \S+$",
    r"^taint &\{.*\} cannot be tolerated$",
    r"^violated doNotSchedule topology spread constraint ",
)
"""Texts that docs/reference/kubefleet.md has and gitfleet uses word by word."""

FIELD_AND_REMEDY = (
    "what is wrong in a file is said of its field, at its line, with what to do, and all at once (contracts.md §4); "
    "KubeFleet's webhook returns one error in Go's terms"
)
RUN_PREFIX = (
    "a run's conditions say what is wrong without the words that KubeFleet's Go errors are wrapped in, and without the "
    "standard library's text on a number"
)
NO_VALUES = "an error repeats no value of a patch or an object, which may be secret; the Go library's texts do"

FOUND = r"\1"
NOT_WITH_TYPE = ApiText.NOT_GO_PLACEMENTTYPE(placement_type=FOUND)
TOTAL = ApiText.MUST_TOTAL_ALLOCATABLE_AVAILABLE_RESOURCE(resource_property_prefix="resources.kubernetes-fleet.io/")

OWN: Mapping[str, Mapping[str, str]] = {
    FIELD_AND_REMEDY: {
        r"^cannot override typeMeta fields": f"jsonPatchOverrides[#].path: {ApiText.CANNOT_CHANGE_APIVERSION_KIND()}",
        r"^cannot override field metadata": f"path: {ApiText.CHANGE_ONLY_LABELS_ANNOTATIONS_METADATA()}",
        r"^path cannot contain empty string": f"path: {ApiText.EMPTY_PART_DOUBLED_FINAL_SLASH()}",
        r"^cluster names must be unique": f"clusterNames[#]: {ApiText.NAMES_CLUSTER_ALREADY_LIST()}",
        r"^number of clusters must be nil .* type (\w+),": f"numberOfClusters: {NOT_WITH_TYPE}",
        r"^topology spread constraints needs to be empty for policy type (\w+)": (
            f"topologySpreadConstraints: {NOT_WITH_TYPE}"
        ),
        r"^PreferredDuringSchedulingIgnoredDuringExecution will be ignored for placement policy type (\w+)": (
            f"preferredDuringSchedulingIgnoredDuringExecution: {ApiText.NO_EFFECT_PLACEMENTTYPE_PICKALL()}"
        ),
        r"^number of cluster cannot be nil .* type (\w+)": (
            f"numberOfClusters: {ApiText.REQUIRED_PLACEMENTTYPE_PICKN()}"
        ),
        r"^cluster names needs to be empty for policy type (\w+)": f"clusterNames: {NOT_WITH_TYPE}",
        r"operator (\w+) requires exactly one value": f"values: {ApiText.TAKES_EXACTLY_ONE_VALUE(operator=FOUND)}",
        r"^inconsistent requirements on property (\S+): ": (
            f"matchExpressions[#]: {ApiText.CONTRADICTS_EARLIER_REQUIREMENT(name=FOUND)}"
        ),
        r"^invalid property name \S+: invalid capacity type": (f"name: {TOTAL}"),
        r"toleration value needs to be empty, when operator is Exists": (
            f"value: {ApiText.MUST_EMPTY_OPERATOR_EXISTS()}"
        ),
        r"toleration key cannot be empty, when operator is Equal": f"key: {ApiText.MUST_NOT_EMPTY_OPERATOR_EQUAL()}",
        r"^toleration .* already exists, tolerations must be unique": (
            f"tolerations[#]: {ApiText.STANDS_TWICE_REMOVE_ONE()}"
        ),
        r"^rollingUpdateConifg is not valid for ExternalRollout": (
            f"rollingUpdate: {ApiText.NOT_GO_STRATEGY_TYPE_EXTERNAL()}"
        ),
        r"^maxUnavailable must be greater than or equal to 0": (
            f"rollingUpdate.maxUnavailable: {FormatsText.MUST_LEAST_RAISE()}"
        ),
        r"^serverSideApplyConfig is only valid for ServerSideApply": (
            f"serverSideApplyConfig: {ApiText.ONLY_GOES_APPLYSTRATEGY_TYPE_SERVERSIDEAPPLY()}"
        ),
        r"policy type PickAll is not supported with any specified max unavailable": (
            f"spec.maxUnavailable: {ApiText.NOT_GO_PICKALL_PLACEMENT()}"
        ),
        r"remove operation cannot have value": f"jsonPatchOverrides[#].value: {ApiText.NOT_GO_REMOVE()}",
        r"^invalid clusterSelector .*: only labelSelector is supported": (
            f"propertySelector: {ApiText.NOT_SUPPORTED_OVERRIDES()}"
        ),
        r"^invalid clusterSelector .*: labelSelector is required": f"labelSelector: {ApiText.REQUIRED_EACH_TERM()}",
    },
    RUN_PREFIX: {
        r"client error: (the sorting label \S+ on cluster \S+ is not valid): strconv": r"\1: it must be a whole number",
        r"client error: (cluster \S+ appears in more than one stages)": r"\1",
        r"client error: (some clusters are not placed in any stage, .*)": r"\1",
        r"client error: the after stage tasks are invalid, .* two tasks of the same type: (\w+)": (
            f"afterStageTasks[#].type: {ApiText.STANDS_TWICE_REMOVE_ONE_2(task=FOUND)}"
        ),
    },
    NO_VALUES: {
        r"is missing the closing bracket `}`": "is missing the closing bracket `}`",
        r"^(\w+) operation does not apply: doc is missing key: (\S+): missing value": r"\1 \2: nothing is there",
        r"^error in remove for path: '(\S+)': unable to remove nonexistent key": r"remove \1: nothing is there",
        r'^add operation does not apply: doc is missing path: "(\S+?)": missing value': r"add \1: /",
    },
}
"""By reason: KubeFleet's text, as a pattern, and a part of what gitfleet says instead; # is the place in a list."""


def expected_text(theirs: str) -> str | None:
    """What gitfleet must say where KubeFleet says `theirs`; None where only something must be said."""
    if any(re.search(pattern, theirs) for pattern in LITERAL):
        return theirs
    rows = [row for by_pattern in OWN.values() for row in by_pattern.items()]
    found = ((re.search(pattern, theirs), ours) for pattern, ours in rows)
    return next((_filled(ours, match) for match, ours in found if match is not None), None)


def _filled(ours: str, match: re.Match[str]) -> str:
    """The sentence with what the pattern found; no template of `re`, since the sentences are full of its marks."""
    for number, text in enumerate(match.groups(), 1):
        ours = ours.replace(f"\\{number}", text)
    return ours


def text_difference(theirs: str, got: Collection[str]) -> str | None:
    """None when one of the sentences is the expected one."""
    expected = expected_text(theirs) or ""
    if any(text and expected in re.sub(r"\[\d+\]", "[#]", text) for text in got):
        return None
    return f"expected the text {expected or theirs!r}, got {list(got)!r}"
