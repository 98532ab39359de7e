"""kill -9 at every point of a reconcile is harmless: started again, the program ends where it would have ended
anyway."""

from __future__ import annotations

import json
import re
import signal
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests import builders
from tests.e2e.killable import STEPS
from tests.e2e.manifests import asks_nobody, config_map, deployment, member, namespace_file, override, placement
from tests.e2e.members import Members
from tests.e2e.programs import Program, ended, eventually
from tests.e2e.repos import ConfigRepo, git
from tests.realparts.git_http import GitHttpServer

pytestmark = pytest.mark.real

SIMULATED = {"simulated": True}
RENDERED = "gitfleet/rendered"
_DIGEST = re.compile(r'(gitfleet\.dev/digest: )"?[0-9a-f]{64}"?')
"""Of a request for approval: what it is of has times in it."""
NAMES = ("c1", "c2", "c3")


def first_files() -> dict[str, str | None]:
    return {
        **{f"clusters/{n}.yaml": member(n, connection=SIMULATED, number=n, pool="on") for n in NAMES},
        "placements/web.yaml": placement("web", maxUnavailable=1),
        "placements/gone.yaml": placement("gone", name="gone"),
        "overrides/c2.yaml": override("web", "settings", "/data/k", "two", {"number": "c2"}),
        "resources/namespaces.yaml": namespace_file("web") + "---\n" + namespace_file("gone"),
        "resources/settings.yaml": config_map("web", k="one"),
        "resources/extra.yaml": config_map("web", "extra", k="v"),
        "resources/gone.yaml": config_map("gone"),
        "resources/calm.yaml": namespace_file("calm") + "---\n" + config_map("calm", k="one"),
        "gitfleet.yaml": asks_nobody(rendered={"enabled": True}),
        **builders.repo_files_for(
            builders.placement("calm", strategy={"type": "External"}),
            builders.staged_strategy(
                "slow",
                builders.stage("first", match_labels={"number": "c1"}, approval=True),
                builders.stage("second", match_labels={"number": "c2"}, approval=True),
                builders.stage("third", match_labels={"number": "c3"}),
            ),
            builders.staged_run("go", placement="calm", strategy="slow"),
        ),
    }


def second_files() -> dict[str, str | None]:
    """An update, a prune, something new, a placement that goes, a cluster that is no longer picked, and the approval
    of a stage."""
    return {
        "approvals/go-first.yaml": builders.to_yaml(builders.approval("go", "first")),
        "resources/settings.yaml": config_map("web", k="uno"),
        "resources/extra.yaml": None,
        "resources/new.yaml": config_map("web", "new", k="v"),
        "placements/gone.yaml": None,
        "clusters/c3.yaml": member("c3", connection=SIMULATED, number="c3", pool="off"),
        "placements/web.yaml": placement("web", match={"pool": "on"}, maxUnavailable=1),
    }


@dataclass(frozen=True)
class End:
    """How a story ended: the state branch, the clusters less uids, versions and times, the stages that began and ended,
    and the tree of the rendered branch. An object's generation counts the writes that changed it."""

    state: dict[str, str]
    clusters: dict[str, Any]
    stages: list[str]
    rendered: str


@dataclass(frozen=True)
class Story:
    """One repo with simulated clusters that are kept in files, and one installation of gitfleet."""

    repo: ConfigRepo
    program: Program
    simulated: Path

    @classmethod
    def begin(cls, folder: Path) -> Story:
        repo = ConfigRepo.bare(folder)
        simulated = folder / "simulated"
        return cls(repo, Program(repo=str(repo.hub), home=folder / "home", simulated=simulated), simulated)

    def kill(self, step: str) -> None:
        """Run until death at that step; AssertionError when it is never reached."""
        settings = {
            "repo": self.program.repo,
            "cache_dir": str(self.program.home / "cache"),
            "simulated_dir": str(self.simulated),
        }
        process = self.program.start_script("tests.e2e.killable", json.dumps(settings), step, "1")
        ended(process, expect=-signal.SIGKILL)

    def stages(self) -> list[str]:
        """What the commits say of stages that begin and end: one that goes through twice is there twice."""
        lines = "\n".join(self.repo.messages()).splitlines()
        return sorted(line for line in lines if re.search(r"^run go: stage .* (started|succeeded)$", line))

    def rendered(self) -> str:
        """What the rendered branch holds."""
        return git(self.repo.hub, "rev-parse", f"{RENDERED}^{{tree}}").strip()

    def end(self) -> End:
        """How it ended."""
        second = re.compile(f'"?{self.repo.head("main")}"?')  # its approval has the time of this run
        state = {path: second.sub("S", _DIGEST.sub(r"\1D", text)) for path, text in self.repo.end_state().items()}
        return End(state, self.clusters(), self.stages(), self.rendered())

    def clusters(self) -> dict[str, Any]:
        """What is on the clusters, less uids, versions and times."""
        found = {}
        for path in sorted(self.simulated.glob("*.json")):
            bodies = [item["object"] for item in json.loads(path.read_text())["objects"]]
            found[path.stem] = [
                {
                    "kind": body["kind"],
                    "name": body["metadata"]["name"],
                    "namespace": body["metadata"].get("namespace"),
                    "data": body.get("data"),
                    "generation": body["metadata"].get("generation"),
                }
                for body in bodies
            ]
        return found


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> End:
    """Where the story ends when nobody is killed."""
    story = Story.begin(tmp_path_factory.mktemp("undisturbed"))
    story.repo.commit(first_files())
    story.program.settle()
    story.repo.commit(second_files(), at=datetime.now(UTC))
    story.program.settle()
    assert "faults.yaml" not in story.repo.paths()
    assert "new" in str(story.clusters()["c1"]) and "settings" not in str(story.clusters()["c3"])
    assert len(story.stages()) == len(set(story.stages())) == 7
    return story.end()


@pytest.mark.soak("crashes")
@pytest.mark.parametrize("step", STEPS)
def test_kill_at_a_step_of_the_first_commit_and_at_another_one_of_the_second(
    step: str, tmp_path: Path, undisturbed: End
) -> None:
    story = Story.begin(tmp_path)
    story.repo.commit(first_files())
    story.kill(step)
    story.program.settle()
    story.repo.commit(second_files(), at=datetime.now(UTC))
    story.kill(STEPS[(STEPS.index(step) + len(STEPS) // 2) % len(STEPS)])
    story.program.settle()
    assert story.end() == undisturbed
    parents = story.repo.parents()
    assert parents == [0] + [1] * (len(parents) - 1)


def test_kill_on_real_clusters_keeps_the_budget(
    config: ConfigRepo, program: Program, git_http: GitHttpServer, members: Members, tmp_path: Path
) -> None:
    namespace = members.namespace("killed")
    three = members.all[:3]

    def payload(image: str) -> dict[str, str | None]:
        return {"resources/web.yaml": namespace_file(namespace) + "---\n" + deployment(namespace, image)}

    def images() -> list[str]:
        return sorted(str(m.image(namespace)) for m in three)

    def kill(step: str) -> None:
        settings = {
            "repo": git_http.url("fleet"),
            "cache_dir": str(program.home / "cache"),
            "kubeconfig": str(program.kubeconfig),
        }
        process = program.start_script("tests.e2e.killable", json.dumps(settings), step, "1")
        ended(process, expect=-signal.SIGKILL)

    config.commit(
        {f"clusters/{m.name}.yaml": member(m.name) for m in three}
        | {"gitfleet.yaml": asks_nobody(), "placements/web.yaml": placement(namespace, maxUnavailable=1)}
        | payload("web:1")
    )
    kill("performing: one cluster")
    program.settle()
    assert images() == ["web:1"] * 3

    with members.sampled(lambda m: m.image(namespace)) as seen:
        # A bad image: a process that is killed and started again must know that one cluster is already down.
        config.commit(payload("web:bad"))
        kill("intent published")
        program.run("--until-settled", "--timeout", "3", expect=1)
        assert images() == ["web:1", "web:1", "web:bad"]
        config.commit(payload("web:2"))
        kill("performing: half")
        program.settle()
        assert images() == ["web:2"] * 3
        # Nothing but the git remote is left after this death, not even the cache.
        config.commit(payload("web:2:bad"))
        kill("performed")
        elsewhere = Program(repo=program.repo, home=tmp_path / "elsewhere", kubeconfig=program.kubeconfig)
        elsewhere.run("--until-settled", "--timeout", "3", expect=1)
        assert images() == ["web:2", "web:2", "web:2:bad"]
    assert all(sum(str(image).endswith("bad") for image in sample.values()) <= 1 for sample in seen)
    config.commit({"placements/web.yaml": None} | payload("web:3"))
    elsewhere.settle()
    eventually(lambda: not any(m.has_namespace(namespace) for m in three))
    assert config.parents() == [0] + [1] * (len(config.parents()) - 1)
