"""A Dockerfile as stages of steps, by dockerfile-parse; what it says is what is run, so that the two cannot differ."""

from __future__ import annotations

import io
import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dockerfile_parse import DockerfileParser

KNOWN = {"ARG", "CMD", "COPY", "ENTRYPOINT", "ENV", "LABEL", "RUN", "USER", "WORKDIR"}
_VARIABLE = re.compile(r"\$\{(\w+)\}|\$(\w+)")


@dataclass(frozen=True)
class Step:
    """One instruction, without continuations: `value` has variables in it as they were written."""

    instruction: str
    value: str
    line: int


@dataclass(frozen=True)
class Stage:
    """What stands behind one FROM."""

    base: str
    name: str
    steps: tuple[Step, ...]

    def values(self, instruction: str) -> list[str]:
        """The values of all steps of one instruction, in order."""
        return [step.value for step in self.steps if step.instruction == instruction]


@dataclass
class Config:
    """What the steps so far say of the processes to come."""

    environment: dict[str, str]
    arguments: dict[str, str] = field(default_factory=dict)
    user: str = "0:0"
    folder: str = "/"
    labels: dict[str, str] = field(default_factory=dict)
    entrypoint: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)

    def note(self, step: Step) -> None:
        """Take in a step that changes no file; ValueError for an instruction that is not known here."""
        known = {**self.environment, **self.arguments}
        match step.instruction:
            case "ARG":
                name, _, default = step.value.partition("=")
                self.arguments[name] = default
            case "ENV":
                self.environment.update(pairs(step.value, known))
            case "LABEL":
                self.labels.update(pairs(step.value, known))
            case "USER":
                self.user = step.value
            case "WORKDIR":
                self.folder = step.value if step.value.startswith("/") else f"{self.folder.rstrip('/')}/{step.value}"
            case "ENTRYPOINT":
                self.entrypoint = json.loads(step.value)
            case "CMD":
                self.command = json.loads(step.value)
            case _:
                raise ValueError(f"line {step.line}: {step.instruction} is not known here")


def stages_of(path: Path) -> list[Stage]:
    """The stages of a Dockerfile; ValueError for an instruction that `KNOWN` lacks."""
    rows = DockerfileParser(fileobj=io.BytesIO(path.read_bytes())).structure
    arguments: dict[str, str] = {}
    found: list[Stage] = []
    for row in rows:
        step = Step(row["instruction"], row["value"], row["startline"] + 1)
        if step.instruction == "COMMENT":
            continue
        if step.instruction == "FROM":
            base, _, name = filled_in(step.value, arguments).partition(" AS ")
            found.append(Stage(base.strip(), name.strip(), ()))
        elif step.instruction not in KNOWN:
            raise ValueError(f"line {step.line}: {step.instruction} is not known here")
        elif found:
            found[-1] = Stage(found[-1].base, found[-1].name, (*found[-1].steps, step))
        else:
            name, _, default = step.value.partition("=")
            arguments[name] = default
    return found


def config_of(stage: Stage, environment: Mapping[str, str]) -> Config:
    """What a stage ends with; `environment` is that of its base."""
    config = Config(dict(environment))
    for step in stage.steps:
        if step.instruction not in ("RUN", "COPY"):
            config.note(step)
    return config


def pairs(text: str, known: Mapping[str, str]) -> dict[str, str]:
    """The `NAME=value` pairs of ENV and LABEL; of a value in quotes, too."""
    return {name: filled_in(value, known) for name, _, value in (word.partition("=") for word in shlex.split(text))}


def filled_in(text: str, known: Mapping[str, str]) -> str:
    """A text with its variables; one that is not known is empty, as for an engine."""
    return _VARIABLE.sub(lambda match: known.get(match[1] or match[2], ""), text)


def sources_of(value: str) -> tuple[str | None, list[str], str]:
    """Of a COPY: the stage that it copies from, if any, what it copies, and where to."""
    words = shlex.split(value)
    stage = words.pop(0).removeprefix("--from=") if words[0].startswith("--from=") else None
    if any(word.startswith("--") for word in words):
        raise ValueError(f"COPY {value}: an option that is not known here")
    return stage, words[:-1], words[-1]
