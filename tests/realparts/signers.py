"""People with keys of their own: SSH keys by ssh-keygen, GPG keys in a home of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.realparts.assets import MissingRealPart
from tests.realparts.fixtures import give_up


@dataclass(frozen=True)
class Signer:
    """One person's key: `sign` are the options by which git signs with it."""

    path: Path
    sign: tuple[str, ...]
    fingerprint: str = ""

    def public(self, principal: bytes) -> bytes:
        """The public key, as a line for a principal or (GPG) as it is exported."""
        if self.fingerprint:
            command = ["gpg", "--homedir", str(self.path), "--batch", "--armor", "--export", self.fingerprint]
            return subprocess.run(command, capture_output=True, check=True).stdout
        return principal + b" " + self.path.with_suffix(".pub").read_bytes()


def ssh_key(path: Path) -> Signer:
    """A new SSH key without a password."""
    _need("ssh-keygen", "openssh-client")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(path)], check=True)
    options = {"gpg.format": "ssh", "user.signingKey": str(path), "commit.gpgSign": "true"}
    return Signer(path, tuple(word for key, value in options.items() for word in ("-c", f"{key}={value}")))


def gpg_key(home: Path, name: str) -> Signer:
    """A new GPG key without a password, in a home of its own."""
    _need("gpg", "gnupg")
    home.mkdir(mode=0o700)
    gpg = ["gpg", "--homedir", str(home), "--batch", "--quiet", "--with-colons"]
    subprocess.run([*gpg, "--passphrase", "", "--quick-gen-key", name, "ed25519", "sign", "never"], check=True)
    listed = subprocess.run([*gpg, "--list-keys"], capture_output=True, text=True, check=True).stdout
    fingerprint = next(line.split(":")[9] for line in listed.splitlines() if line.startswith("fpr:"))
    _end_agent(home)
    return Signer(home, ("-c", f"user.signingKey={fingerprint}", "-c", "commit.gpgSign=true"), fingerprint)


@contextmanager
def gpg_home(signer: Signer) -> Iterator[None]:
    """Git signs with the keys of this home."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GNUPGHOME", str(signer.path))
        try:
            yield
        finally:
            _end_agent(signer.path)


def _end_agent(home: Path) -> None:
    subprocess.run(["gpgconf", "--homedir", str(home), "--kill", "all"], check=True)


def _need(program: str, package: str) -> None:
    if shutil.which(program) is None:
        give_up(MissingRealPart(f"{program} is not installed; install {package}"))


def path_without(folder: Path, *programs: str) -> str:
    """A PATH on which everything is but some programs."""
    folder.mkdir()
    for part in os.environ["PATH"].split(os.pathsep):
        for found in Path(part).glob("*") if part else ():
            if found.name not in programs and not (folder / found.name).exists():
                (folder / found.name).symlink_to(found)
    return str(folder)
