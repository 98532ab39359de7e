"""The variables of a metric template's query.

A variable stands in double braces, with or without spaces: `{{ namespace }}` as Flagger has it, `{{.namespace}}` as Go
has it, `{{ args.limit }}` as Argo Rollouts has it.
"""

from __future__ import annotations

import re
from typing import Final

from gitfleet.formats.texts import FormatsText

VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,62}")
"""The name of one."""
IN_BRACES: Final = re.compile(rf"\{{\{{\s*(?:\.|args\.)?({VARIABLE.pattern})\s*\}}\}}", re.ASCII)
"""One as it stands in a query; its group is the name."""
ESCAPED: Final = FormatsText.BACKSLASH_BEFORE_WOULD_CHANGE_STANDS()
_ESCAPED: Final = re.compile(r"(?<!\\)(?:\\\\)*\\\{\{")


def query_fault(query: str) -> str | None:
    """What is wrong with the braces of a query, in a sentence; None for nothing."""
    if is_escaped(query):
        return ESCAPED
    at = query.find("{{")
    while at >= 0:
        match = IN_BRACES.match(query, at)
        if match is None:
            return FormatsText.WITHOUT_NAME_VARIABLE()
        at = query.find("{{", match.end())
    return None


def is_escaped(query: str) -> bool:
    """Whether a backslash takes the first brace, or the first sign of a value, for itself."""
    return _ESCAPED.search(query) is not None


def variables_of(query: str) -> tuple[str, ...]:
    """The names of its variables, each once, in their order."""
    return tuple(dict.fromkeys(IN_BRACES.findall(query)))
