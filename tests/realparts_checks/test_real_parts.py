"""Do the real parts keep what their docstrings promise?"""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from kubernetes.client import ApiException, AppsV1Api, CoreV1Api, VersionApi
from kubernetes.dynamic import DynamicClient
from kubernetes.dynamic.exceptions import ConflictError, ForbiddenError

from tests.realparts import assets, fixtures
from tests.realparts.control_plane import (
    ApiServer,
    ControlPlanes,
    MissingRealPart,
    StartFailed,
    make_pods_ready,
)
from tests.realparts.git_http import GitHttpServer

AUTHOR = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]


def git(*arguments: str | Path, cwd: Path, ok: bool = True) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(
        ["git", *AUTHOR, *map(str, arguments)],
        cwd=cwd,
        env=kept | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not ok or done.returncode == 0, done.stderr
    return done


def commit(clone: Path, name: str, text: str) -> str:
    (clone / name).write_text(text)
    git("add", name, cwd=clone)
    git("commit", "--quiet", "-m", name, cwd=clone)
    return head(clone)


def head(repository: Path, ref: str = "HEAD") -> str:
    return git("rev-parse", ref, cwd=repository).stdout.strip()


def eventually(is_so: Callable[[], bool], *, seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, "not so in time"
        time.sleep(0.05)


@pytest.fixture
def clone(git_http: GitHttpServer, tmp_path: Path) -> Path:
    """A clone of the served repository ``hub``, which has one commit on ``main``."""
    git_http.create("hub")
    path = tmp_path / "clone"
    git("clone", "--quiet", git_http.url("hub"), path, cwd=tmp_path)
    commit(path, "first", "1\n")
    git("push", "--quiet", "origin", "HEAD:main", cwd=path)
    return path


class TestGitOverHttp:
    def test_a_clone_holds_what_was_pushed(
        self, git_http: GitHttpServer, clone: Path, tmp_path: Path
    ) -> None:
        git("clone", "--quiet", git_http.url("hub"), "other", cwd=tmp_path)

        assert (tmp_path / "other" / "first").read_text() == "1\n"
        assert head(git_http.root / "hub.git", "main") == head(clone)

    @pytest.mark.parametrize("version", ["0", "1", "2"])
    def test_every_version_of_the_protocol_is_spoken(
        self, git_http: GitHttpServer, clone: Path, version: str
    ) -> None:
        listed = git(
            "-c", f"protocol.version={version}", "ls-remote", git_http.url("hub"), "main", cwd=clone
        )

        assert listed.stdout.split() == [head(clone), "refs/heads/main"]
        assert (git_http.requests[-1] == "POST /hub.git/git-upload-pack") == (version == "2")

    def test_a_push_by_compare_and_swap_needs_the_right_old_head(
        self, git_http: GitHttpServer, clone: Path
    ) -> None:
        old, new = head(clone), commit(clone, "second", "2\n")
        push = ["push", "--porcelain", "--atomic", "origin", "HEAD:main"]

        stale = git(*push, f"--force-with-lease=main:{new}", cwd=clone, ok=False)
        assert (stale.returncode, "stale info" in stale.stdout) == (1, True)

        git(*push, f"--force-with-lease=main:{old}", cwd=clone)
        assert head(git_http.root / "hub.git", "main") == new

    def test_a_push_that_loses_the_race_changes_nothing(
        self, git_http: GitHttpServer, clone: Path
    ) -> None:
        rival = git("commit-tree", "-m", "rival", "HEAD^{tree}", cwd=clone).stdout.strip()
        git("push", "--quiet", "origin", f"{rival}:refs/heads/rival", cwd=clone)
        old = head(clone)
        commit(clone, "second", "2\n")

        def win_the_race(repository: Path) -> None:
            git("update-ref", "refs/heads/main", rival, old, cwd=repository)

        git_http.before_receive_pack = win_the_race
        lost = git(
            "push", f"--force-with-lease=main:{old}", "origin", "HEAD:main", cwd=clone, ok=False
        )

        assert (lost.returncode, "remote rejected" in lost.stderr) == (1, True)
        assert head(git_http.root / "hub.git", "main") == rival

    def test_a_large_push_in_chunks_arrives_whole(
        self, git_http: GitHttpServer, clone: Path
    ) -> None:
        seen: list[Path] = []
        git_http.before_receive_pack = seen.append
        (clone / "large").write_bytes(os.urandom(3_000_000))
        git("add", "large", cwd=clone)
        git("commit", "--quiet", "-m", "large", cwd=clone)
        git("-c", "http.postBuffer=65536", "push", "--quiet", "origin", "HEAD:main", cwd=clone)

        assert head(git_http.root / "hub.git", "main") == head(clone)
        assert seen == [git_http.root / "hub.git"]
        git("fsck", "--strict", cwd=git_http.root / "hub.git")

    def test_a_compressed_request_is_understood(self, git_http: GitHttpServer, clone: Path) -> None:
        want = f"want {head(clone)}\n"
        lines = [f"{len(want) + 4:04x}{want}", "0000", "0009done\n"]
        request = urllib.request.Request(
            f"{git_http.url('hub')}/git-upload-pack",
            data=gzip.compress("".join(lines).encode()),
            headers={
                "Content-Type": "application/x-git-upload-pack-request",
                "Content-Encoding": "gzip",
            },
        )
        with urllib.request.urlopen(request) as response:
            assert response.read().startswith(b"0008NAK\nPACK")

    def test_a_partial_clone_leaves_the_blobs(
        self, git_http: GitHttpServer, clone: Path, tmp_path: Path
    ) -> None:
        arguments = ["clone", "--quiet", "--bare", "--filter=blob:none", git_http.url("hub")]
        git(*arguments, "partial", cwd=tmp_path)

        missing = git(
            "rev-list", "--objects", "--all", "--missing=print", cwd=tmp_path / "partial"
        ).stdout.splitlines()
        assert f"?{head(clone, 'HEAD:first')}" in missing

    def test_faults_come_as_often_as_asked(self, git_http: GitHttpServer, clone: Path) -> None:
        git_http.fail_next(2, match="git-upload-pack")
        answers = [git("fetch", cwd=clone, ok=False) for _ in range(3)]

        assert [answer.returncode == 0 for answer in answers] == [False, False, True]
        assert "503" in answers[0].stderr

    def test_a_lost_answer_is_a_push_that_took_effect(
        self, git_http: GitHttpServer, clone: Path
    ) -> None:
        new = commit(clone, "second", "2\n")
        git_http.lose_answers(1)
        pushed = git("push", "origin", "HEAD:main", cwd=clone, ok=False)

        assert pushed.returncode != 0
        assert head(git_http.root / "hub.git", "main") == new

    def test_latency_delays_each_request(self, git_http: GitHttpServer, clone: Path) -> None:
        git_http.latency = 0.2
        began = time.monotonic()
        git("-c", "protocol.version=0", "ls-remote", git_http.url("hub"), cwd=clone)

        assert time.monotonic() - began >= 0.2

    def test_credentials_are_needed_where_set(self, tmp_path: Path) -> None:
        with GitHttpServer(tmp_path / "served", user="robot", password="s3cret") as server:
            server.create("hub")
            refused = git("ls-remote", server.url("hub"), cwd=tmp_path, ok=False)
            wrong = server.url("hub", with_credentials=True).replace("s3cret", "guess")
            guessed = git("ls-remote", wrong, cwd=tmp_path, ok=False)
            git("ls-remote", server.url("hub", with_credentials=True), cwd=tmp_path)

        assert (refused.returncode, guessed.returncode) == (128, 128)
        assert "Authentication failed" in guessed.stderr

    def test_what_lies_outside_the_root_is_not_served(
        self, git_http: GitHttpServer, clone: Path
    ) -> None:
        outside = git_http.url("hub").replace("hub.git", f"%2e%2e/{clone.name}/.git")
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(f"{outside}/info/refs?service=git-upload-pack")


def config_map(namespace: str, **data: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": namespace},
        "data": data,
    }


def apply(server: ApiServer, manifest: dict[str, Any], manager: str, user: str = "admin") -> Any:
    with server.client(user=user) as client:
        cache = server.folder / "discovery.json"
        make: Callable[..., Any] = DynamicClient
        dynamic = make(client, cache_file=str(cache))
        kind = dynamic.resources.get(api_version=manifest["apiVersion"], kind=manifest["kind"])
        return dynamic.server_side_apply(
            kind, body=manifest, namespace=manifest["metadata"]["namespace"], field_manager=manager
        )


def deployment(namespace: str, name: str, image: str) -> dict[str, Any]:
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "main", "image": image}]},
            },
        },
    }


class TestControlPlanes:
    def test_an_apply_by_another_manager_conflicts(
        self, two_clusters: tuple[ApiServer, ApiServer]
    ) -> None:
        east, _ = two_clusters
        namespace = east.make_namespace()
        apply(east, config_map(namespace, colour="red"), "one")

        with pytest.raises(ConflictError) as conflict:
            apply(east, config_map(namespace, colour="blue"), "two")
        assert conflict.value.status == 409
        assert ".data.colour" in str(conflict.value.body)

    def test_clusters_share_nothing(self, two_clusters: tuple[ApiServer, ApiServer]) -> None:
        east, west = two_clusters
        namespace = east.make_namespace()

        with west.client() as client, pytest.raises(ApiException) as absent:
            CoreV1Api(client).read_namespace(namespace)
        assert absent.value.status == 404
        assert (east.url, east.token, east.ca_pem) != (west.url, west.token, west.ca_pem)

    def test_the_version_is_that_of_a_release(
        self, two_clusters: tuple[ApiServer, ApiServer]
    ) -> None:
        with two_clusters[0].client() as client:
            version = VersionApi(client).get_code()

        assert (version.major, version.git_version.startswith("v1.")) == ("1", True)

    @pytest.mark.parametrize("end", [ApiServer.stop, ApiServer.kill])
    def test_a_restart_keeps_data_address_and_token(
        self, control_planes: ControlPlanes, end: Callable[[ApiServer], None]
    ) -> None:
        server = control_planes.start("restarted")
        namespace = server.make_namespace()
        apply(server, config_map(namespace, colour="red"), "one")
        before = server.kubeconfig

        end(server)
        assert not server.running
        with server.client() as client, pytest.raises(Exception, match="refused"):
            VersionApi(client).get_code(_request_timeout=1)
        server.restart()

        assert server.kubeconfig == before
        with server.client() as client:
            kept = CoreV1Api(client).read_namespaced_config_map("settings", namespace)
        assert kept.data == {"colour": "red"}

    def test_a_frozen_server_hangs_until_it_is_thawed(self, control_planes: ControlPlanes) -> None:
        server = control_planes.start("restarted")
        server.freeze()
        with server.client() as client, pytest.raises(Exception, match="timed out"):
            VersionApi(client).get_code(_request_timeout=0.5)
        server.thaw()

        server.await_ready()

    def test_a_user_without_rights_is_refused_under_rbac(
        self, control_planes: ControlPlanes
    ) -> None:
        server = control_planes.start("guarded", authorization="RBAC", users=["nobody"])
        namespace = server.make_namespace()
        apply(server, config_map(namespace, colour="red"), "one")

        with pytest.raises(ForbiddenError):
            apply(server, config_map(namespace, colour="red"), "one", user="nobody")

    def test_a_deployment_becomes_available_and_a_bad_image_never_does(
        self, two_clusters: tuple[ApiServer, ApiServer]
    ) -> None:
        _, west = two_clusters
        west.start_controller_manager()
        namespace = west.make_namespace()
        apply(west, deployment(namespace, "good", "registry.example/app:v1"), "one")
        apply(west, deployment(namespace, "bad", "registry.example/app:broken"), "one")

        with west.client() as client:
            apps = AppsV1Api(client)

            def status(name: str) -> Any:
                return apps.read_namespaced_deployment(name, namespace).status

            with make_pods_ready(west, namespace, bad_image="*:broken") as readier:
                eventually(lambda: status("good").available_replicas == 2)
                eventually(lambda: status("bad").replicas == 2)
                time.sleep(0.5)
                assert not status("bad").available_replicas

                readier.bad_image = None
                eventually(lambda: status("bad").available_replicas == 2)

    def test_a_deleted_namespace_goes_away(self, two_clusters: tuple[ApiServer, ApiServer]) -> None:
        _, west = two_clusters
        west.start_controller_manager()
        namespace = west.make_namespace()
        apply(west, config_map(namespace, colour="red"), "one")

        with west.client() as client:
            core = CoreV1Api(client)
            core.delete_namespace(namespace)
            mine = f"metadata.name={namespace}"
            eventually(lambda: not core.list_namespace(field_selector=mine).items, seconds=60)

    def test_a_server_that_cannot_start_says_why(self, control_planes: ControlPlanes) -> None:
        with pytest.raises(StartFailed, match="no-such-flag"):
            control_planes.start("wrong", flags=["--no-such-flag"])

    def test_a_killed_program_leaves_no_server(self, tmp_path: Path) -> None:
        program = (
            "import sys, time\n"
            "from tests.realparts.processes import ServerProcess\n"
            "from pathlib import Path\n"
            "server = ServerProcess('sleep', ['sleep', '600'], log=Path(sys.argv[1]))\n"
            "server.start()\n"
            "print(server.pid, flush=True)\n"
            "time.sleep(600)\n"
        )
        with subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path / "log")],
            cwd=Path(__file__).parents[2],
            stdout=subprocess.PIPE,
            text=True,
        ) as running:
            assert running.stdout is not None
            pid = int(running.stdout.readline())
            assert is_alive(pid)
            running.kill()

        if sys.platform == "linux":
            eventually(lambda: not is_alive(pid))
        else:
            os.kill(pid, signal.SIGKILL)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except FileNotFoundError:
        return False


class TestMissingParts:
    def test_an_incomplete_folder_of_assets_is_refused(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        (tmp_path / "etcd").touch()
        monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))

        with pytest.raises(MissingRealPart, match="no kube-apiserver"):
            assets.ensure_assets()

    def test_without_go_the_message_says_what_to_install(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        monkeypatch.setenv("PATH", str(tmp_path))

        with pytest.raises(MissingRealPart, match="install Go"):
            assets.ensure_assets()

    def test_two_that_need_a_build_at_once_make_one(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        go = tmp_path / "go"
        go.write_text(
            f"#!{sys.executable}\n"
            "import pathlib, sys, time\n"
            "time.sleep(0.3)\n"
            "pathlib.Path(sys.argv[sys.argv.index('-o') + 1]).write_text('binary')\n"
            f"open({str(tmp_path / 'builds')!r}, 'a').write('built ')\n"
        )
        go.chmod(0o755)
        monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        monkeypatch.setenv("PATH", str(tmp_path))

        with ThreadPoolExecutor() as pool:
            first, second = pool.map(lambda _: assets.ensure_assets(), range(2))

        assert (tmp_path / "builds").read_text() == "built "
        assert first == second
        assert (first / "kube-apiserver").read_text() == "binary"
        assert {path.name for path in first.parent.iterdir()} == {"lock", first.name}

    def test_a_failed_build_says_why_and_leaves_nothing(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        go = tmp_path / "go"
        go.write_text(f"#!{sys.executable}\nraise SystemExit('no such module')\n")
        go.chmod(0o755)
        monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        monkeypatch.setenv("PATH", str(tmp_path))

        with pytest.raises(MissingRealPart, match="no such module"):
            assets.ensure_assets()
        assert [path.name for path in (tmp_path / "cache").glob("*/*/*")] == ["lock"]

    @pytest.mark.parametrize(
        ("required", "outcome"), [("1", pytest.fail.Exception), ("", pytest.skip.Exception)]
    )
    def test_a_missing_part_fails_only_where_it_is_required(
        self, monkeypatch: pytest.MonkeyPatch, required: str, outcome: type[BaseException]
    ) -> None:
        monkeypatch.setenv(fixtures.REQUIRE, required)

        with pytest.raises(outcome, match="do this"):
            fixtures.give_up(MissingRealPart("do this"))
