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
_PLAIN: Final = ("errors", "unreachable", "held")
_COUNTED: Final = ("create", "update", "delete", "refuse", "leave", "scaleDown")
_SHARED: Final = ("update", "delete", "leave")
_WORDS: Final = (*_PLAIN, *_COUNTED, "none")
_CONDITION: Final = re.compile(r"(?P<word>[^<>=%\s]*)\s*(?:(?P<sign>[<>=]+)\s*(?P<limit>[^%]*?)\s*(?P<percent>%?))?")
_LIMIT: Final = re.compile(r"[0-9]{1,9}")
_VERBS: Final = {
    "create": CliText.WOULD_CREATED(),
    "update": CliText.WOULD_UPDATED(),
    "delete": CliText.WOULD_DELETED(),
    "refuse": CliText.WOULD_REFUSED(),
}


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
    """The conditions that a comma list names; ValueError with one sentence for a spelling that says nothing known."""
    conditions = tuple(_condition(part.strip()) for part in text.split(","))
    if any(condition.word == "none" for condition in conditions):
        if len(conditions) > 1:
            raise ValueError(CliText.NONE_STANDS_ALONE())
        return ()
    return conditions


def _condition(text: str) -> Condition:
    match = _CONDITION.fullmatch(text)
    word = match["word"] if match else text
    if match is None or word not in _WORDS:
        raise ValueError(_unknown(word or text))
    if match["sign"] is None:
        return Condition(word)
    if word not in _COUNTED:
        raise ValueError(CliText.TAKES_NO_NUMBER(word=word))
    if match["sign"] != ">":
        raise ValueError(CliText.ONLY_KNOWN(text=text, word=word, found=match["limit"] or 10, found_2=match["percent"]))
    if not _LIMIT.fullmatch(match["limit"]):
        raise ValueError(CliText.BEHIND_STANDS_WHOLE_NUMBER(text=text, word=word))
    limit, percent = int(match["limit"]), bool(match["percent"])
    if percent and word not in _SHARED:
        raise ValueError(CliText.TAKES_NUMBER_SHARE_ALONE(text=text, word=word, shared=" and ".join(_SHARED)))
    if percent and limit > 100:
        raise ValueError(CliText.NEVER_MET_NO_SHARE_MORE(text=text))
    return Condition(word, limit, percent)


def _unknown(word: str) -> str:
    if not word:
        return CliText.EMPTY_CONDITION_BETWEEN_COMMAS()
    meant = did_you_mean(word, _WORDS, f"there are {', '.join(_WORDS)}")
    return CliText.NO_CONDITION(word=word, meant=meant)


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
    share = f" of {placed} placed ({percent:g}%)" if word in _SHARED and percent is not None else ""
    return number, placed, f"{counted(number, 'object')}{share} {_VERBS[word]}"
