"""The programs of the real parts: found on the machine, or else built or downloaded once and cached."""

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

_PROGRAMS = Path(__file__).parent / "programs"
PROGRAMS = {
    "helm": (_PROGRAMS, "helm.sh/helm/v3/cmd/helm"),
    "kustomize": (_PROGRAMS, "sigs.k8s.io/kustomize/kustomize/v5"),
    "sops": (Path(__file__).parent / "sops", "github.com/getsops/sops/v3/cmd/sops"),
}
"""The programs that are built with Go: the module that pins the version, and the package."""
_BUILD_SECONDS = 3600
_DOWNLOAD_SECONDS = 600
_BUILD_ARGUMENTS = ("-mod=readonly", "-trimpath", "-buildvcs=false", "-gcflags=all=-dwarf=false")
"""The same for every program: Go compiles a package that two programs import a second time if an argument differs.
`-ldflags` may differ. The compiler writes no debugging data, since `-s -w` would drop it."""
_COMPILER_MEMORY = {"GOGC": "off", "GOMEMLIMIT": "1GiB"}
"""The compiler frees memory only above the limit, which few packages reach: that saves a tenth of the time."""
_VERSION_PACKAGE = "k8s.io/component-base/version"

_log = logging.getLogger(__name__)


class MissingRealPart(Exception):
    """A real part is not on this machine; the message says what to do about it."""


def ensure_assets() -> Path:
    """Return a folder that holds ``etcd`` and ``kube-apiserver``.

    ``KUBEBUILDER_ASSETS`` wins when set, and nothing is built then; such a folder may lack
    ``kube-controller-manager``. Otherwise all three are built from ``programs/`` the
    first time (some minutes) and found in the cache after that. Two processes never build
    the same version at once, and a build that was cut short leaves nothing behind.

    Raises ``MissingRealPart`` when the given folder is incomplete, when there is no Go, or
    when the build fails.
    """
    given = os.environ.get("KUBEBUILDER_ASSETS")
    if given:
        return _checked(Path(given))
    return _built("controlplane", _PROGRAMS, "./controlplane", _stamps(), (ETCD, API_SERVER, CONTROLLER_MANAGER))


def _checked(folder: Path) -> Path:
    missing = [name for name in (ETCD, API_SERVER) if not (folder / name).is_file()]
    if missing:
        raise MissingRealPart(
            f"KUBEBUILDER_ASSETS names {folder}, which has no {' and no '.join(missing)}: "
            "unset it to build the control plane from source, or point it at a folder with both"
        )
    return folder


def ensure_program(name: str) -> Path:
    """Return one of `PROGRAMS` that PATH has, or that is built with Go the first time and found in the cache after
    that. Raises ``MissingRealPart`` as ``ensure_assets`` does."""
    if found := shutil.which(name):
        return Path(found)
    module, package = PROGRAMS[name]
    return _built(name, module, package) / name


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


def _cache_home(part: str) -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    cache = Path(base) if base else Path.home() / ".cache"
    return cache / "gitfleet" / part


def _built(name: str, module: Path, package: str, stamps: str = "", links: Sequence[str] = ()) -> Path:
    """Return the folder with the program that a package of a Go module makes, and with links to it."""
    home = _cache_home(name)
    arguments = [*_BUILD_ARGUMENTS, "-ldflags", f"-s -w {stamps}", package]
    folder = home / _version(module, arguments)
    if folder.is_dir():
        return folder
    with _locked(home):
        if not folder.is_dir():
            _log.warning("building %s into %s: once, and it takes some minutes", name, folder)
            with _unfinished(folder) as unfinished:
                _go_build(name, module, unfinished / name, arguments)
                for link in links:
                    (unfinished / link).symlink_to(name)
    return folder


def _version(module: Path, arguments: Sequence[str]) -> str:
    """Name a build by everything that goes into it."""
    digest = hashlib.sha256()
    for source in (module / "go.mod", module / "go.sum", *sorted(module.rglob("*.go"))):
        digest.update(source.read_bytes())
    digest.update("\0".join(arguments).encode())
    return digest.hexdigest()[:16]


def _stamps() -> str:
    """Return the linker's flags that give the control plane its version."""
    release = re.search(r"k8s\.io/kubernetes (v(\d+)\.(\d+)\.\d+)", (_PROGRAMS / "go.mod").read_text())
    if release is None:
        raise ValueError("programs/go.mod does not require k8s.io/kubernetes")
    fields = zip(("gitVersion", "gitMajor", "gitMinor"), release.groups(), strict=True)
    return " ".join(f"-X {_VERSION_PACKAGE}.{field}={value}" for field, value in fields)


@contextmanager
def _locked(home: Path) -> Iterator[None]:
    home.mkdir(parents=True, exist_ok=True)
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


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


def _go_build(name: str, module: Path, output: Path, arguments: Sequence[str]) -> None:
    go = shutil.which("go")
    if go is None:
        raise MissingRealPart(
            f"the real {name} is built with Go and there is no `go` on the PATH: install Go 1.26 or newer, or for the "
            "control plane set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver"
        )
    try:
        done = subprocess.run(
            [go, "build", "-o", str(output), *arguments],
            cwd=module,
            env={**_COMPILER_MEMORY, **os.environ, "CGO_ENABLED": "0", "GOWORK": "off"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_BUILD_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise MissingRealPart(f"{name} was not built in {_BUILD_SECONDS} s") from error
    if done.returncode != 0:
        tail = "\n".join(done.stdout.splitlines()[-15:])
        raise MissingRealPart(
            f"{name} could not be built; Go 1.26 or newer, a reachable Go module proxy "
            "(or a filled module cache), 3 GB of memory and 3 GB of disk are needed. "
            f"The last lines of `go build`:\n{tail}"
        )


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
