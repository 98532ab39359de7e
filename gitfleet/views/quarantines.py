"""Quarantined content for people: each quarantine as a row, and the file that lifts it."""

from __future__ import annotations

from gitfleet.api import write
from gitfleet.api.quarantines import Quarantine
from gitfleet.formats.yaml_writer import yaml_text
from gitfleet.model.state import FleetState
from gitfleet.state import paths
from gitfleet.views.markdown import code_span, link, rest_lines
from gitfleet.views.texts import ViewsText


def lifting_text(quarantine: Quarantine) -> str:
    """The file that lets the content out again."""
    lifted = Quarantine(name=quarantine.name, placement=quarantine.placement, digest=quarantine.digest, lifted=True)
    return yaml_text(write(lifted))


def quarantine_lines(state: FleetState, most: int) -> list[str]:
    """What is quarantined, each with its snapshots and with what lets it out."""
    found = [one for one in state.quarantines.values() if not one.lifted]
    lines = [f"## Quarantined content: {len(found)}"] if found else []
    for one in found[:most]:
        record = state.placements.get(one.placement)
        indexes = [str(s.index) for s in record.resource_snapshots if s.hash == one.digest] if record else []
        lines += ["", f"### {link(one.name, paths.own_path('quarantines', '', one.name))}", ""]
        lines += [
            f"{code_span(str(one.placement))}, snapshot {', '.join(indexes) or '-'}: {code_span(one.reason, 300)}."
        ]
        if one.run:
            path = code_span(f"quarantines/{one.name}.yaml")
            lines += [ViewsText.NOT_ROLLED_OUT(path=path), ""]
            lines += ["```yaml", *lifting_text(one).splitlines(), "```"]
        else:
            lines += [ViewsText.NOT_ROLLED_OUT_LONG_FILE()]
    return [*lines, *rest_lines(len(found), most, "quarantines")]
