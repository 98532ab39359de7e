"""The entry point: every command is registered here, and every ending becomes an exit code (contracts.md §3).

0 done, 1 a known fault, 2 changes pending (`--detailed-exitcode`), 3 an unexpected error (a report is saved), 64 wrong
usage, 130 interrupted. Commands import what they need when they run, so that `--help` stays quick.
"""

from __future__ import annotations

import sys
import tempfile
import traceback
from pathlib import Path

import click
import typer

from gitfleet import __version__
from gitfleet.cli import commands
from gitfleet.cli.talk import say
from gitfleet.errors import GitfleetError

EXIT_FAULT, EXIT_CHANGES, EXIT_UNEXPECTED, EXIT_USAGE, EXIT_INTERRUPTED = 1, 2, 3, 64, 130

app = typer.Typer(
    name="gitfleet",
    help="The git repository is the hub of a fleet of Kubernetes clusters.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
commands.register(app)


def main(arguments: list[str] | None = None) -> None:
    """Run one command and leave with its exit code."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: list[str]) -> int:
    """Run one command; its exit code."""
    try:
        outcome = app(args=arguments, standalone_mode=False, prog_name="gitfleet")
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return EXIT_USAGE
    except click.exceptions.UsageError as error:
        error.show(file=sys.stderr)
        return EXIT_USAGE
    except click.exceptions.Exit as error:
        return error.exit_code
    except (KeyboardInterrupt, click.exceptions.Abort):
        say("interrupted")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of our output (`| head`) has gone: there is nobody left to tell.
        sys.stderr.close()
        return 0
    except GitfleetError as error:
        say(f"error: {error}")
        if error.hint:
            say(f"hint: {error.hint}")
        return EXIT_FAULT
    except Exception as error:  # a defect of ours: say where the report is instead of showing a traceback
        say(f"unexpected error: {type(error).__name__}: {error}")
        say(f"This is a defect of gitfleet {__version__}; the report is {saved_report(arguments)}")
        return EXIT_UNEXPECTED
    return outcome if isinstance(outcome, int) else 0


def saved_report(arguments: list[str]) -> Path:
    """Write the traceback to a private file; only the command's name of the arguments is kept, they may hold
    secrets."""
    with tempfile.NamedTemporaryFile("w", prefix="gitfleet-report-", suffix=".txt", delete=False) as file:
        file.write(f"gitfleet {__version__} {arguments[:1]}\n\n{traceback.format_exc()}")
    return Path(file.name)
