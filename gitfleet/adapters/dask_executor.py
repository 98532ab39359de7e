"""An executor whose tasks run on the workers of a Dask scheduler (extra `dask`)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, ParamSpec, TypeVar

from gitfleet import extra
from gitfleet.adapters.texts import AdaptersText
from gitfleet.errors import MissingPart, RetryLater
from gitfleet.ports.executors import ExecutorAccess

P = ParamSpec("P")
T = TypeVar("T")
log = logging.getLogger(__name__)
_SECONDS = 5.0
"""So long a scheduler is waited for that does not answer."""


class DaskExecutor(Executor):
    """A client of one scheduler. A task whose worker is gone runs again on another one; when the scheduler is gone, all
    that it had is failed at once, and `submit` raises RetryLater until it is back."""

    def __init__(self, access: ExecutorAccess) -> None:
        """Connect; RetryLater where no scheduler answers, MissingPart without the extra."""
        try:
            from distributed import Client
        except ImportError as error:
            raise MissingPart(
                AdaptersText.EXECUTOR_DASK_NEEDS_DASK(), hint=AdaptersText.INSTALL_WITH(extra=extra("dask"))
            ) from error
        for noisy in ("distributed.client", "distributed.core", "distributed.comm.tcp"):
            logging.getLogger(noisy).setLevel(logging.CRITICAL)  # what fails is said once, by whoever submits
        try:
            connect: Any = Client  # the library is not typed
            self._client = connect(access.address, timeout=_SECONDS, set_as_default=False, name="gitfleet")
        except (OSError, ValueError, RuntimeError) as error:
            raise RetryLater(AdaptersText.DASK_SCHEDULER_NOT_ANSWER(address=access.address)) from error
        self._inner: Executor = self._client.get_executor()
        self._address = access.address

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """See Executor."""
        if self._client.status != "running":
            self.shutdown(wait=False)
            raise RetryLater(AdaptersText.DASK_SCHEDULER_GONE(address=self._address))
        return self._inner.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """See Executor."""
        self._client.close(timeout=_SECONDS if wait else 1.0)
