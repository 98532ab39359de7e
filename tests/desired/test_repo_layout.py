"""What `gitfleet init` lays out reads without a fault, and is what its README says."""

from __future__ import annotations

from pathlib import Path

from gitfleet.model.desired import Desired
from tests.desired.commits import read

LAYOUT = Path(__file__).parents[2] / "repo-layout"


def layout() -> Desired:
    """The laid-out repo as a commit."""
    paths = [path for path in sorted(LAYOUT.rglob("*")) if path.is_file()]
    return read({str(path.relative_to(LAYOUT)): path.read_bytes() for path in paths})


def test_it_has_no_fault() -> None:
    desired = layout()
    assert desired.faults == ()


def test_it_has_what_its_readme_tells() -> None:
    desired = layout()
    assert {str(key): value.effective_policy.placement_type.value for key, value in desired.placements.items()} == {
        "monitoring": "PickAll",
        "web": "PickN",
    }
    assert [name for name, cluster in desired.clusters.items() if cluster.taints] == ["us-lab-1"]
    assert all(cluster.connection and cluster.connection.simulated for cluster in desired.clusters.values())
    assert [str(key) for key in desired.overrides] == ["web/web-in-the-us"]
    assert {manifest.key.namespace or manifest.key.name for manifest in desired.payload} == {"monitoring", "web"}
