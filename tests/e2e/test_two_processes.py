"""Two gitfleets on one repo at once: compare-and-swap decides, nothing is lost, the end is the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.manifests import config_map, deployment, member, namespace_file, placement
from tests.e2e.members import Members
from tests.e2e.programs import Program, ended, eventually
from tests.e2e.repos import STATE, ConfigRepo, git

pytestmark = pytest.mark.real


def test_two_processes_and_edits_in_between(
    config: ConfigRepo, program: Program, members: Members, tmp_path: Path
) -> None:
    namespace = members.namespace("two")
    three = members.all[:3]

    def edit(image: str, **maps: str) -> None:
        files: dict[str, str | None] = {f"resources/{k}.yaml": config_map(namespace, k, v=v) for k, v in maps.items()}
        files["resources/web.yaml"] = deployment(namespace, image)
        config.commit(files)

    config.commit(
        {f"clusters/{m.name}.yaml": member(m.name) for m in three}
        | {"placements/web.yaml": placement(namespace, maxUnavailable=1), "resources/n.yaml": namespace_file(namespace)}
    )
    edit("web:1", a="1", b="1")
    other = replace(program, home=tmp_path / "other")
    options = ("--until-settled", "--timeout", "60")
    with members.sampled(lambda m: m.image(namespace)) as seen:
        both = [p.start(*options) for p in (program, other)]
        eventually(lambda: config.head() is not None)
        edit("web:2", a="2", c="1")
        eventually(lambda: any(m.image(namespace) == "web:2" for m in three))
        edit("web:3", b="2")
        for process in both:
            ended(process)
    program.settle()

    want = {"Deployment/web": "web:3", "ConfigMap/a": {"v": "2"}, "ConfigMap/b": {"v": "2"}, "ConfigMap/c": {"v": "1"}}
    assert {m.name: m.objects(namespace) for m in three} == {m.name: want for m in three}
    assert config.condition("web", "ClusterResourcePlacementAvailable")["status"] == "True"

    # Nobody ever went back: each cluster saw the images in the order of the commits.
    for m in three:
        images = [sample[m.name] for sample in seen if sample.get(m.name)]
        assert images == sorted(images), m.name

    # One line of history; a binding's generation never falls, so no commit undid another.
    parents = config.parents()
    assert parents == [0] + [1] * (len(parents) - 1)
    highest: dict[str, int] = {}
    for commit in git(config.hub, "rev-list", "--reverse", STATE).split():
        found = git(config.hub, "show", f"{commit}:bindings/web/all.yaml", check=False)
        for binding in bindings_in(found):
            name, generation = binding["metadata"]["name"], binding["metadata"]["generation"]
            assert generation >= highest.get(name, 0), (commit, name)
            highest[name] = generation
    assert len(highest) == 3


def bindings_in(text: str) -> list[dict[str, dict[str, Any]]]:
    """The bindings in a file of the state branch."""
    found = []
    for document in yaml.safe_load_all(text):
        items = document.get("items", [document]) if isinstance(document, dict) else []
        found += [item for item in items if "metadata" in item]
    return found
