"""Scenarios: what happens to a simulated fleet and how its clusters behave, read from a YAML file (contracts.md §5)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gitfleet.api import dotted, read
from gitfleet.api.faults import Fault
from gitfleet.api.scenarios import Scenario, ScenarioFile
from gitfleet.errors import BadInput
from gitfleet.formats.yaml_reader import lines_of, parse_documents

MAX_BYTES: Final = 8 << 20
"""Largest scenario file read."""
MAX_FAULTS: Final = 100
"""Most faults of one file that are reported."""


class BadScenario(BadInput):
    """A scenario file that cannot be run: `faults` are all that is wrong with it, `str` has one line for each."""

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        super().__init__("\n".join(str(fault) for fault in faults))
        self.faults = faults


def read_scenario(content: bytes, *, path: str = "scenario.yaml") -> Scenario:
    """The scenario that a file's bytes hold; `path` is what faults call the file. BadScenario with all its faults.

    Its timeline is in order of time; entries of the same moment stay in the order in which they were written.
    """
    parsed = parse_documents(content, max_bytes=MAX_BYTES)
    faults = [Fault(path, line, "", "", message) for line, message in parsed.faults]
    if not faults and len(parsed.documents) != 1:
        faults.append(Fault(path, 1, "", "", "a scenario is exactly one YAML document of kind Scenario"))
    if faults:
        raise BadScenario(tuple(faults))
    document = parsed.documents[0]
    file, breaks = read(ScenarioFile, document.value)
    if file is None:
        reported = breaks[:MAX_FAULTS]
        lines = lines_of(content, [(document.index, location) for location, _ in reported])
        raise BadScenario(
            tuple(
                sorted(
                    Fault(path, line, "Scenario", dotted(location), sentence)
                    for line, (location, sentence) in zip(lines, reported, strict=True)
                )
            )
        )
    return replace(file.spec, timeline=tuple(sorted(file.spec.timeline, key=lambda entry: entry.at)))
