"""`plan --fail-on`: conditions under which a plan exits with 1, as people write them.

    CONDITION[,CONDITION...]    errors | unreachable | held | ACTION | ACTION>NUMBER | ACTION>NUMBER% | none
    ACTION                      create, update, delete, refuse, leave (clusters leave the fleet),
                                scaleDown (workloads on clusters get fewer pods than their manifests say)

A percentage is of the objects that are placed, for `leave` of the clusters, and counts every step of the rollout.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from gitfleet.cli.texts import CliText
from gitfleet.formats.near_names import did_you_mean
from gitfleet.formats.sentences import agreeing, counted

DEFAULT: Final = "errors"
_FORMS: Final = {
    "errors": "",
    "unreachable": "",
    "held": "",
    "create": ">",
    "refuse": ">",
    "scaleDown": ">",
    "update": ">%",
    "delete": ">%",
    "leave": ">%",
}
"""Whether a number may stand behind a word, and a share."""
_CONDITION: Final = re.compile(r"(\w*)(?:\s*(>)\s*([0-9]{1,9})\s*(%?))?")


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition: met when what `word` counts is more than `limit`, an absolute number or per cent."""

    word: str
    limit: int = 0
    percent: bool = False

    def __str__(self) -> str:
        """As it is written."""
        return f"{self.word}>{self.limit}{'%' if self.percent else ''}" if self.limit or self.percent else self.word

    def met(self, document: Mapping[str, Any]) -> str:
        """What meets it in a Plan document, "" when nothing does."""
        number, whole, sentence = _counted(self.word, document)
        exceeded = number * 100 > whole * self.limit if self.percent else number > self.limit
        return sentence if number and exceeded else ""


def read_conditions(text: str) -> tuple[Condition, ...]:
    """The conditions that a comma list names; ValueError with one sentence for what is none."""
    if text.strip() == "none":
        return ()
    return tuple(_condition(part.strip()) for part in text.split(","))


def _condition(text: str) -> Condition:
    match = _CONDITION.fullmatch(text)
    word, sign, limit, percent = match.groups("") if match else ("", "", "", "")
    if word in _FORMS and _FORMS[word].startswith(sign + percent):
        return Condition(word, int(limit or 0), bool(percent))
    meant = did_you_mean(word, _FORMS.keys() - {word}, CliText.CONDITIONS_ARE())
    raise ValueError(CliText.NO_CONDITION(text=text, meant=meant))


def _counted(word: str, document: Mapping[str, Any]) -> tuple[int, int, str]:
    """How many of what a word names, of how many, and a sentence that says so."""
    risk = document["risk"]
    if word == "errors":
        number = sum(fault["severity"] == "error" for fault in document["faults"])
        blocked = len({row["placement"] for row in document["blocked"]})
        parts = [CliText.COMMIT_HAS(count=counted(number, "error"))] if number else []
        parts += [CliText.CANNOT_ROLLED_OUT(count=counted(blocked, "placement"))] if blocked else []
        refused = sum(run["state"] == "refused" for run in document["runs"])
        parts += [CliText.WOULD_BE_REFUSED(count=counted(refused, "run"))] if refused else []
        return number + blocked + refused, 0, " and ".join(parts)
    if word == "unreachable":
        number = len(document["unreachable"])
        return number, 0, CliText.NOT_ANSWER(count=counted(number, "cluster"), verb=agreeing(number, "does", "do"))
    if word == "held":
        number = len(document["holds"])
        return number, 0, f"{counted(number, 'removal')} {agreeing(number, 'is', 'are')} held"
    if word == "leave":
        number, whole = len(risk["leaving"]), risk["clusters"]
        return number, whole, CliText.WOULD_LEAVE_FLEET(number=number, count=counted(whole, "cluster"))
    if word == "scaleDown":
        number = sum(len(row["clusters"]) for row in risk["scaledDown"])
        return number, 0, f"{counted(number, 'workload')} {CliText.WOULD_SCALED_DOWN()}"
    number, placed = risk[word]["objects"], risk["placed"]
    percent = risk[word]["percent"]
    share = f" of {placed} placed ({percent:g}%)" if "%" in _FORMS[word] and percent is not None else ""
    return number, placed, f"{counted(number, 'object')}{share} would be {word}d"
