"""`make image-check`: the Dockerfile's steps run in root file systems, and what they leave works as a pod would run it:
as user 65532, without capabilities, with a read-only root. Minutes, and packages from Debian, the package index and the
module proxy; so not one of the usual tests (`tests/image/test_dockerfile.py` is)."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from gitfleet import __version__
from gitfleet.cli.init import layout_files
from tests.architecture.sources import ROOT
from tests.cli.conftest import git, make_repo
from tests.image import rootfs
from tests.image.building import Builder, Built
from tests.image.dockerfile import stages_of
from tests.realparts.assets import MissingRealPart
from tests.realparts.fixtures import give_up

pytestmark = pytest.mark.timeout(3600)
USER = 65532
WRITTEN = ("/tmp", "/home/gitfleet/cache")
END_SECONDS = 30
START_SECONDS = 120


@pytest.fixture(scope="session")
def image() -> Built:
    """What the Dockerfile's steps leave."""
    try:
        rootfs.require()
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        return Builder(cache=Path(base) / "gitfleet" / "image").build(stages_of(ROOT / "Dockerfile"))
    except rootfs.Unusable as missing:
        give_up(MissingRealPart(str(missing)))


def pod(
    image: Built,
    command: Sequence[str],
    *,
    mounted: Mapping[Path, str] | None = None,
    environment: Mapping[str, str] | None = None,
) -> subprocess.Popen[str]:
    """A process in the image as a pod starts it."""
    config = image.config
    command_line = rootfs.run_command(
        image.root,
        command,
        environment={**config.environment, **(environment or {})},
        user=config.user,
        folder=config.folder,
        written=WRITTEN,
        mounted=mounted or {},
    )
    return subprocess.Popen(
        command_line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def said(image: Built, script: str) -> str:
    """What a shell in the image says; it has to succeed."""
    process = pod(image, ["/bin/sh", "-euc", script])
    output, _ = process.communicate(timeout=START_SECONDS)
    assert process.returncode == 0, output
    return output


def test_the_command_starts(image: Built) -> None:
    process = pod(image, [*image.config.entrypoint, *image.config.command])
    output, _ = process.communicate(timeout=START_SECONDS)

    assert process.returncode == 0, output
    assert "Usage: gitfleet" in output and "reconcile" in output.lower()
    assert said(image, "gitfleet --version").strip() == f"gitfleet {__version__}"


def test_who_it_is_and_what_it_may_write(image: Built) -> None:
    assert said(image, "id -u; id -g; grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status").split() == [
        str(USER), str(USER), "CapEff:", "0" * 16, "CapBnd:", "0" * 16, "NoNewPrivs:", "1",
    ]  # fmt: skip
    places = ("/x", "/opt/gitfleet/x", "/home/gitfleet/x", "/usr/local/bin/x", "/var/tmp/x")
    tried = "; ".join(f"touch {place} 2>/dev/null && echo {place} || true" for place in places)
    assert said(image, tried) == "", "the root is read-only"
    assert said(image, "; ".join(f"touch {place}/x && echo {place}" for place in WRITTEN)).split() == list(WRITTEN)


def test_no_file_of_the_image_belongs_to_the_user_but_its_home(image: Built) -> None:
    owned = subprocess.run(
        ["find", str(image.root), "-xdev", "-uid", str(USER), "-printf", "/%P\n"],
        capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    assert owned and not [path for path in owned if not f"{path}/".startswith("/home/gitfleet/")]


def test_what_is_inside_and_what_is_not(image: Built) -> None:
    versions = said(image, "git --version; helm version --short; kustomize version; gpg --version; ssh -V 2>&1")
    for wanted in (r"^git version 2\.", r"^v3\.", r"^(v5\.|\(devel\))", r"^gpg \(GnuPG\) 2\.", r"^OpenSSH_"):
        assert re.search(wanted, versions, re.MULTILINE), versions
    unwanted = ("gcc", "cc", "g++", "c++", "clang", "ld", "as", "make", "go", "pip", "pip3", "/opt/gitfleet/bin/pip")
    assert said(image, "; ".join(f"command -v {name} || true" for name in unwanted)) == ""
    modules = "github, gitlab, pyrage, cryptography, kubernetes, cel_expr_python, gitfleet.wiring.hub"
    said(image, f"/opt/gitfleet/bin/python -c 'import {modules}'")


def free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


def answered(url: str) -> int:
    try:
        with urllib.request.urlopen(url, timeout=5) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


KUSTOMIZED = {
    "resources/web/more/kustomization.yaml": "resources: [more.yaml]\nnamePrefix: built-\n",
    "resources/web/more/more.yaml": (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: by-kustomize, namespace: web}\n"
    ),
}


def remote_in(folder: Path) -> Path:
    """A bare config repo, owned by the user, with a folder that kustomize builds."""
    work = make_repo(folder / "work", {**dict(layout_files()), **KUSTOMIZED})
    git(folder, "clone", "--quiet", "--bare", str(work), str(folder / "remote" / "fleet.git"))
    for path in ((folder / "remote"), *(folder / "remote").rglob("*")):
        os.lchown(path, USER, USER)
    return folder / "remote"


def container_of(port: int) -> tuple[list[str], dict[str, str], list[dict[str, Any]]]:
    """Arguments, environment and mounts of the hub's container, for a local repo and a port of this machine."""
    manifest = yaml.safe_load((ROOT / "examples/deploy/hub/deployment.yaml").read_text())
    (container,) = manifest["spec"]["template"]["spec"]["containers"]
    there = {"$(REPO)": "file:///srv/fleet.git", "--listen=:8080": f"--listen=127.0.0.1:{port}"}
    environment = {one["name"]: one["value"] for one in container["env"] if "value" in one}
    return [there.get(word, word) for word in container["args"]], environment, container["volumeMounts"]


def test_the_pod_of_the_manifests_reconciles_and_ends_by_sigterm(image: Built, tmp_path: Path) -> None:
    remote, port = remote_in(tmp_path), free_port()
    words, environment, mounts = container_of(port)
    mounted = {remote: "/srv"}
    for mount in mounts:
        if mount.get("readOnly"):
            (tmp_path / mount["name"]).mkdir()
            mounted[tmp_path / mount["name"]] = mount["mountPath"]
    (tmp_path / "git" / "password").write_text("unused: the repo is a folder")
    assert {mount["mountPath"] for mount in mounts if not mount.get("readOnly")} == set(WRITTEN)
    process = pod(image, [*image.config.entrypoint, *words], mounted=mounted, environment=environment)
    try:
        deadline = time.monotonic() + START_SECONDS
        while answered(f"http://127.0.0.1:{port}/readyz") != 200:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline, "it never was ready"
            time.sleep(0.2)
        assert answered(f"http://127.0.0.1:{port}/healthz") == 200
        (tini,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        assert Path(f"/proc/{tini}/comm").read_text() == "tini\n", "process 1 of its namespace"
        (own, *_) = Path(f"/proc/{tini}/task/{tini}/children").read_text().split()
        assert str(USER) in Path(f"/proc/{own}/status").read_text().partition("Uid:")[2].split()[:4]
        began = time.monotonic()
        os.kill(int(tini), signal.SIGTERM)
        output, _ = process.communicate(timeout=START_SECONDS)
        seconds = time.monotonic() - began
    finally:
        process.kill()
    assert process.returncode == 0, output
    assert seconds < END_SECONDS, output
    assert '"interrupted"' in output and '"level":"error"' not in output.replace(" ", "").lower(), output
    found = git(remote / "fleet.git", "-c", "safe.directory=*", "grep", "-l", "built-by-kustomize", "gitfleet/state")
    assert "snapshots/" in found, "kustomize built it, and the state branch has it"
