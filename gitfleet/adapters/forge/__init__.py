"""Forges, each behind a factory that loads its client library when it is called (extra `forges`).

No module here has the name of a factory: importing it would put it in the factory's place in this package, where the
entry points look.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gitfleet import extra
from gitfleet.adapters.forge.texts import ForgeText
from gitfleet.errors import MissingPart
from gitfleet.ports.forges import Forge, ForgeAccess, ForgeFactory


def github(access: ForgeAccess) -> Forge:
    """GitHub, or GitHub Enterprise Server where a URL is given."""
    try:
        from gitfleet.adapters.forge.github_client import GitHub
    except ImportError as error:
        raise _missing("PyGithub") from error
    return GitHub(access)


def gitea(access: ForgeAccess) -> Forge:
    """Gitea or Forgejo."""
    try:
        from gitfleet.adapters.forge.github_client import Gitea
    except ImportError as error:
        raise _missing("PyGithub") from error
    return Gitea(access)


def gitlab(access: ForgeAccess) -> Forge:
    """GitLab: gitlab.com, or the server of the URL."""
    try:
        from gitfleet.adapters.forge.gitlab_client import GitLab
    except ImportError as error:
        raise _missing("python-gitlab") from error
    return GitLab(access)


def _missing(package: str) -> MissingPart:
    return MissingPart(
        ForgeText.PACKAGE_NOT_INSTALLED(package=package), hint=ForgeText.INSTALL_IT_WITH(extra=extra("forges"))
    )


BUILT_IN: Final[Mapping[str, ForgeFactory]] = {"gitea": gitea, "github": github, "gitlab": gitlab}
