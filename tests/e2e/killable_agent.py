"""An agent that kills itself, as `kill -9` would, when it reaches a step for the first time.

    python -m tests.e2e.killable_agent REPO CLUSTER CONTEXT KUBECONFIG CACHE_DIR STEP

Everything but the kill is the program as it is (`wiring_agent.open_agent`).
"""

from __future__ import annotations

import sys
from pathlib import Path

from gitfleet.agent.agent import AgentStep
from gitfleet.settings import AgentSettings, ConnectionRules, Settings
from gitfleet.wiring.agent import open_agent
from tests.e2e.killable import die


def main(repo: str, cluster: str, context: str, kubeconfig: str, cache_dir: str, step: str) -> None:
    """Reconcile until death."""
    settings = Settings(repo=repo, cache_dir=Path(cache_dir), connections=ConnectionRules(kubeconfig=Path(kubeconfig)))

    def checkpoint(reached: AgentStep) -> None:
        if reached == step:
            die()

    with open_agent(settings, AgentSettings(cluster=cluster, context=context, interval=1.0)) as loop:
        loop.agent.checkpoint = checkpoint
        loop.until_stopped()


if __name__ == "__main__":
    main(*sys.argv[1:])
