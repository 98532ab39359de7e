"""A person's own git identity, commits that git signs in that person's name, and who signed a commit."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from gitfleet.adapters.git.errors import quote_of
from gitfleet.adapters.git.hardening import git_environment
from gitfleet.adapters.git.imports import compose_message
from gitfleet.adapters.git.local import find_local_repository
from gitfleet.adapters.git.runner import GitResult, GitRunner
from gitfleet.adapters.git.texts import GitText
from gitfleet.adapters.programs import Finished, run_program
from gitfleet.errors import BadInput
from gitfleet.formats import git_names as names
from gitfleet.ports.repos import BranchChange, Person, Signature, SignerKeys

_SECONDS = 30.0
_OUTPUT_BYTES = 1 << 16
_GOOD_SSH = re.compile(r'^Good "git" signature for (\S+) with \S+ key (SHA256:\S+)$', re.MULTILINE)
_GOOD_GPG = re.compile(r"^\[GNUPG:\] GOODSIG [0-9A-F]+ (.+)$", re.MULTILINE)
_VALID_GPG = re.compile(r"^\[GNUPG:\] VALIDSIG .*\b([0-9A-F]{40,64})$", re.MULTILINE)
_EMAIL = re.compile(r"<([^<>\s]+)>$")
_SIGNING = ("user.signingkey", "gpg.format")


def person_of(address: str) -> Person:
    """Who runs this process, as git has it: GIT_AUTHOR_NAME and GIT_AUTHOR_EMAIL, the settings of the repository where
    the address is one on this machine, and the user's own. BadInput where they name nobody."""
    git_dir = None
    if "://" not in address and (Path(address).expanduser() / ".git").exists():
        git_dir = str(find_local_repository(Path(address)).git_dir)
    git = GitRunner(Path("/"), git_environment(git_dir, use_git_config=True))
    settings = dict(_setting(line) for line in git.run("config", "--null", "--list").output.split(b"\0") if line)
    name = os.environ.get("GIT_AUTHOR_NAME") or settings.get("user.name", "")
    email = os.environ.get("GIT_AUTHOR_EMAIL") or settings.get("user.email", "")
    try:
        names.check_identity((name, email))
    except BadInput as error:
        raise BadInput(GitText.NOT_KNOW_WHO_COMMITS(), hint=GitText.GIVE_NAME()) from error
    signs = settings.get("commit.gpgsign", "false").lower() in ("true", "yes", "on", "1", "")
    signing = {key: settings[key] for key in _SIGNING if key in settings} if signs else None
    return Person(name=name, email=email, signing=signing)


def commit_signed(git_dir: Path, person: Person, change: BranchChange, tree: str, parents: Sequence[str]) -> str:
    """The id of a commit of this tree, signed by git with the person's key; programs that sign are those of the user's
    own settings. BadInput when git cannot sign."""
    when = f"{int(change.when.timestamp())} +0000"
    environment = git_environment(str(git_dir), use_git_config=True, more=person.signing)
    for role in ("AUTHOR", "COMMITTER"):
        environment |= {f"GIT_{role}_NAME": person.name, f"GIT_{role}_EMAIL": person.email, f"GIT_{role}_DATE": when}
    after = [word for parent in parents for word in ("-p", parent)]
    result = GitRunner(git_dir, environment).run(
        "commit-tree", tree, *after, "--gpg-sign", "-F", "-", stdin=[compose_message(change, tree)]
    )
    if not result.ok:
        message = GitText.NOT_SIGN(reported=quote_of(result.errors))
        raise BadInput(message, hint=GitText.LET_AGENT_HAVE_KEY())
    return names.check_object_id(result.output.decode("ascii", errors="replace").strip())


def signer_of(git_dir: Path, commit: str, keys: SignerKeys, now: datetime) -> Signature:
    """Who of the owners of these keys signed a commit; as HistoryReader.signer.

    git verifies it, with these keys alone: no settings and no keyring of this process's user count, and no other
    program than gpg and ssh-keygen runs. For a key of SSH, git asks whether it was valid at the commit's date, and this
    asks again for `now`. gpg verifies keys at this machine's time.
    """
    with tempfile.TemporaryDirectory(prefix="gitfleet-signers-", ignore_cleanup_errors=True) as home:
        signers, ring = Path(home, "allowed_signers"), Path(home, "gpg.asc")
        signers.write_bytes(keys.ssh or b"")
        ring.write_bytes(keys.gpg or b"")
        settings = {
            "gpg.ssh.allowedSignersFile": str(signers),
            "gpg.ssh.revocationFile": "",
            "gpg.ssh.program": "ssh-keygen",
            "gpg.openpgp.program": "gpg",
            "gpg.program": "gpg",
            "gpg.x509.program": "false",
            "gpg.minTrustLevel": "undefined",
        }
        environment = {**git_environment(str(git_dir), more=settings), "GNUPGHOME": home}
        if keys.gpg is not None:
            read = ("gpg", "--homedir", home, "--batch", "--quiet", "--no-tty", "--no-autostart", "--import", str(ring))
            try:
                _run(read, {"HOME": home}, Path(home))
            except OSError as error:
                return Signature(why=GitText.CANNOT_VERIFIED(why=f"gpg: {error.strerror}"))
        git = GitRunner(git_dir, environment)
        result = git.run("verify-commit", "--raw", commit, seconds=_SECONDS)
        if result.ok and (ssh := _GOOD_SSH.search(result.errors)):
            raw = git.run("cat-file", "commit", commit, seconds=_SECONDS).output
            valid = ssh[1] in _principals(raw, commit, signers, now)
            return Signature(ssh[1], ssh[2]) if valid else Signature(why=GitText.KEY_NOT_VALID_NOW())
    return _verdict(result)


def _principals(raw: bytes, commit: str, signers: Path, now: datetime) -> Sequence[str]:
    """Whom the key that signed a commit belongs to now. None where it has several signatures: which of them git
    verified is not known."""
    header = b"gpgsig" if len(commit) == names.SHA1_DIGITS else b"gpgsig-sha256"
    signatures = re.findall(rb"^" + header + rb" (.*(?:\n .*)*)", raw.partition(b"\n\n")[0], re.MULTILINE)
    if len(signatures) != 1:
        return ()
    signature = signers.with_name("signature")
    signature.write_bytes(signatures[0].replace(b"\n ", b"\n") + b"\n")
    when = f"-Overify-time={now.astimezone():%Y%m%d%H%M%S}"  # local, as git gives it and the file has it
    command = ("ssh-keygen", "-Y", "find-principals", "-s", str(signature), "-f", str(signers), when)
    zone = {"TZ": os.environ["TZ"]} if "TZ" in os.environ else {}
    finished = _run(command, zone, signers.parent)
    return finished.output.decode(errors="replace").splitlines() if finished.code == 0 else ()


def _run(command: Sequence[str], variables: Mapping[str, str], folder: Path) -> Finished:
    environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", **variables}
    return run_program(command, environment=environment, folder=folder, seconds=_SECONDS, largest_output=_OUTPUT_BYTES)


def _verdict(result: GitResult) -> Signature:
    """What `verify-commit --raw` came to, where it is no good signature of SSH."""
    good, valid = _GOOD_GPG.search(result.errors), _VALID_GPG.search(result.errors)
    if result.ok and good and valid:
        email = _EMAIL.search(good[1])
        return Signature(email[1] if email else good[1], valid[1])
    if "cannot run" in result.errors:
        return Signature(why=GitText.CANNOT_VERIFIED(why=quote_of(result.errors).rstrip(".")))
    if not result.errors.strip():
        return Signature(why=GitText.NOT_SIGNED())
    if any(word in result.errors for word in ("EXPKEYSIG", "REVKEYSIG", "EXPSIG", "BADSIG", "incorrect signature")):
        return Signature(why=GitText.NOT_GOOD_SIGNATURE())
    return Signature(why=GitText.KEY_NOT_ALLOWED())


def _setting(line: bytes) -> tuple[str, str]:
    key, _, value = line.decode(errors="replace").partition("\n")
    return key, value
