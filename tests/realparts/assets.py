"""Where the control plane's binaries come from: given by the user, or built once and kept."""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

ETCD = "etcd"
API_SERVER = "kube-apiserver"
CONTROLLER_MANAGER = "kube-controller-manager"

_SOURCE = Path(__file__).parent / "controlplane"
_SOURCE_FILES = ("go.mod", "go.sum", "main.go")
_BINARY = "controlplane"
_BUILD_SECONDS = 3600
_DOWNLOAD_SECONDS = 600
_PROGRAM_ARGUMENTS = ("-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w")
_VERSION_PACKAGE = "k8s.io/component-base/version"

_log = logging.getLogger(__name__)


class MissingRealPart(Exception):
    """A real part is not on this machine; the message says what to do about it."""


def ensure_assets() -> Path:
    """Return a folder that holds ``etcd`` and ``kube-apiserver``.

    ``KUBEBUILDER_ASSETS`` wins when set, and nothing is built then; such a folder may lack
    ``kube-controller-manager``. Otherwise all three are built from ``controlplane/`` the
    first time (some minutes) and found in the cache after that. Two processes never build
    the same version at once, and a build that was cut short leaves nothing behind.

    Raises ``MissingRealPart`` when the given folder is incomplete, when there is no Go, or
    when the build fails.
    """
    given = os.environ.get("KUBEBUILDER_ASSETS")
    if given:
        return _checked(Path(given))
    home = _cache_home()
    wanted = home / _version(_SOURCE, _SOURCE_FILES, _build_arguments())
    if wanted.is_dir():
        return wanted
    with _locked(home):
        if not wanted.is_dir():
            _build_into(wanted)
    return wanted


def _checked(folder: Path) -> Path:
    missing = [name for name in (ETCD, API_SERVER) if not (folder / name).is_file()]
    if missing:
        raise MissingRealPart(
            f"KUBEBUILDER_ASSETS names {folder}, which has no {' and no '.join(missing)}: "
            "unset it to build the control plane from source, or point it at a folder with both"
        )
    return folder


def ensure_program(name: str) -> Path:
    """Return a program that PATH has, or that is built with Go from `realparts/NAME/go.mod` the first time and found in
    the cache after that. Raises ``MissingRealPart`` as ``ensure_assets`` does."""
    if found := shutil.which(name):
        return Path(found)
    source = Path(__file__).parent / name
    package = re.search(r'import _ "(.+)"', (source / "tools.go").read_text())
    if package is None:
        raise ValueError(f"{name}/tools.go imports no program")
    home = _cache_home(name)
    wanted = home / _version(source, ("go.mod", "go.sum", "tools.go"), _PROGRAM_ARGUMENTS)
    with _locked(home):
        if not wanted.is_dir():
            _log.warning("building %s into %s: once, and it takes some minutes", name, wanted)
            with _unfinished(wanted) as folder:
                _go_build(name, source, package[1], folder / name, _PROGRAM_ARGUMENTS)
    return wanted / name


def ensure_debian_program(name: str) -> Path:
    """Return a program that PATH has, or that is unpacked from Debian's package of that name the first time and found
    in the cache after that: nothing is installed, and nobody need be root. Raises ``MissingRealPart`` where apt is not
    there or cannot reach the packages."""
    if found := shutil.which(name):
        return Path(found)
    home = _cache_home(name)
    wanted = home / "unpacked"
    with _locked(home):
        if not wanted.is_dir():
            _log.warning("unpacking Debian's %s into %s: once", name, wanted)
            with _unfinished(wanted) as folder:
                _unpack_package(name, folder)
    return wanted / "usr" / "bin" / name


def _unpack_package(name: str, folder: Path) -> None:
    """Download with the machine's own lists of packages or, where it has none yet, with lists of our own."""
    needed = [shutil.which(program) for program in ("apt-get", "dpkg-deb")]
    if None in needed:
        raise MissingRealPart(f"there is no {name} on the PATH, and no apt to get it by: install {name}")
    lists, cache = folder / "lists", folder / "cache"
    own = ["-o", f"Dir::State::Lists={lists}", "-o", f"Dir::Cache={cache}"]
    said = _apt(folder, "download", name)
    if said:
        (lists / "partial").mkdir(parents=True)
        (cache / "archives" / "partial").mkdir(parents=True)
        said = _apt(folder, *own, "update") or _apt(folder, *own, "download", name)
    packages = list(folder.glob(f"{name}_*.deb"))
    if said or len(packages) != 1:
        raise MissingRealPart(f"there is no {name} on the PATH, and apt cannot download it: {said}")
    subprocess.run(["dpkg-deb", "-x", str(packages[0]), str(folder)], check=True, stdin=subprocess.DEVNULL)
    for rest in (packages[0], lists, cache):
        shutil.rmtree(rest, ignore_errors=True) if rest.is_dir() else rest.unlink(missing_ok=True)


def _apt(folder: Path, *words: str) -> str:
    """Run apt-get in a folder; the end of what it said if it failed, "" otherwise."""
    try:
        done = subprocess.run(
            ["apt-get", "-o", "APT::Sandbox::User=", *words],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_DOWNLOAD_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"apt-get {words[-1]} took longer than {_DOWNLOAD_SECONDS} s"
    said = " ".join(done.stdout.splitlines()[-3:])
    return "" if done.returncode == 0 else said or f"apt-get {words[-1]} ended with {done.returncode}"


def _cache_home(part: str = "controlplane") -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    cache = Path(base) if base else Path.home() / ".cache"
    return cache / "gitfleet" / part


def _version(source: Path, names: Sequence[str], arguments: Sequence[str]) -> str:
    """Name a build by everything that goes into it."""
    digest = hashlib.sha256()
    for name in names:
        digest.update((source / name).read_bytes())
    digest.update("\0".join(arguments).encode())
    return digest.hexdigest()[:16]


def _build_arguments() -> list[str]:
    go_mod = (_SOURCE / "go.mod").read_text()
    release = re.search(r"k8s\.io/kubernetes v(\d+)\.(\d+)\.\d+", go_mod)
    if release is None:
        raise ValueError("controlplane/go.mod does not require k8s.io/kubernetes")
    version, major, minor = release[0].split()[1], release[1], release[2]
    named = {"gitVersion": version, "gitMajor": major, "gitMinor": minor}
    stamps = " ".join(f"-X {_VERSION_PACKAGE}.{name}={value}" for name, value in named.items())
    return ["-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags", f"-s -w {stamps}"]


@contextmanager
def _locked(home: Path) -> Iterator[None]:
    home.mkdir(parents=True, exist_ok=True)
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build_into(wanted: Path) -> None:
    _log.warning("building the control plane into %s: once, and it takes some minutes", wanted)
    with _unfinished(wanted) as folder:
        _go_build("control plane", _SOURCE, ".", folder / _BINARY, _build_arguments())
        for name in (ETCD, API_SERVER, CONTROLLER_MANAGER):
            (folder / name).symlink_to(_BINARY)


@contextmanager
def _unfinished(wanted: Path) -> Iterator[Path]:
    """A folder that gets its name only when what is built in it is whole."""
    folder = Path(tempfile.mkdtemp(prefix="unfinished-", dir=wanted.parent))
    try:
        yield folder
        folder.chmod(0o755)
        folder.rename(wanted)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _go_build(what: str, source: Path, package: str, output: Path, arguments: Sequence[str]) -> None:
    go = shutil.which("go")
    if go is None:
        raise MissingRealPart(
            f"the real {what} is built with Go and there is no `go` on the PATH: install Go 1.26 or newer, or for the "
            "control plane set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver"
        )
    try:
        done = subprocess.run(
            [go, "build", *arguments, "-o", str(output), package],
            cwd=source,
            env={**os.environ, "CGO_ENABLED": "0", "GOWORK": "off"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_BUILD_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise MissingRealPart(f"the {what} was not built in {_BUILD_SECONDS} s") from error
    if done.returncode != 0:
        tail = "\n".join(done.stdout.splitlines()[-15:])
        raise MissingRealPart(
            f"the {what} could not be built; Go 1.26 or newer, a reachable Go module proxy "
            "(or a filled module cache), 3 GB of memory and 3 GB of disk are needed. "
            f"The last lines of `go build`:\n{tail}"
        )


PROGRAMS = ("helm", "kustomize", "sops")


def main() -> None:
    """Build or find every real part that is named (all without a name); say of each which cannot be had."""
    logging.basicConfig(format="%(message)s")
    named = sys.argv[1:]
    parts: list[tuple[str, Callable[[], Path]]] = [
        ("control plane", ensure_assets),
        *((name, partial(ensure_program, name)) for name in PROGRAMS),
        ("prometheus", partial(ensure_debian_program, "prometheus")),
    ]
    for name, ensure in parts:
        if named and name.replace(" ", "-") not in named:
            continue
        try:
            print(f"{name}: {ensure()}", flush=True)
        except MissingRealPart as missing:
            print(f"{name}: missing, and its tests will be skipped: {missing}", flush=True)


if __name__ == "__main__":
    main()
