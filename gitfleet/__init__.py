"""gitfleet: the git repository is the hub of a fleet of Kubernetes clusters.

Start reading at `gitfleet.reconcile`, the decider: one pure function that goes through every package in order.
"""

__version__ = "0.1.0"
