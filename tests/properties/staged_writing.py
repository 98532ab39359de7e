"""What stands in the config repo of a random history with staged update runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from functools import cache

from gitfleet.formats.times import time_text
from tests import builders
from tests.properties.writing import Written


@cache
def _run_text(name: str, placement: str, index: int | None, state: str) -> str:
    body = builders.staged_run(name, placement=placement, strategy="all", index=index)
    return builders.to_yaml({**body, "spec": {**body["spec"], "state": state}})


@cache
def _answer_text(name: str, approved: bool) -> str:
    body = builders.approval("x", "y", approved=approved)
    del body["spec"]
    return builders.to_yaml({**body, "metadata": {"name": name}})


@dataclass(frozen=True, slots=True)
class Frost:
    """A Freeze until a time, of everything, one placement, or one stage of runs."""

    until: datetime
    placement: str = ""
    stage: str = ""

    def text(self, name: str) -> str:
        """The file."""
        scope = {"placements": [self.placement]} if self.placement else {}
        scope |= {"stages": [self.stage]} if self.stage else {}
        return builders.to_yaml(builders.freeze(name, time_text(self.until), scope=scope))

    def holds(self, now: datetime, placement: str, stage: str = "") -> bool:
        """Whether nothing of a placement (of a stage of its runs) may start."""
        return now < self.until and self.placement in ("", placement) and self.stage in ("", stage)


@dataclass(slots=True)
class StagedWritten(Written):
    """What stands in the config repo, with what belongs to runs and evictions."""

    strategy: str = ""
    runs: dict[str, tuple[str, int | None, str]] = field(default_factory=dict)
    answers: dict[str, bool] = field(default_factory=dict)
    evictions: dict[str, tuple[str, str]] = field(default_factory=dict)
    budgets: dict[str, int] = field(default_factory=dict)
    freezes: dict[str, Frost] = field(default_factory=dict)
    quarantines: dict[str, tuple[str, str, bool]] = field(default_factory=dict)

    def files(self, namespaces: tuple[str, ...]) -> dict[str, str]:
        """All files by path."""
        more = {"rollouts/error-rate.yaml": builders.to_yaml(builders.metric_template())}
        more |= {f"runs/{name}.yaml": _run_text(name, *run) for name, run in self.runs.items()}
        more |= {f"approvals/{name}.yaml": _answer_text(name, answer) for name, answer in self.answers.items()}
        more |= {
            f"evictions/{name}.yaml": builders.to_yaml(builders.eviction(name, *what))
            for name, what in self.evictions.items()
        }
        more |= {
            f"budgets/{name}.yaml": builders.to_yaml(builders.placement_budget(name, minAvailable=most))
            for name, most in self.budgets.items()
        }
        more |= {f"freezes/{name}.yaml": frost.text(name) for name, frost in self.freezes.items()}
        more |= {
            f"quarantines/{name}.yaml": builders.to_yaml(builders.quarantine(name, owner, digest, lifted=lifted))
            for name, (owner, digest, lifted) in self.quarantines.items()
        }
        if self.strategy:
            more["strategies/all.yaml"] = self.strategy
        return Written.files(self, namespaces) | more | ({self.broken: "kind: [\n"} if self.broken is not None else {})
