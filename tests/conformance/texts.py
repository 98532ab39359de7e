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

OWN: Mapping[str, str] = {
    # What is wrong in a file is said of its field, at its line, with what to do, and all at once (contracts.md §4).
    r"^cannot override typeMeta fields": "jsonPatchOverrides[#].path: ",
    r"^cannot override field metadata": "path: ",
    r"^path cannot contain empty string": "path: ",
    r"^cluster names must be unique": "clusterNames[#]: ",
    r"^number of clusters must be nil .* type (\w+),": "numberOfClusters: ",
    r"^topology spread constraints needs to be empty for policy type (\w+)": "topologySpreadConstraints: ",
    r"^PreferredDuringSchedulingIgnoredDuringExecution will be ignored": (
        "preferredDuringSchedulingIgnoredDuringExecution: "
    ),
    r"^number of cluster cannot be nil .* type (\w+)": "numberOfClusters: ",
    r"^cluster names needs to be empty for policy type (\w+)": "clusterNames: ",
    r"operator (\w+) requires exactly one value": "values: ",
    r"^inconsistent requirements on property (\S+): ": "matchExpressions[#]: ",
    r"^invalid property name \S+: invalid capacity type": "name: ",
    r"toleration value needs to be empty, when operator is Exists": "value: ",
    r"toleration key cannot be empty, when operator is Equal": "key: ",
    r"^toleration .* already exists, tolerations must be unique": "tolerations[#]: ",
    r"^rollingUpdateConifg is not valid for ExternalRollout": "rollingUpdate: ",
    r"^maxUnavailable must be greater than or equal to 0": "rollingUpdate.maxUnavailable: ",
    r"^serverSideApplyConfig is only valid for ServerSideApply": "serverSideApplyConfig: ",
    r"policy type PickAll is not supported with any specified max unavailable": "spec.maxUnavailable: ",
    r"remove operation cannot have value": "jsonPatchOverrides[#].value: ",
    r"^invalid clusterSelector .*: only labelSelector is supported": "propertySelector: ",
    r"^invalid clusterSelector .*: labelSelector is required": "labelSelector: ",
    # A run's conditions do without the words that KubeFleet's Go errors are wrapped in.
    r"client error: (the sorting label \S+ on cluster \S+ is not valid): strconv": r"\1: it must be a whole number",
    r"client error: (cluster \S+ appears in more than one stages)": r"\1",
    r"client error: (some clusters are not placed in any stage, .*)": r"\1",
    r"client error: the after stage tasks are invalid, .* two tasks of the same type: ": "afterStageTasks[#].type: ",
    # An error repeats no value of a patch or an object, which may be secret; the Go library's texts do.
    r"is missing the closing bracket `}`": "is missing the closing bracket `}`",
    r"^(\w+) operation does not apply: doc is missing key: (\S+): missing value": r"\1 \2: nothing is there",
    r"^error in remove for path: '(\S+)': unable to remove nonexistent key": r"remove \1: nothing is there",
    r'^add operation does not apply: doc is missing path: "(\S+?)": missing value': r"add \1: /",
}
"""KubeFleet's text, as a pattern, and a part of what gitfleet says instead; # is the place in a list."""


def expected_text(theirs: str) -> str | None:
    """What gitfleet must say where KubeFleet says `theirs`; None where only something must be said."""
    if any(re.search(pattern, theirs) for pattern in LITERAL):
        return theirs
    found = ((re.search(pattern, theirs), ours) for pattern, ours in OWN.items())
    return next((match.expand(ours) for match, ours in found if match is not None), None)


def text_difference(theirs: str, got: Collection[str]) -> str | None:
    """None when one of the sentences is the expected one."""
    expected = expected_text(theirs) or ""
    if any(text and expected in re.sub(r"\[\d+\]", "[#]", text) for text in got):
        return None
    return f"expected the text {expected or theirs!r}, got {list(got)!r}"
