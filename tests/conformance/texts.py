"""Where gitfleet's sentences are not KubeFleet's, and why.

A text of a case is expected as it stands when it is in `LITERAL`, and as gitfleet's own sentence when it is in `OWN`.
A text that is in neither only has to be some sentence ("compare texts loosely", tests/vectors/README.md); a test sees
to it that none of the cases here has such a text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

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

OWN: Mapping[str, Mapping[str, str]] = {
    FIELD_AND_REMEDY: {
        r"^cannot override typeMeta fields": "jsonPatchOverrides[#].path: cannot change apiVersion or kind; remove the",
        r"^cannot override field metadata": "path: can change only labels and annotations of metadata; correct it",
        r"^path cannot contain empty string": "path: has an empty part, by a doubled or final slash; remove the slash",
        r"^cluster names must be unique": "clusterNames[#]: names a cluster that is already in the list; remove it",
        r"^number of clusters must be nil .* type (\w+),": r"numberOfClusters: does not go with placementType \1",
        r"^topology spread constraints needs to be empty for policy type (\w+)": (
            r"topologySpreadConstraints: does not go with placementType \1;"
        ),
        r"^PreferredDuringSchedulingIgnoredDuringExecution will be ignored for placement policy type (\w+)": (
            r"preferredDuringSchedulingIgnoredDuringExecution: has no effect with placementType \1;"
        ),
        r"^number of cluster cannot be nil .* type (\w+)": r"numberOfClusters: is required with placementType \1",
        r"^cluster names needs to be empty for policy type (\w+)": r"clusterNames: does not go with placementType \1;",
        r"operator (\w+) requires exactly one value": r"values: \1 takes exactly one value; give one quantity",
        r"^inconsistent requirements on property (\S+): ": (
            r'matchExpressions[#]: contradicts an earlier requirement on "\1", so no cluster can match; remove one'
        ),
        r"^invalid property name \S+: invalid capacity type": (
            "name: must be resources.kubernetes-fleet.io/<total, allocatable or available>-<resource>; correct it"
        ),
        r"toleration value needs to be empty, when operator is Exists": "value: must be empty with operator Exists;",
        r"toleration key cannot be empty, when operator is Equal": "key: must not be empty with operator Equal;",
        r"^toleration .* already exists, tolerations must be unique": "tolerations[#]: stands twice; remove one",
        r"^rollingUpdateConifg is not valid for ExternalRollout": "rollingUpdate: does not go with strategy type",
        r"^maxUnavailable must be greater than or equal to 0": "rollingUpdate.maxUnavailable: must be ",
        r"^serverSideApplyConfig is only valid for ServerSideApply": (
            "serverSideApplyConfig: only goes with applyStrategy type ServerSideApply;"
        ),
        r"policy type PickAll is not supported with any specified max unavailable": (
            "spec.maxUnavailable: does not go with a PickAll placement;"
        ),
        r"remove operation cannot have value": "jsonPatchOverrides[#].value: does not go with remove; remove it",
        r"^invalid clusterSelector .*: only labelSelector is supported": (
            "propertySelector: is not supported in overrides; use labelSelector"
        ),
        r"^invalid clusterSelector .*: labelSelector is required": "labelSelector: is required in each term;",
    },
    RUN_PREFIX: {
        r"client error: (the sorting label \S+ on cluster \S+ is not valid): strconv": r"\1: it must be a whole number",
        r"client error: (cluster \S+ appears in more than one stages)": r"\1",
        r"client error: (some clusters are not placed in any stage, .*)": r"\1",
        r"client error: the after stage tasks are invalid, .* two tasks of the same type: (\w+)": (
            r"afterStageTasks[#].type: \1 stands twice; remove one"
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
