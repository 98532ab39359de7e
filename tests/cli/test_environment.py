"""Where a process has no home, no known user, or no folder that it may write: it works, or says what to set."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Shell

_STRANGER = ("unshare", "--user", "--map-user=12345", "--map-group=12345")
"""Runs a program as a user whom no file knows, without root's right to write everywhere."""


def _has_strangers() -> bool:
    if shutil.which(_STRANGER[0]) is None:
        return False
    return subprocess.run([*_STRANGER, "true"], capture_output=True, check=False).returncode == 0


needs_strangers = pytest.mark.skipif(not _has_strangers(), reason="the kernel makes no user namespace here")


def as_stranger(*words: str | Path, **variables: str) -> tuple[int, str]:
    """A command of such a user with these variables alone: its exit code and stderr."""
    command = [*_STRANGER, sys.executable, "-m", "gitfleet", *map(str, words)]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path), **variables}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stderr


@needs_strangers
def test_an_unknown_user_without_home_is_asked_for_a_cache_folder(fleet: Path, tmp_path: Path) -> None:
    said = "error: there is no home folder to keep the cache in\n"
    hint = "hint: name a folder that can be written with --cache-dir, or set HOME\n"
    assert as_stranger("validate", fleet) == (1, said + hint)
    code, said = as_stranger("validate", fleet, "--cache-dir", tmp_path / "cache")
    assert (code, "has no errors" in said) == (0, True), said
    code, said = as_stranger("validate", fleet, HOME=str(tmp_path))
    assert (code, "has no errors" in said) == (0, True), said


@needs_strangers
@pytest.mark.parametrize("command", [("validate",), ("plan", "--clusters", "none"), ("run", "--once")])
def test_a_cache_folder_that_cannot_be_written_is_named(command: tuple[str, ...], fleet: Path, tmp_path: Path) -> None:
    sealed = tmp_path / "sealed"
    sealed.mkdir(mode=0o555)
    code, said = as_stranger(*command, fleet, HOME=str(sealed), TMPDIR=str(sealed))
    assert code == 1
    assert said.startswith(f"error: the cache folder {sealed}/.cache/gitfleet/repos/")
    assert said.endswith(
        "cannot be made: Permission denied\nhint: name a folder that can be written with --cache-dir\n"
    )


def test_a_report_that_cannot_be_saved_is_no_second_error(
    gitfleet: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    monkeypatch.setattr("gitfleet.api.kinds.KINDS", {"broken": None})
    ended = gitfleet("schema", "pod")
    assert ended.code == 3
    assert "no report could be saved (No such file or directory): set TMPDIR" in ended.err
