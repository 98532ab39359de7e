"""Three real clusters, one of which is reached by its own agent alone: hub and agent as their users run them, over git
by HTTP."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from gitfleet.adapters.git.texts import GitText
from tests.e2e.manifests import asks_nobody, config_map, deployment, member, namespace_file, placement
from tests.e2e.members import Members
from tests.e2e.programs import Program, Running, eventually
from tests.e2e.repos import ConfigRepo, git
from tests.realparts.git_http import GitHttpServer

pytestmark = pytest.mark.real
FAST = asks_nobody(interval="1s")
PULLED = "cluster-3"
DELIVER, REPORT = f"gitfleet/deliver/{PULLED}", f"gitfleet/member/{PULLED}"


def signing_key(folder: Path) -> tuple[Path, str]:
    """An SSH key of the agent: its file, and the line of its public half."""
    key = folder / "agent-key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    return key, key.with_suffix(".pub").read_text().strip()


@contextmanager
def agent_running(program: Program, repo: str, key: Path, *more: str) -> Iterator[Running]:
    """An agent that sees nothing but the remote and its own cluster; killed -9 at the end of the block."""
    talk = program.home / "agent.txt"
    program.home.mkdir(parents=True, exist_ok=True)
    words = [
        sys.executable, "-m", "gitfleet", "agent", repo, "--cluster", PULLED, "--context", PULLED, "--interval", "1",
        "--signing-key", str(key), "--cache-dir", str(program.home / "agent-cache"),
        "--kubeconfig", str(program.kubeconfig), *more,
    ]  # fmt: skip
    with talk.open("a") as sink:
        process = subprocess.Popen(words, env=program._environment(), stdout=sink, stderr=sink, text=True)
    try:
        yield Running(process, talk)
    finally:
        process.kill()
        process.wait()


def test_two_clusters_are_pushed_to_and_one_pulls_over_git_alone(
    git_http: GitHttpServer, config: ConfigRepo, program: Program, members: Members, tmp_path: Path
) -> None:
    namespace, key = members.namespace("pull"), signing_key(tmp_path)
    pushed, pulled = (members.by_name[name] for name in ("cluster-1", "cluster-2")), members.by_name[PULLED]
    every = (*pushed, pulled)
    config.commit(
        {f"clusters/{m.name}.yaml": member(m.name) for m in every if m is not pulled}
        | {f"clusters/{PULLED}.yaml": member(PULLED, connection={"pull": True, "publicKeys": [key[1]]})}
        | {"gitfleet.yaml": FAST, "placements/web.yaml": placement(namespace, maxUnavailable=3)}
        | {"resources/namespace.yaml": namespace_file(namespace)}
        | {"resources/web.yaml": deployment(namespace, "web:1"), "resources/map.yaml": config_map(namespace, k="one")}
    )
    with program.running() as hub:
        with agent_running(program, git_http.url("fleet"), key[0]) as agent:
            eventually(lambda: all(m.is_available(namespace) for m in every), lambda: hub.talk + agent.talk)
            eventually(lambda: _is_available(config), lambda: hub.talk + agent.talk)
            assert git(config.hub, "rev-list", "--count", REPORT).strip() == "1", "one commit, replaced each time"
            # Drift on the cluster that only its agent reaches.
            pulled.delete_config_map(namespace)
            eventually(lambda: pulled.config_map(namespace) == {"k": "one"}, lambda: hub.talk + agent.talk)
        # Killed: meanwhile the others go on, and what the hub says of this cluster is what it knew last.
        config.commit({"resources/web.yaml": deployment(namespace, "web:2")})
        eventually(lambda: all(m.image(namespace) == "web:2" for m in every if m is not pulled), lambda: hub.talk)
        assert pulled.image(namespace) == "web:1"
        eventually(lambda: "image: web:2" in _delivered(config), lambda: hub.talk)
        # A report that somebody else pushes counts for nothing.
        before = git(config.hub, "rev-parse", REPORT).strip()
        forged = git(
            config.hub, "commit-tree", f"{before}^{{tree}}", "-m", "forged",
            GIT_AUTHOR_NAME="x", GIT_AUTHOR_EMAIL="x@y.z", GIT_COMMITTER_NAME="x", GIT_COMMITTER_EMAIL="x@y.z",
        ).strip()  # fmt: skip
        git(config.hub, "update-ref", f"refs/heads/{REPORT}", forged)
        eventually(lambda: GitText.NOT_SIGNED() in _agent_health(config), lambda: hub.talk)
        with agent_running(program, git_http.url("fleet"), key[0]) as agent:
            eventually(lambda: pulled.image(namespace) == "web:2", lambda: hub.talk + agent.talk)
            # The link is cut for a while: the agent lives, and goes on when it is back.
            git_http.fail_next(6, match="git-upload-pack")
            config.commit({"resources/map.yaml": config_map(namespace, k="two")})
            eventually(lambda: all(m.config_map(namespace) == {"k": "two"} for m in every), lambda: agent.talk)
            config.commit({"placements/web.yaml": None})
            eventually(lambda: not any(m.has_namespace(namespace) for m in every), lambda: hub.talk + agent.talk)
            assert agent.terminate() == 0
        assert hub.terminate() == 0
    assert "Traceback" not in hub.talk + agent.talk


def _delivered(config: ConfigRepo) -> str:
    return "".join(config.text(path, DELIVER) for path in config.paths(DELIVER))


def _is_available(config: ConfigRepo) -> bool:
    conditions = config.state("placements/web.yaml")["status"]["conditions"]
    return ("ClusterResourcePlacementAvailable", "True") in [(c["type"], c["status"]) for c in conditions]


def _agent_health(config: ConfigRepo) -> str:
    status = yaml.safe_load(config.text(f"clusters/{PULLED}.yaml"))["status"]
    return str([c["message"] for c in status["agentStatus"][0]["conditions"] if c["type"] == "Healthy"])


@pytest.mark.soak("real")
def test_a_site_without_any_link_is_served_by_bundles(
    config: ConfigRepo, program: Program, members: Members, tmp_path: Path
) -> None:
    namespace, here = members.namespace("site"), members.by_name[PULLED]
    hub, site, disk = config.hub, tmp_path / "site.git", tmp_path / "disk.bundle"
    config.commit(
        {f"clusters/{PULLED}.yaml": member(PULLED, connection={"pull": True, "silentAfter": "720h"})}
        | {"placements/web.yaml": placement(namespace), "resources/namespace.yaml": namespace_file(namespace)}
        | {"resources/map.yaml": config_map(namespace, k="one")}
    )

    def carry(source: Path, target: Path, to: str) -> None:
        program.command("bundle", "export", str(source), str(disk), "--cluster", PULLED, "--to", to)
        end = "hub" if to == "member" else "member"
        program.command("bundle", "import", str(target), str(disk), "--cluster", PULLED, "--from", end)

    words = ("agent", str(site), "--cluster", PULLED, "--context", PULLED, "--once")
    given = ("--kubeconfig", str(program.kubeconfig), "--cache-dir", str(program.home / "site-cache"))
    git(tmp_path, "init", "--quiet", "--bare", "--initial-branch=main", str(site))
    for journey in range(3):
        if journey:
            carry(hub, site, "member")
        program.command(*words, *given)
        carry(site, hub, "hub")
        program.command("run", str(hub), "--once", *program.options())
    assert here.config_map(namespace) == {"k": "one"}
    owned = yaml.safe_load(config.text(f"inventory/{PULLED}/all.yaml"))
    assert "appliedDigest" in str(owned), "what the agent answered is recorded"
