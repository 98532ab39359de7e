"""analysis: what metrics say of a rollout.

    advance(metrics, measurements, scope, answers, now) -> Analysed    which measurement is due, and the verdict so far
    standings_of, verdict_of, sentence_of    the same verdict, recomputed from what is recorded
    alternatives    names as a regular expression, for a variable of several clusters

Everything here is pure. It lies below the domain packages: batches of a workload and stages of a run are gated by the
same.
"""

from gitfleet.analysis.advancing import KEPT, Analysed, Scope, advance
from gitfleet.analysis.standings import AnalysisVerdict, Standing, sentence_of, standings_of, verdict_of
from gitfleet.analysis.templates import alternatives

__all__ = [
    "KEPT",
    "Analysed",
    "AnalysisVerdict",
    "Scope",
    "Standing",
    "advance",
    "alternatives",
    "sentence_of",
    "standings_of",
    "verdict_of",
]
