"""gitfleet: the git repository is the hub of a fleet of Kubernetes clusters.

Start reading at `gitfleet.cycle`, the corridor: one pure function that goes through every room in order.
"""

__version__ = "0.1.0"
