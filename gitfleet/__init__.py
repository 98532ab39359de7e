"""gitfleet: the git repository is the hub of a fleet of Kubernetes clusters.

Start reading at `gitfleet.reconcile`, the decider: one pure function that goes through every package in order.
"""

from typing import Final

__version__ = "0.1.0"
DISTRIBUTION: Final = "gitfleet-hub"
"""The name on the package index: `gitfleet` is another project there. The import and the command are `gitfleet`."""


def extra(name: str) -> str:
    """The command that installs what an extra (`forges`, `sops`) needs."""
    return f'pip install "{DISTRIBUTION}[{name}]"'
