"""`gitfleet validate`: every fault of a commit, all at once."""

from __future__ import annotations

from collections.abc import Sequence

import click

from gitfleet.cli import options
from gitfleet.cli.output import chosen_format, print_json
from gitfleet.cli.talk import say
from gitfleet.model.faults import Fault, Severity


def validate(
    repo: options.Repo = ".",
    rev: options.Rev = None,
    branch: options.Branch = None,
    cache_dir: options.CacheDir = None,
    output: options.Format = None,
) -> int:
    """Show every fault of a commit as path:line: Kind/name: field: message.

    Formats: -o text|json|github|sarif. Exit code 1 when there is an error (warnings alone give 0).
    Example: gitfleet validate . --rev my-change -o github
    """
    from gitfleet import wiring

    shape = chosen_format(output, ("text", "json", "github", "sarif"))
    settings = options.settings_for(repo, cache_dir=cache_dir, branch=branch)
    with wiring.open_workspace(settings) as workspace:
        commit = workspace.commit_of(rev)
        faults = workspace.desired_at(commit).faults
    errors = [fault for fault in faults if fault.severity is Severity.ERROR]
    match shape:
        case "json":
            print_json(faults_document(commit, faults))
        case "sarif":
            print_json(sarif_document(faults))
        case "github":
            for fault in faults:
                click.echo(github_line(fault))
        case _:
            for fault in faults:
                click.echo(str(fault) if fault.severity is Severity.ERROR else f"{fault} (warning)")
    say(f"{len(errors)} errors, {len(faults) - len(errors)} warnings in commit {commit[:12]}")
    return 1 if errors else 0


def faults_document(commit: str, faults: Sequence[Fault]) -> dict[str, object]:
    """The faults as one JSON document."""
    from gitfleet.report.plan_document import fault_document

    return {
        "apiVersion": "gitfleet.dev/v1alpha1",
        "kind": "FaultList",
        "commit": commit,
        "faults": [fault_document(fault) for fault in faults],
    }


def github_line(fault: Fault) -> str:
    """A workflow command of GitHub Actions, escaped as its documentation says."""
    level = "error" if fault.severity is Severity.ERROR else "warning"
    text = ": ".join(part for part in (fault.object, fault.field, fault.message) if part)
    path = _escaped(fault.path).replace(":", "%3A").replace(",", "%2C")
    return f"::{level} file={path},line={fault.line}::{_escaped(text)}"


def sarif_document(faults: Sequence[Fault]) -> dict[str, object]:
    """SARIF 2.1.0 (OASIS), as code-scanning pages read it."""
    results = [
        {
            "ruleId": "gitfleet",
            "level": "error" if fault.severity is Severity.ERROR else "warning",
            "message": {"text": ": ".join(part for part in (fault.object, fault.field, fault.message) if part)},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": fault.path},
                        "region": {"startLine": max(1, fault.line)},
                    }
                }
            ],
        }
        for fault in faults
    ]
    driver = {"name": "gitfleet", "rules": [{"id": "gitfleet"}]}
    return {
        "version": "2.1.0",
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
