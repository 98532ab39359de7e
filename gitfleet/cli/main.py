"""The entry point: runs one command and turns every ending into an exit code (contracts.md §3).

0 done, 1 a known error, 2 changes pending (`--detailed-exitcode`), 3 an unexpected error (a report is saved), 64 wrong
usage, 129, 130 and 143 ended by a signal, 141 nobody reads stdout any more. Commands import what they need when they
run, so that `--help` stays quick.
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import NoReturn

import click

from gitfleet import __version__
from gitfleet.cli import signals
from gitfleet.cli.collector import collect_rarely
from gitfleet.cli.commands import Commands
from gitfleet.cli.messages import say
from gitfleet.cli.streams import EXIT_READER_GONE, OutputLost, guard_streams
from gitfleet.cli.texts import CliText
from gitfleet.errors import GitfleetError

_LAST_SECONDS = 0.5
_MOST_CAUSES = 10
COMPLETION = "_GITFLEET_COMPLETE"
"""What a shell sets to ask for completions (click's convention)."""
EXIT_FAULT, EXIT_UNEXPECTED, EXIT_USAGE, EXIT_INTERRUPTED = 1, 3, 64, 130

app = Commands(
    name="gitfleet",
    help="The git repository is the hub of a fleet of Kubernetes clusters.",
    epilog="`gitfleet COMMAND --help` shows the options of a command and an example.",
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app = click.version_option(__version__, message="gitfleet %(version)s")(app)


def main(arguments: list[str] | None = None) -> None:
    """Run one command and leave with its exit code."""
    signals.end_at_once()
    guard_streams()
    collect_rarely()
    code = run(sys.argv[1:] if arguments is None else arguments)
    try:
        sys.stdout.flush()
    except OutputLost as lost:
        code = _lost(lost)
    signals.ignore_all()
    _leave(code)


def run(arguments: list[str]) -> int:
    """Run one command; its exit code."""
    if not arguments and COMPLETION not in os.environ:
        click.echo(app.get_help(app.make_context("gitfleet", [], resilient_parsing=True)), err=True)
        return EXIT_USAGE
    try:
        outcome = app.main(args=arguments, prog_name="gitfleet", complete_var=COMPLETION, standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        return _click_failed(error)
    except click.exceptions.Exit as error:
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        say("interrupted")
        return EXIT_INTERRUPTED
    except signals.Ended as ended:
        say("interrupted")
        return ended.exit_code
    except OutputLost as lost:
        return _lost(lost)
    except GitfleetError as error:
        say(f"error: {error}")
        if error.hint:
            say(f"hint: {error.hint}")
        return EXIT_FAULT
    except Exception as error:  # noqa: BLE001 - a defect of ours: say where the report is, show no traceback
        return _unexpected(error, arguments)
    return outcome if isinstance(outcome, int) else 0


def _click_failed(error: click.ClickException) -> int:
    say(f"error: {_sentence(error.format_message())}")
    if not isinstance(error, click.UsageError):
        return EXIT_FAULT
    say(CliText.HINT_HELP_SHOWS(command_path=error.ctx.command_path if error.ctx else "gitfleet"))
    return EXIT_USAGE


def _unexpected(error: Exception, arguments: list[str]) -> int:
    say(f"unexpected error: {type(error).__name__}")  # its own words may repeat what a Secret holds
    try:
        where = CliText.REPORT_IS(saved_report=saved_report(arguments, error))
    except OSError as unsaved:
        where = CliText.NO_REPORT_COULD_SAVED(strerror=unsaved.strerror)
    say(CliText.DEFECT_GITFLEET(version=__version__, where=where))
    return EXIT_UNEXPECTED


def _lost(lost: OutputLost) -> int:
    """The exit code when stdout is lost, with a sentence unless it was the reader who went."""
    if lost.reader_gone:
        return EXIT_READER_GONE
    say(f"error: {lost.sentence}")
    say(CliText.HINT_FREE_SOME_SPACE())
    return EXIT_FAULT


def saved_report(arguments: list[str], error: BaseException) -> Path:
    """Write to a private file where the error happened. Neither its message nor more of the arguments than the
    command's name is kept: both may hold secrets. OSError where there is no temporary directory."""
    import tempfile
    import traceback

    parts = [f"gitfleet {__version__} {arguments[:1]}"]
    cause: BaseException | None = error
    while cause is not None and len(parts) <= _MOST_CAUSES:
        parts.append(f"{type(cause).__name__}\n{''.join(traceback.format_tb(cause.__traceback__))}")
        cause = cause.__cause__ or cause.__context__
    with tempfile.NamedTemporaryFile("w", prefix="gitfleet-report-", suffix=".txt", delete=False) as file:
        file.write("\n\n".join(parts))
    return Path(file.name)


def _sentence(text: str) -> str:
    """click's sentences in the form of ours: small first letter but for a word in capitals, no full stop."""
    return (text if text[:2].isupper() else text[:1].lower() + text[1:]).rstrip(".")


def _leave(code: int) -> NoReturn:
    """End the process, even while a thread hangs in an API server that does not answer: it holds nothing that has to be
    closed."""
    for thread in threading.enumerate():
        if thread is not threading.main_thread() and not thread.daemon:
            thread.join(_LAST_SECONDS)
            if thread.is_alive():
                from gitfleet.wiring.hub import end_programs

                end_programs()
                sys.stderr.flush()
                os._exit(code)
    sys.exit(code)
