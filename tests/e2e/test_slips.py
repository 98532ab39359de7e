"""The ten worst slips of a person, on real API servers: nothing is deleted that nobody asked to delete, a sentence
names the cause, what was sound goes out, and taking the slip back restores all (decisions D25, D28-D31)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from tests.e2e.manifests import config_map, deployment, member, namespace_file, placement, text
from tests.e2e.members import Members
from tests.e2e.programs import Program
from tests.e2e.repos import ConfigRepo

pytestmark = pytest.mark.real

CLUSTERS = ("cluster-1", "cluster-2", "cluster-3", "cluster-4")
Files = dict[str, str | None]
PLACED = "placements/web.yaml"
NAMESPACE = "resources/web/namespace.yaml"


@dataclass(frozen=True)
class Slip:
    """What somebody commits instead of the files that there are, and what gitfleet says of it."""

    edit: Callable[[Mapping[str, str]], Files]
    says: str


def replaced(path: str, old: str, new: str) -> Callable[[Mapping[str, str]], Files]:
    """One text of one file becomes another."""

    def edit(files: Mapping[str, str]) -> Files:
        assert old in files[path], files[path]
        return {path: files[path].replace(old, new, 1)}

    return edit


def removed(prefix: str) -> Callable[[Mapping[str, str]], Files]:
    """A file or a folder is gone."""
    return lambda files: {path: None for path in files if path.startswith(prefix)}


SLIPS: Mapping[str, Slip] = {
    "selector: a misspelt kind": Slip(replaced(PLACED, '"Namespace"', '"Namespce"'), "did you mean Namespace?"),
    "selector: a version that there never was": Slip(
        replaced(PLACED, '"version": "v1"', '"version": "v2"'), "did you mean v1?"
    ),
    "selector: the name of nothing": Slip(replaced(PLACED, '"name": "slips-', '"name": "silps-'), "waits for approval"),
    "payload: a misspelt kind": Slip(replaced(NAMESPACE, '"Namespace"', '"Namspace"'), "did you mean Namespace?"),
    "the Namespace manifest removed": Slip(removed(NAMESPACE), "resources/web/"),
    "the whole resources folder removed": Slip(removed("resources/"), "waits for approval"),
    "all clusters removed": Slip(removed("clusters/"), "waits for approval"),
    "selector: a label that no cluster has": Slip(
        replaced(PLACED, '"tier": "prod"', '"tier": "prd"'), "waits for approval"
    ),
    "an ignore rule that hides what is placed": Slip(
        lambda _: {".gitfleetignore": "resources/web/\n"}, "waits for approval"
    ),
    "the placement's file renamed": Slip(
        lambda files: {PLACED: None, f"{PLACED}.bak": files[PLACED]}, "waits for approval"
    ),
}
assert len(SLIPS) == 10


def fleet_files(namespace: str) -> dict[str, str]:
    """Four clusters in production, and one placement on those; a mass deletion is asked about from four clusters on."""
    mass = {"minClusters": 4, "minObjects": 8}
    config = {"apiVersion": "gitfleet.dev/v1alpha1", "kind": "FleetConfig", "metadata": {"name": "fleet"}}
    return {
        "gitfleet.yaml": text({**config, "spec": {"massDelete": mass}}),
        **{f"clusters/{name}.yaml": member(name, tier="prod") for name in CLUSTERS},
        PLACED: placement(namespace, count=None, match={"tier": "prod"}),
        NAMESPACE: namespace_file(namespace),
        "resources/web/settings.yaml": config_map(namespace, greeting="Hello"),
        "resources/web/deployment.yaml": deployment(namespace, "web:1"),
    }


@pytest.mark.soak("real")
def test_ten_slips_delete_nothing(config: ConfigRepo, program: Program, members: Members) -> None:
    namespace = members.namespace("slips")
    files = fleet_files(namespace)
    config.commit(dict(files))
    program.settle()

    def live() -> dict[str, dict[str, Any]]:
        return {m.name: m.objects(namespace) for m in members.all}

    before = live()
    assert all(sorted(found) == ["ConfigMap/settings", "Deployment/web"] for found in before.values()), before
    for name, slip in SLIPS.items():
        edit = slip.edit(files)
        config.commit(edit, name)
        slipped = program.run("--until-settled", "--timeout", "60", expect=None)
        said = slipped.output + slipped.talk
        assert live() == before, name
        assert slip.says in said, (name, said)
        assert "Traceback" not in said, (name, said)
        back: Files = {path: files.get(path) for path in edit}
        config.commit(back, f"{name}, taken back")
        healed = program.settle()
        assert live() == before, name
        assert "error" not in healed.talk.lower(), (name, healed.talk)
        assert "faults.yaml" not in config.paths() or "severity: error" not in config.text("faults.yaml"), name
