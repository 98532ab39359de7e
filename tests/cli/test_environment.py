"""Where a process has no home, no known user, or no folder that it may write: it works, or says what to set."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gitfleet.cli.texts import CliText
from tests.cli.conftest import Shell, tiered

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


COMMANDS = [("validate",), ("plan", "--clusters", "none"), ("run", "--once"), ("get", "crp", "-C")]


@needs_strangers
@pytest.mark.parametrize("command", tiered({" ".join(command): command for command in COMMANDS}, "run --once"))
def test_an_unknown_user_without_home_works_in_a_temporary_folder(
    command: tuple[str, ...], moving: Path, tmp_path: Path
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    code, said = as_stranger(*command, moving, TMPDIR=str(temporary))
    assert code == 0, said
    assert said.startswith(CliText.WARNING_TEMPORARY_CACHE()), said
    assert not list(temporary.iterdir()), "nothing is left"


@needs_strangers
@pytest.mark.soak("real")
def test_a_cache_folder_that_was_named_is_the_one_that_is_used(fleet: Path, tmp_path: Path) -> None:
    code, said = as_stranger("validate", fleet, "--cache-dir", tmp_path / "cache")
    assert (code, "temporary" in said) == (0, False), said
    sealed = tmp_path / "sealed"
    sealed.mkdir(mode=0o555)
    code, said = as_stranger("validate", fleet, "--cache-dir", sealed / "cache")
    assert code == 1
    assert said.startswith("error: ") and "Permission denied" in said.splitlines()[0]


_READ_ONLY = """
for writable in $WRITABLE; do mount --bind "$writable" "$writable" || exit 97; done
for place in $(cut -d ' ' -f 5 /proc/self/mountinfo); do
    case " $WRITABLE " in *" $place "*) continue ;; esac
    mount -o remount,bind,ro "$place" 2>/dev/null
done
if touch /tmp/gitfleet-read-only-test 2>/dev/null; then exit 98; fi
cd / && exec "$@"
"""


def in_a_pod(*words: str | Path, writable: tuple[Path, ...], **variables: str) -> tuple[int, str]:
    """A command where every file system is read-only but for some folders: its exit code and stderr."""
    shell = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", _READ_ONLY, "sh"]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path), **variables}
    done = subprocess.run(
        [*shell, sys.executable, "-m", "gitfleet", *map(str, words)],
        env={**environment, "WRITABLE": " ".join(map(str, writable)), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    if done.returncode in (97, 98):
        pytest.skip("file systems cannot be made read-only here")
    return done.returncode, done.stderr


@needs_strangers
@pytest.mark.parametrize("command", tiered({" ".join(command): command for command in COMMANDS}, "run --once"))
def test_a_read_only_root_without_a_volume_is_asked_for_one(
    command: tuple[str, ...], moving: Path, tmp_path: Path
) -> None:
    code, said = in_a_pod(*command, moving, writable=(moving,))
    assert code == 1
    assert said == f"error: {CliText.NO_FOLDER_FOR_CACHE()}\nhint: {CliText.MOUNT_FOLDER_WRITTEN_POD_EMPTYDIR()}\n"
    volume = tmp_path / "volume"
    volume.mkdir()
    for way in ({"TMPDIR": str(volume)}, {"GITFLEET_CACHE_DIR": str(volume / "cache")}):
        code, said = in_a_pod(*command, moving, writable=(moving, volume), **way)
        assert code == 0, said


@needs_strangers
def test_schemas_need_no_folder(fleet: Path) -> None:
    code, said = in_a_pod("schema", "crp", writable=(fleet,))
    assert (code, said) == (0, "")


def test_a_report_that_cannot_be_saved_is_no_second_error(
    gitfleet: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    monkeypatch.setattr("gitfleet.api.kinds.KINDS", {"broken": None})
    ended = gitfleet("schema", "pod")
    assert ended.code == 3
    assert CliText.NO_REPORT_COULD_SAVED(strerror="No such file or directory") in ended.err


def test_two_fleets_with_one_cache_have_clusters_of_their_own(
    gitfleet: Shell, fleet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first has objects on its simulated clusters; what is there of the second is what it put there itself."""
    other, cache = tmp_path / "other", tmp_path / "one-cache"
    shutil.copytree(fleet, other)
    monkeypatch.setenv("GITFLEET_CACHE_DIR", str(cache))
    for repo, known in ((fleet, 0), (other, 1), (fleet, 2)):
        assert len(list(cache.glob("simulated/*"))) == known
        assert gitfleet("run", "--once", repo).code == 0
