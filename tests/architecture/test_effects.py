"""Every effect of the loop has a name in `Step`: whoever adds a push or a write is told so here."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gitfleet.branches.steps import Step
from tests.architecture.sources import PRODUCT, ROOT, nodes_of

NAMED = {
    "agent.py: client.perform": "the agent's, which has steps of its own (AgentStep)",
    "agent.py: client.perform_steps": "the same",
    "agent.py: self.writer.commit": "the same",
    "pull_clusters.py: self.writer.commit": "DELIVERY_PUSH",
    "pull_clusters.py: self.writer.remove_branch": "DELIVERY_PUSH",
    "election.py: self.inner.commit": "asks whether the process leads, inside what is named",
    "election.py: self.inner.remove_branch": "the same",
    "fanout.py: client.perform": "CLUSTER_WRITE",
    "fanout.py: client.perform_steps": "the same",
    "person_commits.py: self.writer.commit": "a person's command, no reconcile",
    "rendered_branch.py: self.writer.commit": "RENDERED_PUSH",
    "request_branches.py: self.writer.commit": "REQUEST_PUSH",
    "request_branches.py: self.writer.remove_branch": "REQUEST_PUSH",
    "state_branch.py: self.writer.commit": "STATE_PUSH",
    "state_trees.py: self._cache.put_many": "CACHE_WRITE",
    "steps.py: self.inner.commit": "what names them",
    "steps.py: self.inner.put_many": "what names them",
    "steps.py: self.inner.remove_branch": "what names them",
    "desired_trees.py: self._cache.put_many": "CACHE_WRITE",
    "builds.py: cache.put_many": "a build's output, on any thread: without it, it is built again",
}
"""The calls of the loop and of the packages around it that have effects, and the step before each."""
SHELL = {"agent", "branches", "fleet", "loop", "payload", "serving"}
EFFECTS = {"commit", "remove_branch", "put_many"}
WRITES = {"client.perform", "client.perform_steps"}


def effects() -> Iterator[str]:
    for path in PRODUCT:
        if path.parent.parent != ROOT / "gitfleet" or path.parent.name not in SHELL:
            continue
        for node in nodes_of(path):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                called = ast.unparse(node.func)
                if node.func.attr in EFFECTS or called in WRITES:
                    yield f"{path.name}: {called}"


def test_every_effect_of_the_loop_has_a_step() -> None:
    assert set(effects()) == set(NAMED)


def test_a_step_before_an_effect_has_one_after_it() -> None:
    assert sum(step.name.endswith(("_WRITE", "_PUSH")) for step in Step) * 2 + 5 == len(Step)
