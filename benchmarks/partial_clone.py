"""A first clone with all that the history has, beside one with the files of the newest commit alone (blob:none).

    python -m benchmarks.partial_clone                     # FILESxCOMMITSxFILES-IN-A-COMMIT, three sizes
    python -m benchmarks.partial_clone 5000x3000x40

The remote is a real git server over HTTP on the loopback address, so that the time is that of git and not of a link.
The second clone fetches commits and trees, and then the blobs of the newest commit in one fetch: what gitfleet reads.
The ratios are full to partial: more than 1 is what a partial clone saves.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.realparts.git_http import GitHttpServer

_SIZES = ("2000x50x60", "2000x2000x20", "5000x3000x40")
_ENVIRONMENT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


@dataclass(frozen=True)
class Clone:
    """What one clone cost: seconds, and bytes of packs."""

    seconds: float
    bytes: int


def _git(folder: Path, *words: str, stdin: bytes = b"") -> bytes:
    command = ["git", "-C", str(folder), *words]
    return subprocess.run(
        command, input=stdin, env=os.environ | _ENVIRONMENT, check=True, stdout=subprocess.PIPE
    ).stdout


def _manifest(number: int, chance: random.Random) -> bytes:
    lines = [f"        - {{name: c{n}, image: 'registry/app-{number}:{chance.getrandbits(64):x}'}}" for n in range(6)]
    head = f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: app-{number}}}\nspec:\n  template:\n    spec:\n"
    return (head + "      containers:\n" + "\n".join(lines) + "\n").encode()


def fill(repository: Path, files: int, commits: int, changed: int) -> None:
    """A branch whose first commit has all files and whose others change some of them."""
    chance, parts = random.Random(1), [b"feature done\n"]
    for commit in range(commits):
        parts.append(b"commit refs/heads/main\ncommitter a <a@b> %d +0000\ndata 1\nx\n" % (1_700_000_000 + commit))
        for number in range(files) if commit == 0 else chance.sample(range(files), changed):
            data = _manifest(number, chance)
            path = f"ns-{number % 500}/app-{number}.yaml".encode()
            parts.append(b"M 100644 inline %b\ndata %d\n%b\n" % (path, len(data), data))
    _git(repository, "fast-import", "--quiet", stdin=b"".join([*parts, b"done\n"]))
    _git(repository, "repack", "-adq")


def full(folder: Path, url: str) -> None:
    """Fetch the branch with all that its history has."""
    _git(folder, "fetch", "--quiet", "--no-tags", url, "+refs/heads/main:refs/main")


def partial(folder: Path, url: str) -> None:
    """Fetch commits and trees, then the blobs of the newest commit in one fetch."""
    remote = ["-c", f"remote.hub.url={url}", "-c", "remote.hub.promisor=true"]
    remote += ["-c", "remote.hub.partialclonefilter=blob:none", "-c", "fetch.negotiationAlgorithm=noop"]
    fetch = [*remote, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--filter=blob:none"]
    _git(folder, *fetch, "hub", "+refs/heads/main:refs/main")
    listed = _git(folder, "ls-tree", "-r", "--object-only", "refs/main")
    _git(folder, *fetch, "--stdin", "hub", stdin=listed)


def measured(clone: Callable[[Path, str], None], url: str, rounds: int = 3) -> Clone:
    """The fastest of some clones."""
    found = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            _git(folder, "init", "--quiet", "--bare")
            began = time.monotonic()
            clone(folder, url)
            seconds = time.monotonic() - began
            found.append(Clone(seconds, sum(pack.stat().st_size for pack in folder.glob("objects/pack/*.pack"))))
    return min(found, key=lambda one: one.seconds)


def compared(size: str, rounds: int = 3) -> tuple[Clone, Clone]:
    """A full and a partial clone of a repository of a size."""
    files, commits, changed = map(int, size.split("x"))
    with tempfile.TemporaryDirectory() as name, GitHttpServer(Path(name)) as server:
        fill(server.create("hub"), files, commits, changed)
        return measured(full, server.url("hub"), rounds), measured(partial, server.url("hub"), rounds)


def main() -> None:
    """Print a line for each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", default=_SIZES)
    print(f"{'files x commits x changed':26} {'full':>16} {'partial':>16} {'time':>6} {'bytes':>6}")
    for size in parser.parse_args().sizes:
        whole, part = compared(size)
        shown = [f"{one.seconds:.2f} s {one.bytes / 1e6:.1f} MB" for one in (whole, part)]
        ratios = f"{whole.seconds / part.seconds:6.2f} {whole.bytes / part.bytes:6.2f}"
        print(f"{size:26} {shown[0]:>16} {shown[1]:>16} {ratios}")


if __name__ == "__main__":
    main()
