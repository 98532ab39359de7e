"""Where calls to clusters may be carried out instead of the threads of the process: entry points of the group
`gitfleet.executors`."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass

ExecutorFactory = Callable[["ExecutorAccess"], Executor]
"""What an entry point is. The executor's tasks are module-level functions of values; whatever a task, `submit` or the
executor itself raises, the clusters of the task count as not asked in that pass. It may carry a task out twice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorAccess:
    """What an executor is made with: the address that the process was given."""

    address: str
