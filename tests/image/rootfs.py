"""Root file systems from Debian's own packages, and processes in them: mount and PID namespaces, chroot, no engine.

The bases of the Dockerfile cannot be had where no registry of images is reached. Debian's bookworm stands for them: it
is what `python:3.11-slim-bookworm` and `golang:1.26-bookworm` are made of, with Debian's Python 3.11 instead of the
image's own build of it, and this machine's Go instead of the image's.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SUITE = "bookworm"
BASES: Mapping[str, tuple[str, ...]] = {
    "python:3.11-slim-bookworm": ("ca-certificates", "python3", "python3-venv"),
    "golang:1.26-bookworm": ("ca-certificates",),
}
"""What each base has besides Debian's minimal system."""
ENVIRONMENT = {
    "PATH": "/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
}
_HOST_CERTIFICATES = "/run/host-certificates.crt"
_PASSED_ON = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
_FROM_HERE = (*_PASSED_ON, "GOPROXY", "GOSUMDB", "GONOSUMDB", "GOFLAGS", "PIP_INDEX_URL", "PIP_DEFAULT_TIMEOUT")


class Unusable(Exception):
    """This machine lacks what root file systems need; the message says what."""


def require() -> None:
    """Raise Unusable unless root file systems can be made and entered here."""
    if os.geteuid() != 0:
        raise Unusable("making root file systems needs root")
    if missing := [name for name in ("debootstrap", "unshare", "chroot", "setpriv") if not shutil.which(name)]:
        raise Unusable(f"there is no {' and no '.join(missing)}: apt-get install debootstrap util-linux")


def base(name: str, cache: Path) -> Path:
    """The root file system that stands for a base image: made once, then found in `cache`. Not to be written to."""
    if name not in BASES:
        raise Unusable(f"nothing stands for the base {name}: add it to tests/image/rootfs.py")
    wanted = cache / f"base-{name.replace(':', '-')}"
    if not wanted.is_dir():
        making = cache / f"{wanted.name}.unfinished"
        shutil.rmtree(making, ignore_errors=True)
        _debootstrap(making, BASES[name])
        if name.startswith("golang:"):
            shutil.copytree(_go_root(), making / "usr/local/go", symlinks=True)
        making.rename(wanted)
    return wanted


def _debootstrap(folder: Path, packages: Sequence[str]) -> None:
    """Debian's minimal system, from where this machine's apt has it, set up to install from there, too."""
    listed = _run(["apt-get", "indextargets", "--format", "$(SITE) $(RELEASE)", "Created-By: Packages"])
    sites = [line.split()[0] for line in listed.stdout.splitlines() if line.endswith(f" {SUITE}")]
    if not sites:
        raise Unusable(f"apt on this machine is not set up for Debian's {SUITE}")
    _run(["debootstrap", "--variant=minbase", f"--include={','.join(packages)}", SUITE, str(folder), sites[0]])
    for kept in ("sources.list", "sources.list.d", "apt.conf.d"):
        source, target = Path("/etc/apt") / kept, folder / "etc/apt" / kept
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        elif source.is_file():
            shutil.copy2(source, target)
        elif target.is_file():
            target.unlink()
    (folder / "etc/apt/sources.list").touch()
    shutil.rmtree(folder / "var/cache/apt/archives", ignore_errors=True)


def _go_root() -> Path:
    if not shutil.which("go"):
        raise Unusable("the tools of the image are built with Go, and there is none on the PATH")
    return Path(_run(["go", "env", "GOROOT"]).stdout.strip())


def host_settings() -> dict[str, str]:
    """What clients in a build need of this machine to reach package registries, as an engine's build arguments."""
    found = {name: os.environ[name] for name in _FROM_HERE if os.environ.get(name)}
    return {**found, "SSL_CERT_FILE": _HOST_CERTIFICATES, "PIP_CERT": _HOST_CERTIFICATES}


def build_command(root: Path, command: str, environment: Mapping[str, str], folder: str) -> list[str]:
    """The command line that runs a shell command as root in a root file system that may be written to."""
    certificates = root / _HOST_CERTIFICATES.lstrip("/")
    mounts = [
        *_usual_mounts(root),
        f"touch {certificates} {root}/etc/resolv.conf",
        f"mount --bind /etc/ssl/certs/ca-certificates.crt {certificates}",
        f"mount --bind /etc/resolv.conf {root}/etc/resolv.conf",
    ]
    inner = f"cd {shlex.quote(folder)} && {command}"
    return _entered(mounts, ["chroot", str(root), *_only(environment), "/bin/sh", "-c", inner])


def run_command(
    root: Path, command: Sequence[str], *, environment: Mapping[str, str], user: str, folder: str,
    written: Sequence[str], mounted: Mapping[Path, str],
) -> list[str]:  # fmt: skip
    """The command line that runs a program as a pod with a read-only root does: as `user` without capabilities or new
    privileges, as process 1, with an empty file system at each of `written`, and folders `mounted` elsewhere."""
    uid, _, gid = user.partition(":")
    mounts = [
        f"mount --bind {root} {root}",
        *(f"mkdir -p {root}{place} && mount --bind {source} {root}{place}" for source, place in mounted.items()),
        f"mount -o remount,bind,ro {root} {root}",
        *(f"mount -t tmpfs -o uid={uid},gid={gid},mode=0700,nosuid,nodev tmpfs {root}{place}" for place in written),
        *_usual_mounts(root),
    ]
    dropped = [
        "setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups", "--no-new-privs", "--bounding-set=-all",
        "--inh-caps=-all",
    ]  # fmt: skip
    inner = f'cd {shlex.quote(folder)} && exec "$@"'
    return _entered(
        mounts, ["chroot", str(root), *_only(environment), *dropped, "/bin/sh", "-c", inner, "sh", *command]
    )


def _usual_mounts(root: Path) -> list[str]:
    devices = [f"touch {root}/dev/{name} && mount --bind /dev/{name} {root}/dev/{name}" for name in _DEVICES]
    return [f"mount -t proc proc {root}/proc", f"mount -t tmpfs tmpfs {root}/dev", *devices]


_DEVICES = ("null", "zero", "random", "urandom")


def _only(environment: Mapping[str, str]) -> list[str]:
    return ["/usr/bin/env", "-i", *(f"{name}={value}" for name, value in environment.items())]


def _entered(mounts: Sequence[str], command: Sequence[str]) -> list[str]:
    script = " && ".join([*mounts, f"exec {shlex.join(command)}"])
    return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation=private", "/bin/sh", "-c", script]


def _run(command: Sequence[str], **options: Any) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, **options)
    if done.returncode:
        raise Unusable(f"{command[0]} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-2000:]}")
    return done
