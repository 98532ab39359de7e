"""How a process ends by a signal: SIGTERM, SIGINT (Ctrl-C) and SIGHUP (the terminal has gone), also as PID 1, for which
the kernel has no default actions.

A command that reads ends where it is. `run` ends after the reconcile that is under way, or in the middle of it when
that takes longer than a grace or a second signal comes: that is as harmless as a kill. The exit code is 128 and the
number of the signal (143, 130, 129); SIGTERM is how a continuous `run` is meant to end, which is 0.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Final

from gitfleet.errors import Stopped

GRACE_SECONDS: Final = 5.0
"""How long a reconcile may go on after the first signal."""
_EACH_SECONDS: Final = 1.0
"""How long each part that the block closes may take once the grace is over: traces, notifications, a lease."""
_CLOSING_SECONDS: Final = 1.5
"""How long closing may take behind the block. All is over in 10 seconds; a pod has 30."""
_ENDING: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_Handler = Callable[[int, FrameType | None], None]


class Ended(BaseException):
    """A signal ended the process. No Exception: nothing on the way may take it for one of its own."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.exit_code = 128 + number


def end_at_once() -> None:
    """From now on a signal ends the command where it is. A signal that was ignored when the process began, as nohup
    has it, stays so."""
    _handle(lambda number, _: _raise(number))


def ignore_all() -> None:
    """The process is ending: another signal changes nothing any more."""
    signal.setitimer(signal.ITIMER_REAL, 0)
    for number in _ENDING:
        signal.signal(number, signal.SIG_IGN)


@dataclass(slots=True)
class Ending:
    """`number` is the signal that came first, 0 while none has."""

    number: int = 0

    def exit_code(self, *, continuous: bool) -> int:
        """The exit code that the signal means."""
        return 0 if continuous and self.number == signal.SIGTERM else 128 + self.number


@contextmanager
def ending_gently(stop: Callable[[], None]) -> Iterator[Ending]:
    """Inside, the first signal calls `stop`; the block is left after the grace, or at once with the second signal. What
    the block raises because of that goes no further. What is closed behind the block is bounded likewise (Ended)."""
    ending = Ending()

    def on_signal(number: int, _: FrameType | None) -> None:
        if ending.number:
            _raise(ending.number)
        ending.number = number
        stop()
        signal.setitimer(signal.ITIMER_REAL, GRACE_SECONDS, _EACH_SECONDS)

    signal.signal(signal.SIGALRM, lambda *_: _raise(ending.number))
    _handle(on_signal)
    try:
        yield ending
    except (Ended, Stopped):
        if not ending.number:
            raise
    finally:
        if ending.number:
            seconds = max(signal.getitimer(signal.ITIMER_REAL)[0], _CLOSING_SECONDS)
            signal.setitimer(signal.ITIMER_REAL, seconds, _EACH_SECONDS)
        end_at_once()


def _handle(handler: _Handler) -> None:
    for number in _ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def _raise(number: int) -> None:
    raise Ended(number)
