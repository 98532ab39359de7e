"""analysis: what metrics say of a rollout.

    advance(metrics, measurements, scope, answers, now) -> Analysed    which measurement is due, and the verdict so far
    alternatives    names as a regular expression, for a variable of several clusters

Everything here is pure. It lies below the domain packages: batches of a workload and stages of a run are gated by the
same.
"""

from gitfleet.analysis.advancing import Analysed, Scope, advance
from gitfleet.analysis.standings import AnalysisVerdict
from gitfleet.analysis.templates import alternatives

__all__ = [
    "Analysed",
    "AnalysisVerdict",
    "Scope",
    "advance",
    "alternatives",
]
