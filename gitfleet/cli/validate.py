"""`gitfleet validate`: every error of a commit, all at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from gitfleet.cli import options
from gitfleet.cli.messages import plain, say
from gitfleet.cli.output import print_json, show_wrapped
from gitfleet.cli.texts import CliText
from gitfleet.formats.sentences import counted, more_than_first
from gitfleet.settings import Settings

if TYPE_CHECKING:
    from gitfleet.api.faults import Fault, FaultGroup


@options.command("gitfleet validate", "gitfleet validate . --rev my-change -o github")
@options.rev
@click.option("--work-tree", is_flag=True, help="Read the files of the work tree as they are, not a commit.")
@click.option("--verbose", "-v", is_flag=True, help="List every error, not only the first of each cause.")
@options.settings(options.repo, options.branch, options.sops_age_key_file, options.cache_dir, of_state=False)
@options.output("text", "json", "github", "sarif")
def validate(rev: str | None, work_tree: bool, verbose: bool, settings: Settings, output: str) -> int:
    """Show every error of a commit as path:line: Kind/name: field: message.

    Errors of one cause are one line, at the first of them. The committed tree is read, not the files as they are in
    your folder, but with --work-tree. Exit code 1 when there is an error; warnings alone give 0.
    """
    from gitfleet.api.faults import FaultGroup, by_cause
    from gitfleet.cli.work_trees import files_of, uncommitted
    from gitfleet.wiring import hub

    files = files_of(settings, rev, work_tree)
    read = files if work_tree else None
    decrypts = settings.sops_age_key_file is not None
    with hub.open_workspace(settings, clusters="none", work_tree=read, decrypts=decrypts) as workspace:
        commit = hub.commit_id_of(read) if read else workspace.commit_of(rev)
        faults = workspace.faults_at(commit)
        unread = 0 if decrypts else workspace.encrypted_at(commit)
    errors = sum(fault.severity == "error" for fault in faults)
    groups = [FaultGroup((fault,)) for fault in faults] if verbose else by_cause(faults)
    match output:
        case "json":
            print_json(faults_document(commit, faults))
        case "sarif":
            print_json(sarif_document(faults))
        case "github":
            for group in groups:
                click.echo(github_line(group))
        case _:
            for group in groups:
                show_wrapped(str(group) if group.first.severity == "error" else f"{group} (warning)", "  ")
    source = CliText.WORK_TREE() if read else f"commit {commit[:12]}"
    numbers = f"{counted(errors or 'no', 'error')} and {counted(len(faults) - errors or 'no', 'warning')}"
    say(f"{source} has {numbers}{CliText.LISTED_WITH_V() if len(groups) < len(faults) else ''}")
    if unread:
        say(CliText.NOT_DECRYPTED_NAME_KEY_SOPS(count=counted(unread, "Secret")))
    if files is not None and files.changed and not read:
        say(CliText.NOT_READ_WORK_TREE_UNCOMMITTED(uncommitted=uncommitted(files.changed)))
    return 1 if errors else 0


def faults_document(commit: str, faults: Sequence[Fault]) -> dict[str, object]:
    """The faults as one JSON document."""

    return {
        "apiVersion": "gitfleet.dev/v1alpha1",
        "kind": "FaultList",
        "commit": commit,
        "faults": [fault.document() for fault in faults],
    }


def github_line(group: FaultGroup) -> str:
    """A workflow command of GitHub Actions, escaped as its documentation says. GitHub shows ten of a step."""
    fault = group.first
    level = "error" if fault.severity == "error" else "warning"
    path = _escaped(fault.path).replace(":", "%3A").replace(",", "%2C")
    return (
        f"::{level} file={path},line={fault.line}::{_escaped(plain(_sentence(fault)))}{more_than_first(group.faults)}"
    )


def sarif_document(faults: Sequence[Fault]) -> dict[str, object]:
    """SARIF 2.1.0 (OASIS), as code-scanning pages read it."""
    from urllib.parse import quote

    from gitfleet import __version__

    results = [
        {
            "ruleId": "gitfleet",
            "level": "error" if fault.severity == "error" else "warning",
            "message": {"text": _sentence(fault)},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": quote(fault.path), "uriBaseId": "%SRCROOT%"},
                        "region": {"startLine": max(1, fault.line)},
                    }
                }
            ],
        }
        for fault in faults
    ]
    rule = {"id": "gitfleet", "shortDescription": {"text": CliText.ERROR_FLEET_CONFIG_REPO()}}
    driver = {"name": "gitfleet", "version": __version__, "rules": [rule]}
    return {
        "version": "2.1.0",
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }


def _sentence(fault: Fault) -> str:
    return ": ".join(part for part in (fault.object, fault.field, fault.message) if part)


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
