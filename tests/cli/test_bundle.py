"""`gitfleet bundle`: both ways between a hub's remote and a site's repository, and every file that is refused."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from gitfleet.adapters.git.texts import GitText
from gitfleet.agent.texts import AgentText
from gitfleet.cli.texts import CliText
from tests.cli.conftest import GIT, Ended, Shell, git, tiered
from tests.realparts.git_http import GitHttpServer
from tests.texts import part

DELIVER, MEMBER = "gitfleet/deliver/eu-1", "gitfleet/member/eu-1"
TO_MEMBER, TO_HUB = ("--cluster", "eu-1", "--to", "member"), ("--cluster", "eu-1", "--to", "hub")
FROM_HUB, FROM_MEMBER = ("--cluster", "eu-1", "--from", "hub"), ("--cluster", "eu-1", "--from", "member")
REPORT = {"report.yaml": b"answers: x\n", "objects/web.json": b"{}\n", "applied/1.json": b"{}\n"}


def bare(path: Path, object_format: str = "sha1") -> Path:
    """A new empty bare repository."""
    path.mkdir(parents=True, exist_ok=True)
    git(path, "init", "--quiet", "--bare", "--initial-branch=main", "--template=", f"--object-format={object_format}")
    return path


def put(
    repo: Path,
    branch: str,
    files: Mapping[str, bytes],
    *,
    at: int = 1_800_000_000,
    parent: str | None = None,
    mode: str = "100644",
) -> str:
    """Set a branch of a bare repository to a commit of these files, whatever it was."""
    lines = [f"commit refs/heads/{branch}\ncommitter g <g@h> {at} +0000\ndata 1\nx\n".encode()]
    lines += [f"from {parent}\n".encode()] if parent else []
    for path, content in files.items():
        lines.append(f"M {mode} inline {path}\ndata {len(content)}\n".encode() + content + b"\n")
    stream = b"feature done\nreset refs/heads/" + branch.encode() + b"\n\n" + b"".join(lines) + b"done\n"
    environment = {**os.environ, **GIT}
    words = ["git", "fast-import", "--quiet", "--force"]
    subprocess.run(words, cwd=repo, env=environment, input=stream, check=True, capture_output=True)
    return head(repo, branch) or ""


def head(repo: Path, branch: str) -> str | None:
    """Where a branch of a repository is; None where there is none."""
    refs = dict(
        line.split()[::-1] for line in git(repo, "for-each-ref", "--format=%(objectname) %(refname)").splitlines()
    )
    return refs.get(f"refs/heads/{branch}")


@pytest.fixture
def hub(tmp_path: Path) -> Path:
    """The hub's remote with two deliveries to eu-1 and one to eu-2."""
    path = bare(tmp_path / "hub.git")
    put(path, "main", {"secret.yaml": b"of the hub\n"})
    put(path, "gitfleet/deliver/eu-2", {"delivery.yaml": b"two\n"})
    first = put(path, DELIVER, {"delivery.yaml": b"1\n"})
    put(path, DELIVER, {"delivery.yaml": b"2\n", "manifests/web.yaml": b"kind: ConfigMap\n"}, parent=first)
    return path


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Where the site's repository is to be."""
    return tmp_path / "site" / "fleet.git"


def delivered(gitfleet: Shell, hub: Path | str, file: Path) -> Path:
    """The file with what the hub delivers."""
    assert gitfleet("bundle", "export", hub, file, *TO_MEMBER).code == 0
    return file


def refused(ended: Ended, sentence: str) -> None:
    """It ended with a known error, in one sentence that says this."""
    assert (ended.code, ended.out) == (1, ""), ended.err
    assert ended.err.startswith("error: ") and sentence in ended.err.splitlines()[0], ended.err
    assert "Traceback" not in ended.err


def no_file(path: str) -> str:
    return AgentText.HOLDS_NO_REPORT_AGENT_NO(shown="", path=path)


def test_both_ways(gitfleet: Shell, hub: Path, site: Path, tmp_path: Path) -> None:
    file = delivered(gitfleet, hub, tmp_path / "to-eu-1")
    ended = gitfleet("bundle", "import", site, file, *FROM_HUB, "--create")

    made, now = ended.err.splitlines()
    assert (ended.code, ended.out) == (0, "")
    assert made == CliText.MADE_BARE_REPOSITORY(folder=site)
    assert now == f"{DELIVER} of {site} {CliText.IS_NOW_AT()} {(head(hub, DELIVER) or '')[:10]}"
    # One branch, with its history, and nothing else that the hub has.
    refs = git(site, "for-each-ref", "--format=%(objectname) %(refname)").splitlines()
    assert refs == [f"{head(hub, DELIVER)} refs/heads/{DELIVER}"]
    assert git(site, "rev-list", "--count", DELIVER) == "2\n"
    secret = git(hub, "rev-parse", "main:secret.yaml").strip()
    assert secret not in git(site, "cat-file", "--batch-all-objects", "--batch-check")
    assert file.stat().st_mode & 0o777 == 0o600 and site.stat().st_mode & 0o777 == 0o700
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hub.git", "site", "to-eu-1"]

    put(site, MEMBER, REPORT)
    back = tmp_path / "from-eu-1"
    assert gitfleet("bundle", "export", site, back, *TO_HUB).code == 0
    assert gitfleet("bundle", "import", hub, back, *FROM_MEMBER).code == 0
    assert head(hub, MEMBER) == head(site, MEMBER)
    assert sorted(git(hub, "ls-tree", "-r", "--name-only", MEMBER).split()) == sorted(REPORT)
    assert git(site, "fsck", "--strict") == git(hub, "fsck", "--strict") == ""


def test_what_is_there_already_is_no_error(gitfleet: Shell, hub: Path, site: Path, tmp_path: Path) -> None:
    file = delivered(gitfleet, hub, tmp_path / "file")
    first, second = (gitfleet("bundle", "import", site, file, *FROM_HUB, "--create") for _ in range(2))

    assert (first.code, second.code) == (0, 0)
    assert second.err == (f"{DELIVER} of {site} " + CliText.WAS_ALREADY_AT() + f" {(head(hub, DELIVER) or '')[:10]}\n")


def test_later_deliveries_go_on_and_older_ones_are_refused(
    gitfleet: Shell, hub: Path, site: Path, tmp_path: Path
) -> None:
    old = delivered(gitfleet, hub, tmp_path / "old")
    assert gitfleet("bundle", "import", site, old, *FROM_HUB, "--create").code == 0
    newest = put(hub, DELIVER, {"delivery.yaml": b"3\n"}, parent=head(hub, DELIVER))
    new = delivered(gitfleet, hub, tmp_path / "new")
    assert gitfleet("bundle", "import", site, new, *FROM_HUB).code == 0
    assert head(site, DELIVER) == newest

    refused(
        gitfleet("bundle", "import", site, old, *FROM_HUB),
        AgentText.OLDER_WENT_FROM(shown=old, shown_2=site, branch=DELIVER, at=""),
    )
    put(hub, DELIVER, {"delivery.yaml": b"other\n"}, at=1_900_000_000)
    other = delivered(gitfleet, hub, tmp_path / "other")
    refused(gitfleet("bundle", "import", site, other, *FROM_HUB), part(AgentText.NOT_GO_FROM))
    assert head(site, DELIVER) == newest


@pytest.mark.parametrize(("later", "taken"), [(1, True), (0, False), (-1, False)])
def test_only_a_newer_report_is_taken(
    gitfleet: Shell, hub: Path, site: Path, tmp_path: Path, later: int, taken: bool
) -> None:
    there = put(hub, MEMBER, REPORT)
    put(bare(site), MEMBER, {**REPORT, "objects/new.json": b"[]\n"}, at=1_800_000_000 + later)
    file = tmp_path / "file"
    assert gitfleet("bundle", "export", site, file, *TO_HUB).code == 0
    ended = gitfleet("bundle", "import", hub, file, *FROM_MEMBER)

    if taken:
        assert ended.code == 0
        assert head(hub, MEMBER) == head(site, MEMBER)
    else:
        refused(ended, f"{file}{part(AgentText.NOT_NEWER_REPORT)}{hub}")
        assert head(hub, MEMBER) == there


def _flipped(content: bytes) -> bytes:
    return content[:-30] + bytes([content[-30] ^ 1]) + content[-29:]


NO_BUNDLE, DAMAGED = part(GitText.NO_BUNDLE), part(GitText.BUNDLE_DAMAGED)
ANOTHER = part(GitText.BUNDLE_HOLDS_ANOTHER_BRANCH)
TAMPERED: Mapping[str, tuple[Callable[[bytes], bytes], str]] = {
    "empty": (lambda content: b"", NO_BUNDLE),
    "text": (lambda content: b"apiVersion: v1\n", NO_BUNDLE),
    "flipped byte of the pack": (_flipped, DAMAGED),
    "flipped byte of the commit": (lambda content: _one_digit(content), part(GitText.LACKS_ITS_COMMIT)),
    "cut off": (lambda content: content[:-40], DAMAGED),
    "cut off in the head": (lambda content: content[:30], NO_BUNDLE),
    "bytes after the end": (lambda content: content + b"more", GitText.GOES_ON_BEHIND_END()),
    "a second ref": (lambda content: _with_line(content, b"%s refs/heads/main\n"), NO_BUNDLE),
    "no ref": (lambda content: content.split(b"\n")[0] + b"\n\n" + _pack(content), NO_BUNDLE),
    "a prerequisite": (lambda content: _with_line(content, b"-%s x\n"), NO_BUNDLE),
    "a filter": (lambda content: content.replace(b"v2", b"v3").replace(b"\n", b"\n@filter=blob:none\n", 1), NO_BUNDLE),
    "an endless head": (lambda content: content.replace(b"\n", b"\n" + b"x" * 20_000, 1), NO_BUNDLE),
    "a name with a line end": (lambda content: content.replace(b"/eu-1", b"/eu-1\r"), ANOTHER),
    "a name of git's own": (lambda content: content.replace(b"refs/heads/" + DELIVER.encode(), b"HEAD"), ANOTHER),
}


def _with_line(content: bytes, line: bytes) -> bytes:
    first, rest = content.split(b"\n", 1)
    return first + b"\n" + line.replace(b"%s", rest[:40]) + rest


def _pack(content: bytes) -> bytes:
    return content[content.index(b"\n\n") + 2 :]


def _one_digit(content: bytes) -> bytes:
    place = content.index(b"\n") + 1
    return content[:place] + (b"0" if content[place : place + 1] != b"0" else b"1") + content[place + 1 :]


@pytest.mark.parametrize("kind", TAMPERED)
def test_a_file_that_was_changed_is_refused_and_moves_nothing(
    gitfleet: Shell, hub: Path, tmp_path: Path, kind: str
) -> None:
    change, sentence = TAMPERED[kind]
    file, site = delivered(gitfleet, hub, tmp_path / "file"), bare(tmp_path / "site.git")
    file.write_bytes(change(file.read_bytes()))
    kept = tmp_path / "cache"

    refused(gitfleet("bundle", "import", site, file, *FROM_HUB, "--cache-dir", kept), sentence)
    assert git(site, "for-each-ref") == ""
    # What was refused is nowhere, in no mirror either.
    assert git(kept / "mirror" / "mirror.git", "count-objects", "-v").splitlines()[:3:2] == ["count: 0", "in-pack: 0"]
    assert not (kept / "mirror" / "bundle.git").exists()


def test_a_file_of_another_cluster_or_the_other_way_is_refused(gitfleet: Shell, hub: Path, tmp_path: Path) -> None:
    site, deliver, report = bare(tmp_path / "site.git"), tmp_path / "deliver", tmp_path / "report"
    put(hub, MEMBER, REPORT)
    delivered(gitfleet, hub, deliver)
    assert gitfleet("bundle", "export", hub, report, *TO_HUB).code == 0
    of_two = ("--cluster", "eu-2", "--from", "hub")

    for file, contained, side, branch in (
        (deliver, DELIVER, of_two, DELIVER.replace("eu-1", "eu-2")),
        (deliver, DELIVER, FROM_MEMBER, MEMBER),
        (report, MEMBER, FROM_HUB, DELIVER),
    ):
        sentence = GitText.BUNDLE_HOLDS_ANOTHER_BRANCH(shown=file, contained=contained, branch=branch)
        refused(gitfleet("bundle", "import", site, file, *side), sentence)
    assert git(site, "for-each-ref") == ""


@pytest.mark.parametrize(
    ("files", "how", "sentence"),
    [
        ({"report.yaml": b"", "run.sh": b""}, {}, no_file("run.sh")),
        ({"report.yaml": b"", "objects/a/b.json": b""}, {}, no_file("objects/a/b.json")),
        ({"report.yaml": b"/etc/passwd"}, {"mode": "120000"}, no_file("report.yaml")),
        ({"report.yaml": b""}, {"parent": "refs/heads/main^0"}, part(AgentText.HOLDS_NO_REPORT_AGENT)),
    ],
)
def test_what_is_no_report_is_refused(
    gitfleet: Shell, hub: Path, site: Path, tmp_path: Path, files: Mapping[str, bytes], how: Mapping[str, Any],
    sentence: str,
) -> None:  # fmt: skip
    put(bare(site), "main", {"x": b"y"})
    put(site, MEMBER, files, **how)
    file = tmp_path / "file"
    assert gitfleet("bundle", "export", site, file, *TO_HUB).code == 0

    refused(gitfleet("bundle", "import", hub, file, *FROM_MEMBER), sentence)
    assert head(hub, MEMBER) is None


def test_a_link_in_a_delivery_is_a_blob_and_what_fsck_refuses_is_refused(
    gitfleet: Shell, hub: Path, site: Path, tmp_path: Path
) -> None:
    put(hub, DELIVER, {"manifests/a.yaml": b"/etc/passwd"}, mode="120000")
    file = delivered(gitfleet, hub, tmp_path / "link")
    assert gitfleet("bundle", "import", site, file, *FROM_HUB, "--create").code == 0
    assert git(site, "cat-file", "-p", f"{DELIVER}:manifests/a.yaml") == "/etc/passwd"

    blob = git(hub, "rev-parse", f"{DELIVER}:manifests/a.yaml").strip()
    tree = _made(hub, "mktree", f"100644 blob {blob}\tconfig\n")
    tree = _made(hub, "mktree", f"040000 tree {tree}\t.git\n")
    parent = head(hub, DELIVER) or ""
    git(hub, "update-ref", f"refs/heads/{DELIVER}", git(hub, "commit-tree", "-p", parent, "-m", "x", tree).strip())
    evil = tmp_path / "evil"
    git(hub, "bundle", "create", "--quiet", str(evil), DELIVER)
    refused(gitfleet("bundle", "import", site, evil, *FROM_HUB), "hasDotgit")
    assert head(site, DELIVER) == parent


def _made(repo: Path, command: str, text: str) -> str:
    done = subprocess.run(["git", command], cwd=repo, input=text, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_sizes_are_limited_on_both_sides(
    gitfleet: Shell, hub: Path, site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(hub, DELIVER, {"delivery.yaml": os.urandom(3 << 20)})
    file = tmp_path / "file"
    sentence = GitText.BUNDLE_LARGER(branch=DELIVER, shown=hub, limit=2 << 20)
    refused(gitfleet("bundle", "export", hub, file, *TO_MEMBER, "--max-size", "2"), sentence)
    assert not file.exists()
    delivered(gitfleet, hub, file)
    refused(
        gitfleet("bundle", "import", site, file, *FROM_HUB, "--create", "--max-size", "2"),
        (f"{file}" + CliText.LARGER_MIB(shown="", max_size="2")),
    )
    assert not site.exists()
    sparse = tmp_path / "sparse"
    with sparse.open("wb") as opened:
        opened.truncate(100 << 30)
    refused(
        gitfleet("bundle", "import", site, sparse, *FROM_HUB),
        (f"{sparse}" + CliText.LARGER_MIB(shown="", max_size="64")),
    )
    # A small file that unfolds to a large one.
    monkeypatch.setattr("gitfleet.adapters.git.bundles._LARGEST_OBJECT_BYTES", 1 << 20)
    put(hub, DELIVER, {"delivery.yaml": bytes(2 << 20)})
    refused(
        gitfleet("bundle", "import", bare(site), delivered(gitfleet, hub, file), *FROM_HUB), part(GitText.OBJECT_LARGER)
    )


def _entry(kind: int, size: int) -> bytes:
    """The head of a pack's entry: its type and size."""
    first, size = (kind << 4) | (size & 15), size >> 4
    found = bytearray()
    while size:
        found.append(first | 128)
        first, size = size & 127, size >> 7
    return bytes([*found, first])


def _varint(size: int) -> bytes:
    found = bytearray()
    while size > 127:
        found.append(size & 127 | 128)
        size >>= 7
    return bytes([*found, size])


def test_a_small_file_that_unfolds_to_gigabytes_is_refused(gitfleet: Shell, hub: Path, tmp_path: Path) -> None:
    """A blob of 64 KiB, and one that is 65,536 times that one: 4 GiB."""
    site, file, base = bare(tmp_path / "site.git"), tmp_path / "file", bytes(1 << 16)
    delta = _varint(1 << 16) + _varint(1 << 32) + b"\x80" * (1 << 16)
    name = hashlib.sha1(b"blob %d\0" % len(base) + base, usedforsecurity=False).digest()
    entries = _entry(3, len(base)) + zlib.compress(base) + _entry(7, len(delta)) + name + zlib.compress(delta)
    pack = b"PACK" + (2).to_bytes(4, "big") + (2).to_bytes(4, "big") + entries
    pack += hashlib.sha1(pack, usedforsecurity=False).digest()
    file.write_bytes(f"# v2 git bundle\n{head(hub, DELIVER)} refs/heads/{DELIVER}\n\n".encode() + pack)

    assert file.stat().st_size < 2_000
    refused(gitfleet("bundle", "import", site, file, *FROM_HUB), "Out of memory")


def test_a_file_that_cannot_be_read_or_written(gitfleet: Shell, hub: Path, site: Path, tmp_path: Path) -> None:
    nowhere = tmp_path / "absent" / "file"
    refused(
        gitfleet("bundle", "export", hub, nowhere, *TO_MEMBER),
        CliText.CANNOT_WRITTEN(file=nowhere, strerror="No such file"),
    )
    refused(gitfleet("bundle", "export", hub, tmp_path, *TO_MEMBER), CliText.CANNOT_WRITTEN(file=tmp_path, strerror=""))
    refused(
        gitfleet("bundle", "import", hub, nowhere, *FROM_HUB),
        CliText.CANNOT_READ(shown=nowhere, strerror="No such file"),
    )
    refused(gitfleet("bundle", "import", site, nowhere, *FROM_HUB), part(CliText.CANNOT_READ))
    file = delivered(gitfleet, hub, tmp_path / "file")
    refused(gitfleet("bundle", "import", site, file, *FROM_HUB), GitText.NO_REPOSITORY_AT(path=site))
    refused(gitfleet("bundle", "export", hub, file, "--cluster", "eu-3", "--to", "member"), part(AgentText.NO_BRANCH))
    refused(
        gitfleet("bundle", "export", hub, file, "--cluster", "../x", "--to", "hub"), part(AgentText.CANNOT_NAME_CLUSTER)
    )
    assert gitfleet("bundle", "import", "https://example.com/x", file, *FROM_HUB, "--create").code == 64
    assert gitfleet("bundle", "import", hub, file, "--cluster", "eu-1").code == 64


def test_an_export_replaces_the_file_as_a_whole(gitfleet: Shell, hub: Path, tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("before")
    link.symlink_to(file)
    delivered(gitfleet, hub, link)

    assert file.read_text() == "before" and not link.is_symlink()
    assert git(hub, "bundle", "list-heads", str(link)) == f"{head(hub, DELIVER)} refs/heads/{DELIVER}\n"


def test_a_pipe_carries_a_bundle(hub: Path, site: Path) -> None:
    """As over ssh to a machine between: nothing but the bundle is on stdout."""
    tool = f"{sys.executable} -m gitfleet bundle"
    line = f"{tool} export {hub} - {' '.join(TO_MEMBER)} | {tool} import {site} - {' '.join(FROM_HUB)} --create"
    subprocess.run(["bash", "-euo", "pipefail", "-c", line], check=True, capture_output=True)

    assert head(site, DELIVER) == head(hub, DELIVER)


def test_an_interrupted_pipe_moves_nothing(
    gitfleet: Shell, hub: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site, content = bare(tmp_path / "site.git"), delivered(gitfleet, hub, tmp_path / "file").read_bytes()
    for length in (0, 10, 60, len(content) // 2, len(content) - 1):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content[:length])))
        refused(gitfleet("bundle", "import", site, "-", *FROM_HUB), "stdin")
        assert git(site, "for-each-ref") == ""


@pytest.mark.parametrize("at", tiered({at: at for at in ("update-ref", "index-pack", "push")}, "push"))
def test_an_import_that_is_killed_is_imported_again(
    hub: Path, tmp_path: Path, gitfleet: Shell, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    """A git on the PATH that kills who calls it: before it unpacks, or when the branch was pushed."""
    site, file, kept = bare(tmp_path / "site.git"), delivered(gitfleet, hub, tmp_path / "file"), tmp_path / "kept"
    real, shim = shutil.which("git"), tmp_path / "bin" / "git"
    shim.parent.mkdir()
    after = f'{real} "$@";' if at == "push" else ""
    script = f'case " $* " in *" {at} "*) {after} kill -9 "$PPID"; exit 9;; esac; exec {real} "$@"'
    shim.write_text(f"#!/bin/sh\n{script}\n")
    shim.chmod(0o755)
    words = [
        sys.executable,
        "-m",
        "gitfleet",
        "bundle",
        "import",
        str(site),
        str(file),
        *FROM_HUB,
        "--cache-dir",
        str(kept),
    ]
    with monkeypatch.context() as patch:
        patch.setenv("PATH", f"{shim.parent}:{os.environ['PATH']}")
        assert subprocess.run(words, check=False, capture_output=True).returncode == -9

    assert head(site, DELIVER) == (None if at == "index-pack" else head(hub, DELIVER))
    assert gitfleet(*words[3:]).code == 0
    assert head(site, DELIVER) == head(hub, DELIVER)
    assert not (kept / "mirror" / "bundle.git").exists()


def test_sha_256(gitfleet: Shell, site: Path, tmp_path: Path) -> None:
    hub = bare(tmp_path / "hub256.git", "sha256")
    put(hub, DELIVER, {"delivery.yaml": b"1\n"})
    file = delivered(gitfleet, hub, tmp_path / "file")

    assert gitfleet("bundle", "import", site, file, *FROM_HUB, "--create").code == 0
    assert head(site, DELIVER) == head(hub, DELIVER)
    other = bare(tmp_path / "other.git")
    put(other, "main", {"x": b"y"})
    sentence = GitText.BUNDLE_OF_OTHER_IDS(shown=file, theirs="sha256", remote=other, ours="sha1")
    refused(gitfleet("bundle", "import", other, file, *FROM_HUB), sentence)


def test_branches_of_other_names(gitfleet: Shell, hub: Path, site: Path, tmp_path: Path) -> None:
    named = ("--deliveries", "agents/to/", "--members", "agents/from/")
    put(hub, "agents/to/eu-1", {"delivery.yaml": b"1\n"})
    file = tmp_path / "file"
    assert gitfleet("bundle", "export", hub, file, *TO_MEMBER, *named).code == 0
    assert gitfleet("bundle", "import", site, file, *FROM_HUB, "--create", *named).code == 0
    assert head(site, "agents/to/eu-1") == head(hub, "agents/to/eu-1")
    same = ("--deliveries", "x/", "--members", "x/")
    refused(
        gitfleet("bundle", "import", site, file, *FROM_HUB, *same), AgentText.BRANCHES_DELIVERIES_THOSE_MEMBERS_BEGIN()
    )


@pytest.mark.real
def test_over_http(gitfleet: Shell, hub: Path, git_http: GitHttpServer, tmp_path: Path) -> None:
    far = git_http.create("fleet")
    git(hub, "push", "--quiet", "--mirror", str(far))
    url, site, file = git_http.url("fleet"), tmp_path / "site.git", tmp_path / "file"
    delivered(gitfleet, url, file)
    assert gitfleet("bundle", "import", site, file, *FROM_HUB, "--create").code == 0
    put(site, MEMBER, REPORT)
    assert gitfleet("bundle", "export", site, file, *TO_HUB).code == 0
    assert gitfleet("bundle", "import", url, file, *FROM_MEMBER).code == 0
    assert head(far, MEMBER) == head(site, MEMBER)

    git_http.fail_next(9)
    refused(gitfleet("bundle", "import", url, file, *FROM_MEMBER), part(GitText.NOT_WORK))


@pytest.mark.real
@pytest.mark.parametrize("theirs", [b"a newer report\n", None])
def test_who_loses_a_race_judges_again(
    gitfleet: Shell, git_http: GitHttpServer, tmp_path: Path, theirs: bytes | None
) -> None:
    far, site, file = git_http.create("fleet"), bare(tmp_path / "site.git"), tmp_path / "file"
    put(far, MEMBER, REPORT)
    ours = put(site, MEMBER, {"report.yaml": b"ours\n"}, at=1_800_000_010)
    assert gitfleet("bundle", "export", site, file, *TO_HUB).code == 0

    def first(_: Path) -> None:
        git_http.before_receive_pack = None
        put(far, MEMBER, {"report.yaml": theirs or b"ours\n"}, at=1_800_000_020 if theirs else 1_800_000_010)

    git_http.before_receive_pack = first
    ended = gitfleet("bundle", "import", git_http.url("fleet"), file, *FROM_MEMBER)
    if theirs is None:
        assert (ended.code, head(far, MEMBER)) == (0, ours)
        assert CliText.WAS_ALREADY_AT() in ended.err
    else:
        refused(ended, part(AgentText.NOT_NEWER_REPORT))
        assert git(far, "show", f"{MEMBER}:report.yaml") == "a newer report\n"


@pytest.mark.soak("races")
def test_two_imports_at_once(hub: Path, site: Path, tmp_path: Path, gitfleet: Shell) -> None:
    file = delivered(gitfleet, hub, tmp_path / "file")
    words = [sys.executable, "-m", "gitfleet", "bundle", "import", str(site), str(file), *FROM_HUB, "--create"]
    ended: list[int] = []
    threads = [
        threading.Thread(
            target=lambda: ended.append(subprocess.run(words, check=False, capture_output=True).returncode)
        )
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert ended == [0, 0]
    assert head(site, DELIVER) == head(hub, DELIVER)
    assert [path.name for path in site.parent.iterdir()] == [site.name]
