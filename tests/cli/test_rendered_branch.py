"""The rendered branch as people get it: real git, locally and over HTTP, with Secrets that SOPS encrypted."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import yaml

from tests import builders
from tests.cli.conftest import Shell, commit, make_repo
from tests.sops_files import AgeKey, encrypted

pytestmark = pytest.mark.usefixtures("hurried")

BRANCH = "gitfleet/rendered"
CONFIG = builders.to_yaml(builders.fleet_config(rendered={"enabled": True}))
CANARY = "c4nary70"


def out_of(repo: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(repo), *words], check=True, capture_output=True, text=True, input="")
    return done.stdout


def file_names(repo: Path) -> list[str]:
    return out_of(repo, "ls-tree", "-r", "--name-only", BRANCH).split()


def test_the_branch_is_what_render_writes_once_all_is_rolled_out(gitfleet: Shell, tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "fleet")
    commit(repo, {"gitfleet.yaml": CONFIG})
    assert gitfleet("run", repo, "--until-settled").code == 0
    assert gitfleet("render", repo, "--out", tmp_path / "out").code == 0
    files = {str(path.relative_to(tmp_path / "out")): path.read_text() for path in (tmp_path / "out").rglob("*.yaml")}
    assert {name: out_of(repo, "show", f"{BRANCH}:{name}") for name in file_names(repo) if name != "README.md"} == files
    head = out_of(repo, "rev-parse", BRANCH)
    assert gitfleet("run", repo, "--until-settled").code == 0
    assert out_of(repo, "rev-parse", BRANCH) == head
    out_of(repo, "fsck", "--strict")


def test_what_sops_encrypted_stands_there_encrypted(gitfleet: Shell, tmp_path: Path) -> None:
    repo, key = make_repo(tmp_path / "fleet"), AgeKey()
    secret = encrypted(builders.secret("web", "db", {"password": CANARY}), to=key)
    commit(repo, {"gitfleet.yaml": CONFIG, "resources/web/secret-db.yaml": secret})
    assert gitfleet("run", repo, "--until-settled", "--sops-age-key-file", key.file(tmp_path)).code == 0
    (name,) = (name for name in file_names(repo) if name.endswith("_db.yaml") and name.startswith("eu-west-1/"))
    text = out_of(repo, "show", f"{BRANCH}:{name}")
    assert yaml.safe_load(text) == yaml.safe_load(secret)
    every = "".join(out_of(repo, "show", f"{BRANCH}:{name}") for name in file_names(repo)) + out_of(repo, "log", BRANCH)
    assert "ENC[AES256_GCM" in every
    assert CANARY not in every


@pytest.mark.real
def test_sops_decrypts_what_stands_there(gitfleet: Shell, tmp_path: Path, sops: Path) -> None:
    """As Flux does: the MAC is of the values in their order."""
    repo, key = make_repo(tmp_path / "fleet"), AgeKey()
    keys = key.file(tmp_path)
    body = builders.secret("web", "db", {"z": CANARY, "a": "other"})
    secret = encrypted(body, to=key, encrypted_regex="^(data|stringData)$")
    commit(repo, {"gitfleet.yaml": CONFIG, "resources/web/secret-db.yaml": secret})
    assert gitfleet("run", repo, "--until-settled", "--sops-age-key-file", keys).code == 0
    (name,) = (name for name in file_names(repo) if name.endswith("_db.yaml") and name.startswith("eu-west-1/"))
    (tmp_path / "db.yaml").write_text(out_of(repo, "show", f"{BRANCH}:{name}"))
    environment = {**os.environ, "SOPS_AGE_KEY_FILE": str(keys)}
    done = subprocess.run(
        [str(sops), "decrypt", str(tmp_path / "db.yaml")], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert yaml.safe_load(done.stdout)["stringData" if "stringData" in done.stdout else "data"]


def test_a_state_in_a_folder_says_that_nothing_is_pushed(gitfleet: Shell, tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "fleet")
    commit(repo, {"gitfleet.yaml": CONFIG})
    assert gitfleet("run", repo, "--until-settled", "--state-dir", tmp_path / "state").code == 0
    said = (tmp_path / "state" / "faults.yaml").read_text()
    assert "with --state-dir only the state branch can be written" in said
    assert BRANCH not in out_of(repo, "branch", "--list")
