"""The environment that every git of this adapter runs in: nothing inherited, nothing executed, nothing asked.

All settings go by GIT_CONFIG_COUNT in the environment, so that they win over every configuration file and secrets
stay out of the argument list.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from gitfleet.adapters.git.credentials import git_config, ssh_options
from gitfleet.settings import GitCredentials

_SETTINGS: Mapping[str, str] = {
    # Nothing of a repository runs.
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.alternateRefsCommand": "true",
    "core.attributesFile": os.devnull,
    "core.askPass": "",
    "protocol.ext.allow": "never",
    "submodule.recurse": "false",
    "fetch.recurseSubmodules": "false",
    "push.recurseSubmodules": "no",
    "push.gpgSign": "false",
    # git checks every object before it keeps it.
    "transfer.fsckObjects": "true",
    "fetch.fsckObjects": "true",
    # Old repositories are full of these; they are ugly and harmless.
    "fetch.fsck.zeroPaddedFilemode": "ignore",
    "fetch.fsck.badTimezone": "ignore",
    "fetch.fsck.missingSpaceBeforeDate": "ignore",
    "fetch.fsck.missingSpaceBeforeEmail": "ignore",
    "fetch.fsck.missingNameBeforeEmail": "ignore",
    # `housekeep` tidies the mirror under its lock; git shall not do it in the background.
    "gc.auto": "0",
    "maintenance.auto": "false",
    "core.logAllRefUpdates": "false",
    "core.quotePath": "false",
    # A stalled transfer ends by itself: under 1,000 bytes a second for 30 seconds.
    "http.lowSpeedLimit": "1000",
    "http.lowSpeedTime": "30",
}
_SSH = (
    "ssh -o BatchMode=yes -o ConnectTimeout=15 -o ForwardAgent=no -o PermitLocalCommand=no "
    "-o ClearAllForwardings=yes -o ControlMaster=no "
    # A host that is not known is refused, whatever the user's own settings say, and nothing learns new keys.
    "-o StrictHostKeyChecking=yes -o VerifyHostKeyDNS=no -o UpdateHostKeys=no "
    "-o ServerAliveInterval=15 -o ServerAliveCountMax=3"
)
_OWN_PREFIX = "GIT_PYTHON_"  # GitPython's switches, which git itself does not know


def git_environment(
    git_dir: str | None,
    *,
    protocols: str = "",
    origin: str = "",
    credentials: GitCredentials | None = None,
    use_git_config: bool = False,
    more: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Variables for one git process; `use_git_config` lets the user's own settings and credential helpers count, `more`
    are settings beside the usual ones."""
    settings = {**_SETTINGS, **(more or {})}
    if credentials:
        settings |= git_config(credentials, origin)
    environment = {
        "LC_ALL": "C",
        "LANGUAGE": "C",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "SSH_ASKPASS": "",
        "GIT_ALLOW_PROTOCOL": protocols,
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_DEFAULT_REF_FORMAT": "files",  # the mirror clears stale locks of that format
        "GIT_SSH_VARIANT": "ssh",
        "GIT_SSH_COMMAND": " ".join(filter(None, [_SSH, ssh_options(credentials) if credentials else ""])),
    }
    if git_dir is not None:
        environment["GIT_DIR"] = git_dir
    if not use_git_config:
        settings["credential.helper"] = ""
        environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    environment["GIT_CONFIG_COUNT"] = str(len(settings))
    for number, (key, value) in enumerate(settings.items()):
        environment[f"GIT_CONFIG_KEY_{number}"] = key
        environment[f"GIT_CONFIG_VALUE_{number}"] = value
    return environment


def unsafe_variables(environment: Mapping[str, str]) -> list[str]:
    """Names of GIT_* variables around us that a git of ours must not see (GIT_DIR inside a hook, GIT_TRACE, ...)."""
    return sorted(
        key
        for key in os.environ
        if key.startswith("GIT_") and key not in environment and not key.startswith(_OWN_PREFIX)
    )
