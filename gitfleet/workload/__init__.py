"""workload: takes the pods of one workload, on each of its clusters, from one revision to the next (seed 004).

    Rollouts        all that others ask of it: what to read, how far each rollout is, what it holds and does
    RolloutsLoader  gives Rollouts, and loads the rest of this package when a fleet has the first rollout
    phases          the state machine, as one table
    handlers        what is asked of a kind of workload (a plug-in point); BUILT_IN are those of gitfleet

Everything here is pure.
"""

from gitfleet.workload.loading import RolloutsLoader, batch_sizes
from gitfleet.workload.seam import Advance, Movement, Rollouts

__all__ = ["Advance", "Movement", "Rollouts", "RolloutsLoader", "batch_sizes"]
