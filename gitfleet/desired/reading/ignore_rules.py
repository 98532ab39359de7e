"""The rules of `.gitfleetignore`, in gitignore's syntax: which files of a commit gitfleet does not read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from gitfleet.desired.texts import DesiredText
from gitfleet.formats.yaml_reader import LineFault

_LONGEST_PATTERN: Final = 500
_MOST_RULES: Final = 1000
"""Each costs time for every path of the commit."""
_ANY_START: Final = "^(?:.+/)?"
_ANY_FOLDERS: Final = "(?:/.+)?"
_ANY_TEXT: Final = "[^/]*"
"""How pathspec writes `**/` at the beginning, `/**` in between, and `*`."""
_KNOWN_SPELLING: Final = re.compile(
    rf"\.|(?:\^(?:{re.escape(_ANY_START[1:])})?)?"
    rf"(?:{re.escape(_ANY_FOLDERS)}|{re.escape(_ANY_TEXT)}|\[\^/\]\+|\[\^?\]?[^\]]*\]|\\.|[^\\.^$*+?{{}}\[\]|()])*+"
    r"(?:\(\?P<ps_d>/\)|\(\?:\(\?P<ps_d>/\)\|\$\))?",
    re.DOTALL,
)
"""All that pathspec makes of patterns, as of 1.1: with another repetition than these, matching could take for ever."""

_BRACKET: Final = re.compile(r"\\.|\[\^/\]|(\[\^?\]?[^\]]*\])", re.DOTALL)
"""A bracket of a pattern, beside what is escaped and pathspec's own `[^/]`."""


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules of an ignore file, each with its line, and a fault for each line that is none.

    The repo is not trusted: matching takes time that grows as the path does, whatever the rules are.
    """

    rules: Sequence[tuple[int, GitIgnoreSpecPattern]] = ()
    faults: Sequence[LineFault] = ()
    _all: GitIgnoreSpec = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_all", GitIgnoreSpec([rule for _, rule in self.rules], backend="simple"))

    def __bool__(self) -> bool:
        return bool(self.rules)

    def hide(self, path: str) -> bool:
        """Whether a path is ignored."""
        return bool(self.rules) and self._all.match_file(path)


def read_ignore(content: bytes) -> IgnoreRules:
    """The rules of an ignore file with this content."""
    rules: list[tuple[int, GitIgnoreSpecPattern]] = []
    faults: list[LineFault] = []
    for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        if len(rules) >= _MOST_RULES:
            faults.append((number, DesiredText.MORE_RULES_NOT_READ(most_rules=_MOST_RULES)))
            break
        try:
            rules += ((number, pattern) for pattern in _patterns(line))
        except (ValueError, re.error):
            faults.append((number, DesiredText.NOT_GITIGNORE_PATTERN(longest=_LONGEST_PATTERN)))
    return IgnoreRules(tuple(rules), tuple(faults))


def _patterns(line: str) -> list[GitIgnoreSpecPattern]:
    """What a line matches, and whether that is ignored; ValueError for one that is no pattern of UTF-8 text."""
    made = GitIgnoreSpec.from_lines([line], backend="simple").patterns
    patterns = [(pattern.regex.pattern, pattern.include) for pattern in made if pattern.regex is not None]
    is_known = all(_KNOWN_SPELLING.fullmatch(regex) for regex, _ in patterns)
    if "\ufffd" in line or len(line) > _LONGEST_PATTERN or not is_known:
        raise ValueError(line)
    return [GitIgnoreSpecPattern(re.compile(_within_names(_without_retries(regex))), kind) for regex, kind in patterns]


def _without_retries(regex: str) -> str:
    """The regular expression of a gitignore pattern, so that matching it tries no place twice: of what a wildcard is
    followed by, the first occurrence leaves most to the wildcards after it. The last `**` may take as much as it can,
    as pathspec looks at where it ends."""
    *parts, last = map(_segments_without_retries, regex.split(_ANY_FOLDERS))
    if not parts:
        return last
    first, *inner = parts
    if first.startswith(_ANY_START):
        first = f"^(?>(?:.+?/)??{first.removeprefix(_ANY_START)}(?=/))"
    return "".join((first, *(f"(?>(?:/.+?)??{part}(?=/))" for part in inner), _ANY_FOLDERS, last))


def _within_names(regex: str) -> str:
    """The regular expression with brackets that match no slash, whatever they exclude or have in a range: git's rule
    (wildmatch with WM_PATHNAME), which pathspec leaves out."""
    return _BRACKET.sub(lambda match: f"(?!/){match[1]}" if match[1] else match[0], regex)


def _segments_without_retries(regex: str) -> str:
    head, *parts = regex.split(_ANY_TEXT)
    last = len(parts) - 1
    for index, part in enumerate(parts):
        ends_here = index == last or "/" in part.replace("[^/]", "")
        head += f"{_ANY_TEXT}{part}" if ends_here else f"(?>{_ANY_TEXT}?{part})"
    return head
