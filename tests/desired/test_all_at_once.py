"""What is wrong between objects shows beside what is wrong with an object itself, and never because of it."""

from __future__ import annotations

import pytest

from gitfleet.api.folders import FOLDER_FILE
from gitfleet.desired.texts import DesiredText
from tests.desired.commits import faults_of

GROUP = "placement.kubernetes-fleet.io/v1beta1"
BROKEN = (
    f"apiVersion: {GROUP}\nkind: ClusterResourcePlacement\nmetadata: {{name: broken}}\nspec: {{resourceSelector: []}}\n"
)
UNREADABLE = "apiVersion: v1\nkind: [\n"
NO_NAMESPACE = "resources/a.yaml:1: ConfigMap/web/a: metadata.namespace: " + DesiredText.NO_NAMESPACE_MANIFEST_REPO(
    name="web", folder_file=FOLDER_FILE, near=""
)
CONFIG = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: web}}\n"
SELECTING = (
    f"apiVersion: {GROUP}\nkind: ClusterResourcePlacement\nmetadata: {{name: p}}\nspec:\n  resourceSelectors:\n"
    "  - {group: %s, version: v1, kind: %s}\n"
)
UNKNOWN = "x.yaml:6: ClusterResourcePlacement/p: spec.resourceSelectors[0].kind: "


def between(files: dict[str, str]) -> list[str]:
    """The errors and warnings that are not about the broken files themselves."""
    return [line for line in faults_of(files) if not line.startswith(("broken", "y.yaml"))]


@pytest.mark.parametrize("broken", [BROKEN, UNREADABLE])
@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"resources/a.yaml": CONFIG}, NO_NAMESPACE),
        (
            {"x.yaml": SELECTING % ("''", "Namespce")},
            UNKNOWN + DesiredText.KIND_YOU_MEAN(kind="Namespace", api_version="v1"),
        ),
    ],
)
def test_errors_between_objects_show_beside_an_object_that_cannot_be_read(
    broken: str, files: dict[str, str], expected: str
) -> None:
    assert between(files) == [expected]
    assert between({**files, "broken.yaml": broken}) == [expected]
    assert len(faults_of({**files, "broken.yaml": broken})) > 1


OF_CORE = "{apiVersion: v1, kind: %s, metadata: {name: %s}}\n"
FIXED = "  policy: {placementType: PickFixed, clusterNames: [paris]}\n"
MEMBER = "{apiVersion: cluster.kubernetes-fleet.io/v1, kind: MemberCluster, metadata: {name: paris}"


@pytest.mark.parametrize(
    ("files", "path", "hiding"),
    [
        ({"resources/a.yaml": CONFIG}, "resources/y.yaml", OF_CORE % ("Namespace", "web, labels: 3")),
        ({"x.yaml": SELECTING % ("''", "Namespace") + FIXED}, "y.yaml", f"{MEMBER}, spec: {{taint: 1}}}}\n"),
    ],
)  # fmt: skip
def test_what_has_an_error_of_its_own_is_not_reported_as_missing(files: dict[str, str], path: str, hiding: str) -> None:
    assert between(files)
    found = faults_of({**files, path: hiding})
    assert found and {line.partition(":")[0] for line in found} == {path}
