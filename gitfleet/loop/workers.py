"""The threads that clusters are asked in: as many as the configuration says (`delivery.concurrency`)."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Workers(Executor):
    """An executor whose number of threads may change between calls of the one thread that submits.

    What is under way goes on in the threads that it has; only a call that hangs takes part in two numbers meanwhile.
    """

    def __init__(self, number: int) -> None:
        """Begin with so many threads at most; each is started when it is needed first."""
        self.number = number
        self._pool = _pool_of(number)

    def resize(self, number: int) -> None:
        """From now on do so many calls at a time at most."""
        if number != self.number:
            self._pool.shutdown(wait=False)
            self.number, self._pool = number, _pool_of(number)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """See Executor."""
        return self._pool.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """See Executor."""
        self._pool.shutdown(wait=wait, cancel_futures=cancel_futures)


def _pool_of(number: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=number, thread_name_prefix="cluster")
