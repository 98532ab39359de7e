"""The timeline of a simulation as one HTML file: no script, nothing loaded from anywhere, every text escaped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from gitfleet.cli.progress import Lines, ending_of, when_of
from gitfleet.cli.texts import CliText
from gitfleet.model.events import Event, EventType

_PHASES: Final = {
    EventType.SCHEDULED: "picked",
    EventType.BOUND: "rolling",
    EventType.UPDATING: "rolling",
    EventType.UPDATED: "applied",
    EventType.FAILED: "failed",
    EventType.UNSCHEDULED: "leaving",
    EventType.REMOVED: "",
}
_LEGEND: Final = (
    ("picked", CliText.PICKED_WAITS_TURN()),
    ("rolling", CliText.ROLLED_OUT()),
    ("applied", CliText.APPLIED_NOT_AVAILABLE()),
    ("available", "available"),
    ("failed", "failed"),
    ("leaving", CliText.NO_LONGER_PICKED()),
)
_STEPS: Final = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, 86400)
"""Seconds between two marks of the scale, whole ones since a mark is labelled in whole seconds."""
_STYLE: Final = """
body{font:15px/1.5 system-ui,sans-serif;max-width:75rem;margin:2rem auto;padding:0 1rem;color:#1c2733;background:#fff}
h1{font-size:1.3rem}h2{font-size:1.05rem;margin-top:2rem}code,pre{font-family:ui-monospace,monospace;font-size:13px}
@media (prefers-color-scheme:dark){body{background:#14191f;color:#dde4ea}}
.row{display:flex;align-items:center;gap:.8rem;margin:3px 0}
.name{flex:0 0 18rem;overflow-wrap:anywhere;text-align:right}
.bar{position:relative;flex:1;height:1.3rem;background:#eef1f4;border-radius:3px;overflow:hidden}
.bar i{position:absolute;top:0;bottom:0;min-width:2px}
.scale{position:relative;height:1.5rem;margin-left:18.8rem;color:#5b6875;font-size:13px}.scale span{position:absolute}
.legend{display:flex;flex-wrap:wrap;gap:1.2rem;font-size:13px}.legend i{display:inline-block;width:1rem;height:.8rem}
.picked{background:#b9c4cf}.rolling{background:#4f8fd9}.applied{background:#f2b63c}.available{background:#3f9d5f}
.failed{background:#cf4034}.leaving{background:repeating-linear-gradient(45deg,#b9c4cf 0 4px,#eef1f4 4px 8px)}
pre{background:#f6f8fa;padding:1rem;overflow-x:auto;border-radius:3px}
@media (max-width:45rem){.name{flex-basis:8rem}.scale{margin-left:8.8rem}}
@media (prefers-color-scheme:dark){.bar{background:#27303a}pre{background:#1c232b}}
"""


@dataclass(frozen=True, slots=True)
class Span:
    """One phase of one placement on one cluster, in seconds; `phase` is a word of the legend."""

    begin: float
    end: float
    phase: str
    meaning: str


def page_of(events: Sequence[tuple[float, Event]]) -> str:
    """The whole page: a bar for each placement on each cluster, and every line of the timeline."""
    end = max((at for at, _ in events), default=0.0)
    lines = (
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8"><title>gitfleet simulate</title>',
        '<meta name="viewport" content="width=device-width,initial-scale=1">',
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        f"<style>{_STYLE}</style></head><body>",
        *_lines(events, end),
        "</body></html>",
    )
    return "".join(f"{line}\n" for line in lines)


def _lines(events: Sequence[tuple[float, Event]], end: float) -> Iterator[str]:
    # What the last events lead to would have no width on an axis that ends with them.
    edge = end + max(1.0, end / 10)
    yield CliText.H1_ROLLOUT_VIRTUAL_TIME(escape=escape(when_of(end).strip()))
    legend = "".join(f'<span><i class="{word}"></i> {escape(meaning)}</span>' for word, meaning in _LEGEND)
    yield f'<p class="legend">{legend}</p>'
    before = None
    for (placement, cluster), spans in sorted(_spans(events, edge).items()):
        if placement != before:
            yield f"<h2>{escape(placement)}</h2>"
            before = placement
        bar = "".join(_bar(span, edge) for span in spans)
        yield CliText.DIV_CLASS_ROW_SPAN_CLASS(escape=escape(cluster), bar=bar)
    yield f'<div class="scale">{"".join(_scale_marks(edge))}</div>'
    yield "<h2>Everything that happened</h2><pre>"
    yield from (escape(line) for line in _timeline_lines(events))
    yield "</pre>"


def _scale_marks(edge: float) -> Iterator[str]:
    step = next((step for step in _STEPS if edge / step <= 8), int(edge / 8))
    for at in range(0, int(edge) + 1, step):
        # One at the very edge would stand outside.
        if at < edge:
            yield f'<span style="left:{100 * at / edge:.2f}%">{escape(when_of(at).strip())}</span>'


def _bar(span: Span, edge: float) -> str:
    begin, width = 100 * span.begin / edge, 100 * (span.end - span.begin) / edge
    until = when_of(span.end).strip() if span.end < edge else "the end"
    title = f"{when_of(span.begin).strip()} to {until}: {span.meaning}"
    return f'<i class="{span.phase}" style="left:{begin:.2f}%;width:{width:.2f}%" title="{escape(title)}"></i>'


def _spans(events: Sequence[tuple[float, Event]], edge: float) -> dict[tuple[str, str], list[Span]]:
    meanings = dict(_LEGEND)
    changes: dict[tuple[str, str], list[tuple[float, str]]] = {}
    for at, event in events:
        if event.placement is None or event.cluster is None:
            continue
        phase = _PHASES.get(event.type)
        if event.type == EventType.AVAILABLE:
            phase = "available" if event.fields["value"] else "applied"
        if phase is not None:
            changes.setdefault((event.placement, event.cluster), []).append((at, phase))
    spans: dict[tuple[str, str], list[Span]] = {}
    for row, steps in changes.items():
        ends = [*(at for at, _ in steps[1:]), edge]
        pairs = zip(steps, ends, strict=True)
        phases = [Span(at, until, phase, meanings[phase]) for (at, phase), until in pairs if phase]
        spans[row] = [span for span in phases if span.end > span.begin]
    return spans


def _timeline_lines(events: Sequence[tuple[float, Event]]) -> list[str]:
    lines: list[str] = []
    writer = Lines(lines.append)
    for at, event in events:
        if event.type != EventType.END:
            writer.on_event(event, at)
    writer.finish()
    lines += [f"{when_of(at)}{ending_of(event)}" for at, event in events if event.type == EventType.END]
    return lines
