"""Arguments and options that several commands share; those that belong together reach a command as one value."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

import click

from gitfleet.cli.git_environment import git_credentials, git_seconds
from gitfleet.cli.messages import say
from gitfleet.cli.texts import CliText
from gitfleet.errors import MissingPart
from gitfleet.settings import ConnectionRules, ForgeSettings, HttpSettings, Settings, WhatIfOptions

F = TypeVar("F", bound=Callable[..., Any])
K = TypeVar("K")
V = TypeVar("V")


class Decorator(Protocol):
    """What puts an option on a command."""

    def __call__(self, command: F, /) -> F:
        """The command with the option."""


def _not_ours(_: click.Context, __: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    """Variable names that may be handed on: never gitfleet's own, which hold the credentials of the git remote."""
    ours = [name for name in names if name.upper().startswith("GITFLEET_")]
    if ours:
        raise click.BadParameter(CliText.GITFLEET_OWN_GIVEN_NO_OTHER(ours=ours[0]))
    return names


PATH = click.Path(path_type=Path)


def path(*names: str, metavar: str, text: str, **more: Any) -> Decorator:
    """An option that names a file or a folder."""
    return click.option(*names, type=PATH, metavar=metavar, help=text, **more)


def repeatable(*names: str, metavar: str, text: str, otherwise: str = "", **more: Any) -> Decorator:
    """An option that may be given several times; `otherwise` says what counts where it is not given."""
    ending = f"repeatable; default: {otherwise}" if otherwise else "repeatable"
    return click.option(*names, multiple=True, metavar=metavar, help=f"{text} ({ending}).", **more)


repo = click.argument("repo", metavar="[REPO]", default=".")
in_repo = click.option(
    "-C", "--repo", metavar="REPO", default=".", help="Path or URL of the config repo (default: this folder)."
)
rev = click.option("--rev", metavar="REV", help="Commit, branch or tag to read instead of the watched branch.")
at = click.option("--at", metavar="COMMIT", help="A commit of the state branch to read instead of its head.")
branch = click.option("--branch", metavar="NAME", help="Branch to watch instead of the FleetConfig's (main).")
kubeconfig = path("--kubeconfig", metavar="FILE", text="Where connection.context is looked up.", envvar="KUBECONFIG")
kubeconfig_dir = path("--kubeconfig-dir", metavar="DIR", text="Where connection.kubeconfig.file is looked up.")
allow_exec = repeatable("--allow-exec", metavar="PROGRAM", text="A login plug-in that kubeconfig files may run")
exec_env = repeatable(
    "--exec-env",
    metavar="NAME",
    text="A variable of this process that login plug-ins get beside PATH",
    callback=_not_ours,
)
in_cluster = click.option(
    "--in-cluster",
    type=click.Choice(("allow", "never")),
    default="allow",
    metavar="allow|never",
    help="Whether a member may be the cluster that gitfleet runs in (default: allow).",
)
secret_namespace = repeatable(
    "--secret-namespace",
    metavar="NAMESPACE",
    text="Where Secrets with kubeconfigs may lie",
    otherwise="the pod's own namespace",
)
cache_dir = path(
    "--cache-dir", metavar="DIR", text="Mirror and parse cache; losing it costs time only.", envvar="GITFLEET_CACHE_DIR"
)
simulated_dir = path("--simulated-dir", metavar="DIR", text="Where simulated clusters are kept between runs.")


def combined(*options: Decorator) -> Decorator:
    """Several options as one decorator, shown in this order."""

    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def collected(argument: str, make: Callable[..., object], *options: Decorator) -> Decorator:
    """Options as one argument of the command: what `make` returns for their values, given by name."""

    def names() -> tuple[str, ...]:
        def probe() -> None: ...

        return tuple(parameter.name or "" for parameter in click.command(combined(*options)(probe)).params)

    def decorate(command: F) -> F:
        taken = names()

        @wraps(command)
        def call(**arguments: Any) -> Any:
            values = {name: arguments.pop(name) for name in taken}
            return command(**{argument: make(**values)}, **arguments)

        return combined(*options)(cast(F, call))

    return decorate


connections = combined(kubeconfig, kubeconfig_dir, allow_exec, exec_env, in_cluster, secret_namespace, simulated_dir)


def output(*formats: str) -> Decorator:
    """-o with the formats that a command has; the first is the default."""
    return click.option(
        "-o",
        "--output",
        type=click.Choice(formats),
        default=formats[0],
        metavar="FORMAT",
        help=f"{'|'.join(formats)} (default: {formats[0]}).",
    )


def example(*lines: str) -> str:
    """The end of a command's help: examples, each on its line."""
    title = "Example:" if len(lines) == 1 else "Examples:"
    return "\n".join(("\b", title, *(f"  {line}" for line in lines)))


def command(*examples: str) -> Callable[[Callable[..., Any]], click.Command]:
    """What makes a function a command, whose help ends in examples."""
    return click.command(epilog=example(*examples))


def cache_dir_for(repo: str, chosen: Path | None) -> Path:
    """A private folder for one remote below the user's cache folder, unless one was chosen. Where it cannot be written,
    or the user has no home (a pod's user that the image does not know), a temporary one for this command, with a
    warning; MissingPart where there is no temporary directory either."""
    if chosen is not None:
        return chosen
    with suppress(RuntimeError, OSError):
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        folder = base / "gitfleet" / "repos" / _folder_name(repo)
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    return _temporary_cache()


def _folder_name(repo: str) -> str:
    where = repo if "://" in repo or ":" in repo.split("/")[0] else str(Path(repo).resolve())
    return hashlib.sha256(where.encode()).hexdigest()[:16]


def _temporary_cache() -> Path:
    """A folder that is removed when the command ends."""
    import tempfile

    try:
        if Path(tempfile.gettempdir()) == Path.cwd():  # the last place that Python tries; a work tree may be there
            raise FileNotFoundError
        made = tempfile.TemporaryDirectory(prefix="gitfleet-cache-", ignore_cleanup_errors=True)
    except OSError as error:
        hint = CliText.MOUNT_FOLDER_WRITTEN_POD_EMPTYDIR()
        raise MissingPart(CliText.NO_FOLDER_FOR_CACHE(), hint=hint) from error
    say(CliText.WARNING_TEMPORARY_CACHE())
    return Path(click.get_current_context().with_resource(made))


approval_policy = path(
    "--approval-policy",
    metavar="FILE",
    text="Who may approve, in the form of spec.approvals of the FleetConfig, which it outranks.",
)


sops_age_key_file = path(
    "--sops-age-key-file",
    metavar="FILE",
    text="The age keys that Secrets encrypted with SOPS are decrypted with.",
    envvar="GITFLEET_SOPS_AGE_KEY_FILE",
)


forge = combined(
    click.option("--forge", metavar="NAME", help="Show requests and statuses on a forge: github, gitlab or gitea."),
    click.option("--forge-url", metavar="URL", help="Where it is, as a browser has it (default: its public server)."),
    click.option("--forge-repo", metavar="OWNER/NAME", help="The repository there (default: the path of REPO's URL)."),
    path("--forge-token-file", metavar="FILE", text="The file that holds the token for it."),
    click.option("--forge-token-env", metavar="NAME", help="The variable that holds the token for it."),
)


def forge_settings(repo: str, chosen: Mapping[str, Any]) -> ForgeSettings | None:
    """The forge that the options name, None for none; UsageError where they do not go together."""
    name, file, variable = chosen.get("forge"), chosen.get("forge_token_file"), chosen.get("forge_token_env")
    if name is None:
        named = sorted(option for option in chosen if option.startswith("forge_") and chosen[option] is not None)
        if named:
            raise click.UsageError(f"--{named[0].replace('_', '-')} goes with --forge NAME")
        return None
    credentials = git_credentials()
    app = credentials.app if name == "github" and file is None and variable is None else None
    if app is None and (file is None) == (variable is None):
        raise click.UsageError(CliText.FORGE_NEEDS_TOKEN())
    token = os.environ.get(variable, "").strip() if variable else ""
    if variable and not token:
        raise click.UsageError(CliText.VARIABLE_FORGE_TOKEN_ENV_NOT(variable=variable))
    repository = chosen.get("forge_repo") or repository_of(repo)
    if not repository:
        raise click.UsageError(CliText.REPO_NO_URL_PATH_OWNER())
    url = chosen.get("forge_url") or ""
    ca_file = credentials.ca_file
    return ForgeSettings(
        name=name, url=url, repository=repository, token_file=file, token=token, app=app, ca_file=ca_file
    )


def repository_of(address: str) -> str:
    """OWNER/NAME, or GROUP/.../NAME, of the URL of a git remote; "" for a local path."""
    host = r"(?:[A-Za-z][A-Za-z0-9+.-]*://[^/]+/|(?:[\w.+-]+@)?[\w.-]+:(?!//))"
    match = re.fullmatch(rf"{host}/*(?P<path>.+?)/*", address)
    path = match["path"].removesuffix(".git") if match else ""
    return path if "/" in path else ""


listen_probes = click.option(
    "--listen", metavar="ADDRESS:PORT", help="Where to answer /healthz and /readyz (:8080: every address)."
)
listen = combined(
    click.option(
        "--listen",
        metavar="ADDRESS:PORT",
        help="Where to answer /healthz, /readyz and /metrics (:8080: every address).",
    ),
    repeatable(
        "--webhook",
        metavar="PROVIDER=FILE",
        text="Receive webhooks at /webhook/PROVIDER, signed with the secret in a file",
    ),
)


def http_settings(address: str | None, webhook: tuple[str, ...]) -> HttpSettings | None:
    """Where to answer over HTTP; UsageError for what is no address and port, or no provider and file."""
    if address is None:
        if webhook:
            raise click.UsageError("--webhook goes with --listen ADDRESS:PORT")
        return None
    match = re.fullmatch(r"(?:\[(?P<six>[^\[\]]+)\]|(?P<host>[^\[\]:]*)):(?P<port>[0-9]{1,5})", address)
    if match is None:
        raise click.UsageError(CliText.LISTEN_NO_ADDRESS_PORT(address=address))
    return HttpSettings(host=match["six"] or match["host"] or "", port=int(match["port"]), webhooks=_webhooks(webhook))


def _webhooks(given: Sequence[str]) -> tuple[tuple[str, Path], ...]:
    from gitfleet.serving.webhooks import PROVIDERS

    providers = {name: name for name in PROVIDERS}
    return pairs("--webhook", f"PROVIDER=FILE with one of {', '.join(PROVIDERS)}", given, providers.__getitem__, Path)


def pairs(
    option: str, form: str, given: Iterable[str], name_of: Callable[[str], K], value_of: Callable[[str], V]
) -> tuple[tuple[K, V], ...]:
    """What an option of the form NAME=VALUE names, in order; UsageError for what has another form, for a name that
    `name_of` refuses (LookupError, ValueError), and for one that is given twice."""
    values: dict[K, V] = {}
    for text in given:
        written, _, value = text.partition("=")
        name: K | None = None
        with suppress(LookupError, ValueError):
            name = name_of(written)
        if not (name and value):
            raise click.UsageError(CliText.OPTION_NO_PAIR(option=option, given=text, form=form))
        if name in values:
            raise click.UsageError(CliText.OPTION_NAMES_TWICE(option=option, name=written))
        values[name] = value_of(value)
    return tuple(values.items())


def settings_for(repo: str, **chosen: Any) -> Settings:
    """The settings of one process from its options and environment."""
    cache_dir = cache_dir_for(repo, chosen.get("cache_dir"))
    # One cache may be chosen for several fleets, whose clusters of the same name are not the same.
    simulated = cache_dir / "simulated" / (_folder_name(repo) if chosen.get("cache_dir") else "")
    return Settings(
        repo=repo,
        cache_dir=cache_dir,
        state_dir=chosen.get("state_dir"),
        connections=ConnectionRules(
            kubeconfig=chosen.get("kubeconfig"),
            kubeconfig_dir=chosen.get("kubeconfig_dir"),
            allowed_exec=tuple(chosen.get("allow_exec", ())),
            exec_environment=tuple(chosen.get("exec_env", ())),
            allow_in_cluster=chosen.get("in_cluster", "allow") == "allow",
            secret_namespaces=tuple(chosen.get("secret_namespace", ())),
        ),
        simulated_dir=chosen.get("simulated_dir") or simulated,
        simulate_unconnected=chosen.get("simulate_unconnected", False),
        watch_branch=chosen.get("branch"),
        approval_policy=chosen.get("approval_policy"),
        git_credentials=git_credentials(),
        git_seconds=git_seconds(),
        forge=forge_settings(repo, chosen),
        sops_age_key_file=chosen.get("sops_age_key_file"),
        http=http_settings(chosen.get("listen"), chosen.get("webhook", ())),
    )


def settings_of_state(repo: str, **chosen: Any) -> Settings:
    """`settings_for` of a command to which the state branch matters: says when a clone's remote has it, and not the
    clone."""
    from gitfleet.wiring.state import remote_with_state  # what only prints schemas needs no git

    if chosen.get("state_dir") is None and (remote := remote_with_state(repo)) is not None:
        say(CliText.WARNING_CLONE_NO_STATE_BRANCH(remote=remote))
    return settings_for(repo, **chosen)


def settings_of_clone(repo: str, **chosen: Any) -> Settings:
    """`settings_for` of a command that only reads: where a clone has no branch of a name, that of its remote counts."""
    return replace(settings_for(repo, **chosen), tracked=True)


def what_if(verb: str) -> Decorator:
    """The options --without, --with and --cordon of `plan` and `simulate`, as one argument `what_if`."""
    return collected(
        "what_if",
        WhatIfOptions,
        repeatable("--without", metavar="CLUSTER", text=f"{verb} without a cluster, or LABEL=VALUE"),
        repeatable(
            "--with", "with_file", metavar="FILE", text=f"{verb} with a file's MemberClusters as well", type=PATH
        ),
        repeatable("--cordon", metavar="CLUSTER", text=f"{verb} with a cluster that takes nothing new"),
    )


def settings(*options: Decorator, of_state: bool = True) -> Decorator:
    """Options that say how this process works, as one argument `settings` of the command; without `of_state` for one
    to which the state branch does not matter."""
    return collected("settings", settings_of_state if of_state else settings_for, *options)


def reading(*options: Decorator) -> Decorator:
    """The same for a command that asks what would happen: see `settings_of_clone`."""
    return collected("settings", settings_of_clone, *options)
